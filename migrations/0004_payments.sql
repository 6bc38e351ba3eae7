-- Payment applications, orders of both doors, transfers, and what is told to merchants.

create table site_settings (
  name text primary key,
  value text not null,
  updated_by bigint references users,
  updated_at timestamptz not null default now(),
  created_at timestamptz not null default now()
);

create table site_settings_history (
  id bigint generated always as identity primary key,
  name text not null,
  value text not null,
  changed_by bigint references users,
  created_at timestamptz not null default now()
);
create trigger site_settings_history_append_only before update or delete or truncate on site_settings_history
  for each statement execute function refuse_change();

create sequence payment_apps_pid start with 1001;

create table payment_apps (
  id bigint generated always as identity primary key,
  payment_id text not null,
  -- The gateway protocols' numeric merchant id; small enough for clients that read a 32-bit integer.
  pid bigint not null default nextval('payment_apps_pid'),
  applicant_id bigint not null references users,
  name text not null,
  description text not null default '',
  callback_url text not null,
  status text not null default 'pending',
  review_reason text,
  reviewed_by bigint references users,
  reviewed_at timestamptz,
  -- Points per unit of the merchant's currency.
  exchange_rate numeric(12, 6) not null default 100,
  -- Overrides the site setting points_payment_fee_rate.
  fee_rate numeric(7, 6),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint payment_apps_payment_id_key unique (payment_id),
  constraint payment_apps_pid_key unique (pid),
  constraint payment_apps_payment_id_shape check (payment_id ~ '^pay_[a-z0-9]{20}$'),
  constraint payment_apps_status check (status in ('pending', 'approved', 'rejected', 'suspended')),
  constraint payment_apps_reviewed check (status = 'pending' or (reviewed_by is not null and reviewed_at is not null)),
  constraint payment_apps_name_length check (char_length(name) between 1 and 60),
  constraint payment_apps_description_length check (char_length(description) <= 500),
  constraint payment_apps_exchange_rate_positive check (exchange_rate > 0),
  constraint payment_apps_fee_rate_range check (fee_rate between 0 and 1)
);
alter sequence payment_apps_pid owned by payment_apps.pid;
create index payment_apps_applicant on payment_apps (applicant_id, id);
create index payment_apps_review on payment_apps (id) where status = 'pending';

-- Keys that must be read back to sign with are encrypted under APP_SECRET. One current key of a kind; during a
-- rotation the previous one stays until valid_to.
create table payment_app_keys (
  id bigint generated always as identity primary key,
  app_id bigint not null references payment_apps,
  book text not null default 'live',
  kind text not null,
  value_encrypted bytea not null,
  valid_from timestamptz not null default now(),
  valid_to timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default now(),
  constraint payment_app_keys_book check (book in ('live', 'test')),
  constraint payment_app_keys_kind check (kind in ('token', 'merchant_key', 'platform_private_key'))
);
create unique index payment_app_keys_current on payment_app_keys (app_id, book, kind) where valid_to is null;

