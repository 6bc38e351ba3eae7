-- Mandates: a member permits a payment application to charge points later, within limits. A charge is an order of the HMAC API
-- that was paid under a mandate.

-- The right to hold mandates, apart from the approval of the application. Test applications need no right.
alter table payment_apps add column mandate_right text not null default 'none';
-- What the application wants mandates for, in the words of its owner.
alter table payment_apps add column mandate_right_purpose text;
-- The member who decided last, null for the operator, with the reason and the moment.
alter table payment_apps add column mandate_right_by bigint references users;
alter table payment_apps add column mandate_right_reason text;
alter table payment_apps add column mandate_right_at timestamptz;
-- Points of all charges in one day (Asia/Shanghai).
alter table payment_apps add column mandate_daily_max bigint;
-- The sign-in application whose tokens may come with charges. Both must have the same owner when it is used.
alter table payment_apps add column oauth_client_id text;
alter table payment_apps add constraint payment_apps_mandate_right
  check (mandate_right in ('none', 'asked', 'granted', 'refused', 'withdrawn'));
alter table payment_apps add constraint payment_apps_mandate_right_live check (mandate_right = 'none' or book = 'live');
alter table payment_apps add constraint payment_apps_mandate_right_facts check (
  num_nonnulls(mandate_right_purpose, mandate_right_at) = case when mandate_right = 'none' then 0 else 2 end
  and (mandate_right <> 'none' or num_nonnulls(mandate_right_by, mandate_right_reason, mandate_daily_max) = 0)
);
alter table payment_apps add constraint payment_apps_mandate_right_purpose
  check (char_length(mandate_right_purpose) between 10 and 500);
alter table payment_apps add constraint payment_apps_mandate_right_reason
  check (char_length(mandate_right_reason) between 1 and 500);
alter table payment_apps add constraint payment_apps_mandate_daily_max
  check (mandate_daily_max between 1 and 9007199254740991);
alter table payment_apps add constraint payment_apps_mandate_daily_max_granted
  check (mandate_right <> 'granted' or mandate_daily_max is not null);
create index payment_apps_mandate_right_asked on payment_apps (id) where mandate_right = 'asked';

alter table payment_app_days drop constraint payment_app_days_act;
alter table payment_app_days add constraint payment_app_days_act check (act in ('payments', 'transfers', 'charges'));

