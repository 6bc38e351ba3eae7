-- What an administrator allows one payment application in a day: points paid to it, and points it transfers out.

alter table payment_apps
  -- Null is no limit. A day begins at midnight in Asia/Shanghai, as everywhere here.
  add column daily_payments_max bigint,
  add column daily_transfers_max bigint,
  add constraint payment_apps_daily_payments_max_range check (daily_payments_max between 0 and 9007199254740991),
  add constraint payment_apps_daily_transfers_max_range check (daily_transfers_max between 0 and 9007199254740991);

-- How much of a day's limit is used. Only of applications that have one, and only a cache of the sums below: a row
-- may be deleted at any time, and must be when a limit is set, because nobody counted while there was none.
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

create index orders_of_app_paid on orders (app_id, paid_at) where paid_at is not null;
create index transfers_of_app on transfers (app_id, paid_at);

-- Counts points towards an application's limit of the day. Answers null once they are counted, or the points used
-- so far when they do not fit; then nothing is counted. The caller has locked the applicant's wallet, which every
-- payment to the application and every transfer of it does, so the first count of a day misses none.
create function count_for_day(
  p_act text, p_app_id bigint, p_book text, p_amount bigint, p_max bigint, p_now timestamptz
) returns bigint language plpgsql as $$
declare
  v_day constant date := p_now at time zone 'Asia/Shanghai';
  v_from constant timestamptz := v_day::timestamp at time zone 'Asia/Shanghai';
  v_to constant timestamptz := (v_day + 1)::timestamp at time zone 'Asia/Shanghai';
  v_used bigint;
begin
  select points into v_used from payment_app_days
  where app_id = p_app_id and book = p_book and act = p_act and day = v_day;
  if not found then
    if p_act = 'payments' then
      select coalesce(sum(amount), 0) into v_used from orders
      where app_id = p_app_id and book = p_book and paid_at >= v_from and paid_at < v_to;
    else
      select coalesce(sum(amount), 0) into v_used from transfers
      where app_id = p_app_id and book = p_book and paid_at >= v_from and paid_at < v_to;
    end if;
    insert into payment_app_days (app_id, book, act, day, points)
    values (p_app_id, p_book, p_act, v_day, v_used);
  end if;
  if v_used + p_amount > p_max then return v_used; end if;
  update payment_app_days set points = points + p_amount
  where app_id = p_app_id and book = p_book and act = p_act and day = v_day;
  return null;
end
$$;

