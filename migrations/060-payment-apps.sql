-- Payment applications: their keys, their limits, and the members who run them.

create sequence payment_apps_pid start with 1001;
-- The numbers of test applications are far from those of live ones, and still fit a 32-bit integer.
create sequence payment_apps_test_pid start with 900000001;

create table payment_apps (
  id bigint generated always as identity primary key,
  -- The live book, or the test book with its play points. The keys of orders, transfers and keys include the book, so none of
  -- one book belongs to an application of the other.
  book text not null default 'live',
  payment_id text not null,
  -- The merchant id of the gateway protocols: a number, small enough for clients that read a 32-bit integer.
  pid bigint not null default nextval('payment_apps_pid'),
  -- The owner. Their wallet receives the application's payments and pays its transfers.
  applicant_id bigint not null references users,
  -- Of a test application: its live application. Null when there is none.
  live_app_id bigint references payment_apps,
  name text not null,
  description text not null default '',
  homepage text,
  -- The https address of a square picture.
  logo_url text,
  callback_url text not null,
  -- Where events of the HMAC API are sent. Null, the default: no event is written.
  events_url text,
  -- When the address for events answered 410 Gone. By Standard Webhooks it then receives nothing more.
  events_gone_at timestamptz,
  status text not null default 'pending',
  review_reason text,
  reviewed_by bigint references users,
  reviewed_at timestamptz,
  -- The last change, since the review, of a field that the staff approves and buyers see. Null after each approval. Sales go on.
  unreviewed_change_at timestamptz,
  -- Addresses and networks that may call the API. Empty: any.
  allowed_addresses inet[] not null default '{}',
  -- A version of the gateway protocol works when its switch is on and the application has the version's key.
  v1_enabled boolean not null default true,
  v2_enabled boolean not null default true,
  -- Points for one unit of the merchant's currency.
  exchange_rate numeric(12, 6) not null default 100,
  -- Replaces the site setting points_payment_fee_rate.
  fee_rate numeric(7, 6),
  -- Limits of one day (Asia/Shanghai) that an administrator sets: points paid to the application, points it transfers. Null: none.
  daily_payments_max bigint,
  daily_transfers_max bigint,
  -- The owner gets an alert when the wallet that pays transfers falls below these points. Null: no alert. The time of the alert
  -- stays until the wallet has recovered, so one shortage causes one alert.
  low_balance_points bigint,
  low_balance_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint payment_apps_book check (book in ('live', 'test')),
  constraint payment_apps_book_key unique (id, book),
  constraint payment_apps_payment_id_key unique (payment_id),
  constraint payment_apps_payment_id_shape check (payment_id ~ '^pay_[a-z0-9]{20}$'),
  -- A Payment ID shows which book it belongs to.
  constraint payment_apps_test_mark check (book = 'live' or payment_id like 'pay\_test%'),
  constraint payment_apps_pid_key unique (pid),
  constraint payment_apps_live_app_id_key unique (live_app_id),
  constraint payment_apps_twin check (live_app_id is null or book = 'test'),
  constraint payment_apps_name_length check (char_length(name) between 1 and 60),
  constraint payment_apps_description_length check (char_length(description) <= 500),
  constraint payment_apps_events_gone check (events_gone_at is null or events_url is null),
  constraint payment_apps_status check (status in ('pending', 'approved', 'rejected', 'suspended')),
  -- Play points need no review.
  constraint payment_apps_reviewed check (
    status = 'pending' or book = 'test' or (reviewed_by is not null and reviewed_at is not null)
  ),
  constraint payment_apps_allowed_addresses_count check (cardinality(allowed_addresses) <= 50),
  constraint payment_apps_exchange_rate_positive check (exchange_rate > 0),
  constraint payment_apps_fee_rate_range check (fee_rate between 0 and 1),
  constraint payment_apps_daily_payments_max_range check (daily_payments_max between 0 and 9007199254740991),
  constraint payment_apps_daily_transfers_max_range check (daily_transfers_max between 0 and 9007199254740991),
  constraint payment_apps_low_balance_range check (low_balance_points between 1 and 9007199254740991)
);
alter sequence payment_apps_pid owned by payment_apps.pid;
create index payment_apps_applicant on payment_apps (applicant_id, id);
-- The two queues of reviewers: applications that wait, and live ones that changed since their review.
create index payment_apps_review on payment_apps (id) where status = 'pending';
create index payment_apps_review_again on payment_apps (id)
  where status = 'approved' and unreviewed_change_at is not null;