create table mandates (
  id bigint generated always as identity primary key,
  mandate_id text not null,
  app_id bigint not null,
  book text not null,
  -- The merchant's own name for the mandate.
  reference text not null,
  -- `fixed`: exactly one amount, once a period. `up_to`: any amounts within both caps.
  kind text not null,
  purpose text not null,
  period text not null,
  -- What the merchant offered. It never changes. A missing first day is the day of acceptance; a missing last day is a year
  -- after the first.
  asked_charge_max bigint not null,
  asked_period_max bigint not null,
  asked_starts_on date,
  asked_ends_on date,
  only_user_id bigint references users,
  -- Whether each charge also needs an access token of the member.
  with_token boolean not null,
  -- The mandate that ends when this one is accepted.
  replaces bigint references mandates,
  -- What the member permits: as offered or less. Points, and days of Asia/Shanghai.
  charge_max bigint not null,
  period_max bigint not null,
  starts_on date,
  ends_on date,
  -- The day on which the member last agreed to terms.
  agreed_on date,
  user_id bigint references users,
  -- The owner of the application whom the member agreed to.
  payee_id bigint references users,
  -- The sign-in application on whose consent page it was accepted.
  oauth_app_id bigint references oauth_apps on delete set null,
  status text not null default 'offered',
  ended_reason text,
  accepted_at timestamptz,
  ended_at timestamptz,
  offer_expires_at timestamptz not null,
  -- Whether the member hears of each charge, or once a day; and the day of the last digest.
  notice text not null,
  notice_on date,
  -- In the test book: days by which the mandate is ahead of the calendar.
  test_days integer not null default 0,
  -- Counts the changes. A form that was made before a change is out of date.
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint mandates_mandate_id_key unique (mandate_id),
  -- The id opens the page of the mandate, so it cannot be guessed.
  constraint mandates_mandate_id_shape check (mandate_id ~ '^mdt_[a-z0-9]{24}$'),
  -- The idempotency rule of offers. An application has one book.
  constraint mandates_reference_key unique (app_id, reference),
  -- For the charges, which name the application, the book and the member too.
  constraint mandates_charged_key unique (id, app_id, book, user_id),
  constraint mandates_app foreign key (app_id, book) references payment_apps (id, book),
  constraint mandates_reference_length check (char_length(reference) between 1 and 128),
  constraint mandates_purpose_length check (char_length(purpose) between 1 and 255),
  constraint mandates_kind check (kind in ('fixed', 'up_to')),
  constraint mandates_period check (period in ('day', 'week', 'month')),
  constraint mandates_notice check (notice in ('each', 'daily')),
  constraint mandates_asked_caps check (
    asked_charge_max between 1 and asked_period_max and asked_period_max <= 9007199254740991
  ),
  constraint mandates_charge_max check (charge_max between 1 and asked_charge_max),
  constraint mandates_period_max check (period_max between charge_max and asked_period_max),
  constraint mandates_fixed check (
    kind <> 'fixed' or (asked_charge_max = asked_period_max and charge_max = asked_charge_max)
  ),
  constraint mandates_asked_days check (asked_ends_on between asked_starts_on and asked_starts_on + 366),
  -- A year is the longest that a member agrees to.
  constraint mandates_days check (ends_on between starts_on and greatest(starts_on, agreed_on) + 366),
  constraint mandates_only_user check (user_id = only_user_id),
  constraint mandates_status check (status in ('offered', 'active', 'paused', 'ended')),
  constraint mandates_consent check (
    num_nonnulls(user_id, payee_id, accepted_at, agreed_on, starts_on, ends_on) = case
      when status = 'offered' then 0
      when status = 'ended' and accepted_at is null then 0
      else 6
    end
  ),
  constraint mandates_oauth_app check (oauth_app_id is null or accepted_at is not null),
  constraint mandates_ended check (num_nonnulls(ended_reason, ended_at) = case when status = 'ended' then 2 else 0 end),
  constraint mandates_ended_reason check (
    case
      when ended_reason is null or ended_reason = 'merchant' then true
      when ended_reason = 'declined' then accepted_at is null
      else ended_reason in ('member', 'staff', 'replaced', 'finished', 'account_closed') and accepted_at is not null
    end
  ),
  constraint mandates_test_days check (test_days = 0 or (test_days > 0 and book = 'test')),
  constraint mandates_version check (version >= 1)
);
create index mandates_of_app on mandates (app_id, id);
create index mandates_of_user on mandates (user_id, id) where user_id is not null;
-- What all mandates of a member may take, and those whose last day is over.
create index mandates_in_force on mandates (user_id) where status in ('active', 'paused');
create index mandates_to_finish on mandates ((ends_on - test_days)) where status in ('active', 'paused');
create index mandates_replaces on mandates (replaces) where replaces is not null;
create index mandates_of_oauth_app on mandates (oauth_app_id) where oauth_app_id is not null;
-- Offers that were never accepted, by the moment from which they cannot be.
create index mandates_unaccepted on mandates ((coalesce(ended_at, offer_expires_at))) where accepted_at is null;

-- A charge carries its mandate, its period, the sum of the period including it, and the caps of that moment. So the last charge
-- of a period holds the sum, and no charge above a cap can be stored.
alter table orders
  add column mandate_id bigint,
  add column mandate_period date,
  add column mandate_spent bigint,
  add column mandate_charge_max bigint,
  add column mandate_period_max bigint,
  add constraint orders_charge_whole check (
    num_nonnulls(mandate_id, mandate_period, mandate_spent, mandate_charge_max, mandate_period_max) in (0, 5)
  ),
  add constraint orders_charge_paid check (mandate_id is null or (door = 'hmac' and paid_at is not null)),
  add constraint orders_charge_max check (amount <= mandate_charge_max),
  add constraint orders_charge_spent check (mandate_spent between amount and mandate_period_max),
  -- No charge is of another application, book or member than its mandate.
  add constraint orders_mandate foreign key (mandate_id, app_id, book, payer_id)
    references mandates (id, app_id, book, user_id);
create unique index orders_charges on orders (mandate_id, mandate_period, mandate_spent) where mandate_id is not null;

-- Charges that were refused, by period and outcome. The member hears of the first of each kind.
create table mandate_refusals (
  mandate_id bigint not null references mandates,
  period date not null,
  outcome text not null,
  times integer not null,
  last_amount bigint not null,
  last_order_id text not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint mandate_refusals_key primary key (mandate_id, period, outcome),
  constraint mandate_refusals_outcome check (outcome in ('charge_limit', 'period_limit', 'insufficient', 'inactive')),
  constraint mandate_refusals_times check (times >= 1)
);
create index mandate_refusals_time on mandate_refusals (last_at);

-- Charges of which the member has not been told yet. A row is deleted with its notice.
create table charge_notices (
  order_id bigint primary key references orders,
  due_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index charge_notices_due on charge_notices (due_at);

-- The outcome of a charge request. `bound` is the limit that refused it, or the needed points; `period_spent` and `period_left`
-- are the points of the period then; `retry_at` is when to ask again.
create type charge_result as (
  outcome text, mandate_status text, mandate_reason text, bound bigint, is_exact boolean, period_spent bigint,
  period_left bigint, resets_at timestamptz, retry_at timestamptz
);