-- Pays one order. The rule of the whole act stands here: who may pay, when, what moves, what is recorded and
-- who is told. Returns an outcome, never raises for one:
--   paid · paid_before (by the same payer) · paid_by_other · expired · closed · unusable (the application is
--   not approved) · changed (another amount than the payer was shown) · insufficient · daily_limit (of the
--   application) · not_found
create or replace function pay_order(
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

  -- The last guard, because it counts what it lets through.
  if v_app.daily_payments_max is not null and count_for_day(
    'payments', v_app.id, v_order.book, v_order.amount, v_app.daily_payments_max, p_now
  ) is not null then return 'daily_limit'; end if;

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

-- Transfers once per (application, book, order_id). Outcomes, never raised:
--   completed · exists (the same request before: its result) · changed (same order_id, other recipient or amount)
--   · reversed · unusable (the application is not approved) · mismatch (id and username are not one member)
--   · to_self · below_minimum · above_maximum · daily_limit (the sender's or the application's)
--   · insufficient · too_large
-- Rates and bounds come by trust level 0 to 4; a null daily limit is none. The caller has locked the wallets.
create or replace function post_transfer(
  p_app_id bigint, p_order_id text, p_transaction_id text, p_to_user_id bigint, p_to_username text, p_amount bigint,
  p_now timestamptz, p_rates numeric[], p_minimums bigint[], p_maximums bigint[], p_daily_limits bigint[]
) returns transfer_result language plpgsql as $$
declare
  c_points_max constant bigint := 9007199254740991;
  v_result transfer_result;
  v_app payment_apps;
  v_sender users;
  v_recipient users;
  v_before transfers;
  v_level integer;
  v_sender_wallet ledger_accounts;
  v_recipient_wallet_id bigint;
  v_fee_account_id bigint;
  v_today bigint;
  v_journal_id bigint;
begin
  select * into strict v_app from payment_apps where id = p_app_id;
  select * into v_before from transfers where app_id = p_app_id and book = 'live' and order_id = p_order_id;
  if found then
    select case
        when v_before.to_user_id <> p_to_user_id or v_before.amount <> p_amount then 'changed'
        when v_before.status = 'reversed' then 'reversed'
        else 'exists'
      end, null, null, v_before.transaction_id, v_before.status, v_before.amount, v_before.fee,
      v_before.from_user_id, v_before.from_username, v_before.to_user_id, v_before.to_username, v_before.paid_at
    into v_result;
    return v_result;
  end if;

  if v_app.status <> 'approved' then v_result.outcome := 'unusable'; return v_result; end if;
  select * into strict v_sender from users where id = v_app.applicant_id;
  v_level := v_sender.trust_level + 1;
  select * into v_recipient from users where id = p_to_user_id and lower(username) = lower(p_to_username);
  if not found then v_result.outcome := 'mismatch'; return v_result; end if;
  if v_recipient.id = v_sender.id then v_result.outcome := 'to_self'; return v_result; end if;
  if p_amount < p_minimums[v_level] then
    v_result.outcome := 'below_minimum'; v_result.bound := p_minimums[v_level]; return v_result;
  end if;
  if p_amount > p_maximums[v_level] then
    v_result.outcome := 'above_maximum'; v_result.bound := p_maximums[v_level]; return v_result;
  end if;

  v_result.amount := p_amount;
  v_result.fee := transfer_fee(p_amount, p_rates[v_level]);
  if p_amount + v_result.fee > c_points_max then v_result.outcome := 'too_large'; return v_result; end if;
  if p_daily_limits[v_level] is not null then
    -- A day begins at midnight where the forum's people live, as in the gateway's daily figures.
    select coalesce(sum(amount), 0) into v_today from transfers
    where from_user_id = v_sender.id and book = 'live'
      and paid_at >= date_trunc('day', p_now at time zone 'Asia/Shanghai') at time zone 'Asia/Shanghai';
    if v_today + p_amount > p_daily_limits[v_level] then
      v_result.outcome := 'daily_limit'; v_result.bound := p_daily_limits[v_level]; v_result.have := v_today;
      return v_result;
    end if;
  end if;

  select * into v_sender_wallet from ledger_accounts
  where user_id = v_sender.id and book = 'live' and kind = 'wallet' for update;
  if coalesce(v_sender_wallet.balance, 0) < p_amount + v_result.fee then
    v_result.outcome := 'insufficient';
    v_result.bound := p_amount + v_result.fee;
    v_result.have := coalesce(v_sender_wallet.balance, 0);
    return v_result;
  end if;
  select id into strict v_recipient_wallet_id from ledger_accounts
  where user_id = v_recipient.id and book = 'live' and kind = 'wallet' for update;
  select id into strict v_fee_account_id from ledger_accounts where kind = 'fee' and book = 'live';

  -- The last guard, because it counts what it lets through.
  if v_app.daily_transfers_max is not null then
    v_today := count_for_day('transfers', v_app.id, 'live', p_amount, v_app.daily_transfers_max, p_now);
    if v_today is not null then
      v_result.outcome := 'daily_limit'; v_result.bound := v_app.daily_transfers_max; v_result.have := v_today;
      return v_result;
    end if;
  end if;

  v_journal_id := post_journal(
    'live', 'transfer', p_transaction_id, v_sender.id, null, p_now,
    array[v_sender_wallet.id, v_recipient_wallet_id, v_fee_account_id],
    array[-(p_amount + v_result.fee), p_amount, v_result.fee]
  );
  insert into transfers (
    app_id, order_id, transaction_id, amount, fee, from_user_id, from_username, to_user_id, to_username, paid_at, journal_id
  ) values (
    p_app_id, p_order_id, p_transaction_id, p_amount, v_result.fee,
    v_sender.id, v_sender.username, v_recipient.id, v_recipient.username, p_now, v_journal_id
  );
  v_result.outcome := 'completed';
  v_result.transaction_id := p_transaction_id;
  v_result.status := 'completed';
  v_result.from_user_id := v_sender.id;
  v_result.from_username := v_sender.username;
  v_result.to_user_id := v_recipient.id;
  v_result.to_username := v_recipient.username;
  v_result.paid_at := p_now;
  return v_result;
end
$$;