create table orders (
  id bigint generated always as identity primary key,
  app_id bigint not null references payment_apps,
  book text not null default 'live',
  door text not null,
  -- The merchant's own number: order_id of the HMAC API, out_trade_no of the gateway.
  order_id text not null,
  transaction_id text not null,
  description text not null,
  amount bigint not null,
  status text not null default 'unpaid',
  expires_at timestamptz not null,
  -- Facts of a gateway order, exactly as the merchant sent them.
  trade_no text,
  protocol text,
  pid_sent text,
  money text,
  rate numeric(12, 6),
  type text,
  param text,
  notify_url text,
  return_url text,
  -- Facts of a payment.
  payer_id bigint references users,
  fee bigint,
  merchant_points bigint,
  paid_at timestamptz,
  journal_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The idempotency rule of both doors.
  constraint orders_order_id_key unique (app_id, book, door, order_id),
  constraint orders_transaction_id_key unique (transaction_id),
  constraint orders_trade_no_key unique (trade_no),
  constraint orders_journal_id_key unique (journal_id),
  constraint orders_journal foreign key (journal_id, book) references journal (id, book),
  constraint orders_transaction_id_shape check (transaction_id ~ '^txn_[a-z0-9]{24}$'),
  constraint orders_book check (book in ('live', 'test')),
  constraint orders_door check (door in ('hmac', 'gateway')),
  constraint orders_status check (status in ('unpaid', 'paid', 'expired', 'closed', 'refunded')),
  constraint orders_amount_range check (amount between 1 and 9007199254740991),
  constraint orders_order_id_length check (char_length(order_id) between 1 and 128),
  constraint orders_gateway_facts check (
    (door = 'gateway') = (trade_no is not null) and (door = 'gateway') = (money is not null)
    and (door = 'gateway') = (rate is not null) and (door = 'gateway') = (notify_url is not null)
    and (door = 'gateway') = (protocol is not null) and (door = 'gateway') = (pid_sent is not null)
  ),
  constraint orders_protocol check (protocol in ('v1', 'v2')),
  constraint orders_trade_no_shape check (trade_no ~ '^[0-9]{1,20}$'),
  constraint orders_paid_facts check (
    num_nonnulls(payer_id, fee, merchant_points, paid_at, journal_id)
      = case when status in ('paid', 'refunded') then 5 else 0 end
  ),
  constraint orders_fee_split check (fee >= 0 and merchant_points >= 0 and fee + merchant_points = amount)
);
create index orders_to_expire on orders (expires_at) where status = 'unpaid';
create index orders_of_payer on orders (payer_id, id) where payer_id is not null;
create index orders_of_app on orders (app_id, id);

create table transfers (
  id bigint generated always as identity primary key,
  app_id bigint not null references payment_apps,
  book text not null default 'live',
  order_id text not null,
  transaction_id text not null,
  status text not null default 'completed',
  amount bigint not null,
  fee bigint not null,
  from_user_id bigint not null references users,
  from_username text not null,
  to_user_id bigint not null references users,
  to_username text not null,
  paid_at timestamptz not null,
  journal_id bigint not null,
  reversal_journal_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint transfers_order_id_key unique (app_id, book, order_id),
  constraint transfers_transaction_id_key unique (transaction_id),
  constraint transfers_journal_id_key unique (journal_id),
  constraint transfers_journal foreign key (journal_id, book) references journal (id, book),
  constraint transfers_reversal foreign key (reversal_journal_id, book) references journal (id, book),
  constraint transfers_book check (book in ('live', 'test')),
  constraint transfers_status check (status in ('completed', 'reversed')),
  constraint transfers_reversed check ((status = 'reversed') = (reversal_journal_id is not null)),
  constraint transfers_amounts check (amount >= 1 and fee >= 0 and amount + fee <= 9007199254740991),
  constraint transfers_not_to_self check (from_user_id <> to_user_id)
);

create table notifications (
  id bigint generated always as identity primary key,
  order_id bigint not null references orders,
  status text not null default 'due',
  attempts smallint not null default 0,
  next_attempt_at timestamptz,
  claimed_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint notifications_order_id_key unique (order_id),
  constraint notifications_status check (status in ('due', 'delivered', 'failed')),
  constraint notifications_due check ((status = 'due') = (next_attempt_at is not null))
);
create index notifications_next on notifications (next_attempt_at) where status = 'due';

create table notification_attempts (
  id bigint generated always as identity primary key,
  notification_id bigint not null references notifications,
  url text not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  outcome text not null,
  response_status integer,
  response_body text,
  created_at timestamptz not null default now()
);
create index notification_attempts_of on notification_attempts (notification_id, id);

-- floor(amount × rate): decisions.md 6.1.
create function payment_fee(p_amount bigint, p_rate numeric) returns bigint
  language sql immutable parallel safe as $$ select floor(p_amount * p_rate)::bigint $$;

-- Pays one order. The rule of the whole act stands here: who may pay, when, what moves, what is recorded and
-- who is told. Returns an outcome, never raises for one:
--   paid · paid_before (by the same payer) · paid_by_other · expired · closed · unusable (the application is
--   not approved) · changed (another amount than the payer was shown) · insufficient · not_found
create function pay_order(
  p_transaction_id text, p_payer_id bigint, p_expected_amount bigint, p_now timestamptz, p_fee_rate numeric
) returns text language plpgsql as $$
declare
  v_order orders;
  v_app payment_apps;
  v_payer_wallet ledger_accounts;
  v_merchant_wallet_id bigint;
  v_fee_account_id bigint;
  v_fee bigint;
  v_journal_id bigint;