create index payment_apps_name_skeleton on payment_apps (name_skeleton(name));
create index payment_apps_low_balance on payment_apps (id) where low_balance_points is not null;

-- Keys are encrypted under APP_SECRET, because signing needs them in the clear. An application has one current key of each
-- kind. During a rotation the previous one stays until valid_to.
create table payment_app_keys (
  id bigint generated always as identity primary key,
  app_id bigint not null,
  book text not null default 'live',
  kind text not null,
  value_encrypted bytea not null,
  valid_from timestamptz not null default now(),
  valid_to timestamptz,
  last_used_at timestamptz,
  -- A former owner and their team know this key. The application sells with it, but it moves no points of the new owner and
  -- shows nothing of their wallet. The application transfers again after the key is replaced.
  is_former_owners boolean not null default false,
  -- Since the first hand-over of the key. The key lists earlier rows, and none since.
  former_since timestamptz,
  created_at timestamptz not null default now(),
  constraint payment_app_keys_app foreign key (app_id, book) references payment_apps (id, book),
  constraint payment_app_keys_book check (book in ('live', 'test')),
  constraint payment_app_keys_former check (is_former_owners = (former_since is not null)),
  constraint payment_app_keys_kind check (
    kind in ('token', 'merchant_key', 'platform_private_key', 'merchant_public_key', 'event_secret')
  )
);
create unique index payment_app_keys_current on payment_app_keys (app_id, book, kind) where valid_to is null;
create index payment_app_keys_of_app on payment_app_keys (app_id, kind, id);
create index payment_app_keys_ending on payment_app_keys (valid_to) where valid_to is not null;

-- The used part of a daily limit. Only applications with a limit have rows, and a row is only a cache of the day's sum. A row
-- may be deleted at any time, and must be when a limit is set, because no row counted before.
create table payment_app_days (
  app_id bigint not null references payment_apps,
  book text not null,
  act text not null,
  day date not null,
  points bigint not null,
  created_at timestamptz not null default now(),
  constraint payment_app_days_key primary key (app_id, book, act, day),
  constraint payment_app_days_act check (act in ('payments', 'transfers'))
);
create index payment_app_days_day on payment_app_days (day);

-- The team of an application, beside its owner.
create table payment_app_members (
  app_id bigint not null references payment_apps,
  user_id bigint not null references users,
  role text not null,
  invited_by bigint not null references users,
  invited_at timestamptz not null,
  -- Null until the invited member accepts. Until then the row gives no right.
  accepted_at timestamptz,
  created_at timestamptz not null default now(),
  constraint payment_app_members_key primary key (app_id, user_id),
  constraint payment_app_members_role check (role in ('manager', 'operator', 'viewer'))
);
create index payment_app_members_of_user on payment_app_members (user_id, app_id);

create view payment_app_roles as
  select id as app_id, applicant_id as user_id, 'owner' as role from payment_apps
  union all
  select app_id, user_id, role from payment_app_members where accepted_at is not null;

-- An owner's offer to hand the application over. An application has one offer at a time.
create table payment_app_offers (
  app_id bigint primary key references payment_apps,
  from_user_id bigint not null references users,
  to_user_id bigint not null references users,
  offered_at timestamptz not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint payment_app_offers_not_to_self check (from_user_id <> to_user_id)
);
create index payment_app_offers_to on payment_app_offers (to_user_id);