begin
  select * into v_order from orders where transaction_id = p_transaction_id for update;
  if not found then return 'not_found'; end if;
  if v_order.status in ('paid', 'refunded') then
    return case when v_order.payer_id = p_payer_id then 'paid_before' else 'paid_by_other' end;
  end if;
  if v_order.status = 'closed' then return 'closed'; end if;
  -- The clock decides, whether or not the sweep has been here.
  if v_order.expires_at <= p_now then return 'expired'; end if;

  select * into v_app from payment_apps where id = v_order.app_id;
  if v_app.status <> 'approved' then return 'unusable'; end if;
  if v_order.amount <> p_expected_amount then return 'changed'; end if;

  select * into v_payer_wallet from ledger_accounts
  where user_id = p_payer_id and book = v_order.book and kind = 'wallet' for update;
  if v_payer_wallet.balance is null or v_payer_wallet.balance < v_order.amount then return 'insufficient'; end if;
  select id into strict v_merchant_wallet_id from ledger_accounts
  where user_id = v_app.applicant_id and book = v_order.book and kind = 'wallet' for update;
  select id into strict v_fee_account_id from ledger_accounts where kind = 'fee' and book = v_order.book;

  v_fee := payment_fee(v_order.amount, coalesce(v_app.fee_rate, p_fee_rate));
  v_journal_id := post_journal(
    v_order.book, 'payment', v_order.transaction_id, p_payer_id, null, p_now,
    array[v_payer_wallet.id, v_merchant_wallet_id, v_fee_account_id],
    array[-v_order.amount, v_order.amount - v_fee, v_fee]
  );
  update orders
  set status = 'paid', payer_id = p_payer_id, fee = v_fee, merchant_points = amount - v_fee,
      paid_at = p_now, journal_id = v_journal_id, updated_at = p_now
  where id = v_order.id;
  if v_order.notify_url is not null then
    insert into notifications (order_id, next_attempt_at) values (v_order.id, p_now);
  end if;
  return 'paid';
end
$$;

-- Pays many orders in one transaction, item by item, in the order given; answers in that order too. All rows
-- that any item will touch are locked first, orders by id and then wallets by id, so that two batches at once
-- cannot wait for each other in a circle.
create function pay_orders(
  p_transaction_ids text[], p_payer_ids bigint[], p_expected_amounts bigint[], p_nows timestamptz[],
  p_fee_rate numeric
) returns table (item integer, outcome text) language plpgsql as $$
begin
  perform from orders where transaction_id = any (p_transaction_ids) order by id for update;

  insert into ledger_accounts (book, kind, user_id, balance)
  select distinct o.book, 'wallet', party.user_id, 0
  from unnest(p_transaction_ids, p_payer_ids) as item (transaction_id, payer_id)
  join orders as o on o.transaction_id = item.transaction_id
  join payment_apps as a on a.id = o.app_id
  cross join lateral (values (item.payer_id), (a.applicant_id)) as party (user_id)
  where not exists (
    select from ledger_accounts as l
    where l.user_id = party.user_id and l.book = o.book and l.kind = 'wallet'
  )
  order by party.user_id
  on conflict do nothing;

  perform from ledger_accounts as l
  where l.kind = 'wallet' and (l.user_id, l.book) in (
    select party.user_id, o.book
    from unnest(p_transaction_ids, p_payer_ids) as item (transaction_id, payer_id)
    join orders as o on o.transaction_id = item.transaction_id
    join payment_apps as a on a.id = o.app_id
    cross join lateral (values (item.payer_id), (a.applicant_id)) as party (user_id)
  )
  order by l.id for update;

  for i in 1 .. cardinality(p_transaction_ids) loop
    item := i;
    outcome := pay_order(p_transaction_ids[i], p_payer_ids[i], p_expected_amounts[i], p_nows[i], p_fee_rate);
    return next;
  end loop;
end
$$;
