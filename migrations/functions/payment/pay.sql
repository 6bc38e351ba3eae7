-- Paying orders.

-- floor(amount × rate): spec/points 2.1. The payee pays it.
create or replace function payment_fee(p_amount bigint, p_rate numeric) returns bigint
  language sql immutable parallel safe as $$ select floor(p_amount * p_rate)::bigint $$;

-- The status of an application, by its own state and its owner's.
create or replace function app_standing(p_status text, p_is_banned boolean, p_suspended_till timestamptz, p_now timestamptz)
  returns text language sql immutable parallel safe
return case
  when p_status = 'approved' and is_banned_or_suspended(p_is_banned, p_suspended_till, p_now) then 'suspended'
  else p_status
end;

-- The points of an application's acts of one kind in a day so far. The caller has locked the owner's wallet, which every payment
-- to the application, every charge and every transfer of it locks, so the first count of a day misses none. The day's row is
-- locked from the first read: an administrator who changes the limit deletes the row, and a count would otherwise be lost.
create or replace function points_of_day(p_act text, p_app_id bigint, p_book text, p_now timestamptz) returns bigint
  language plpgsql as $$
declare
  v_day constant date := p_now at time zone 'Asia/Shanghai';
  v_from constant timestamptz := v_day::timestamp at time zone 'Asia/Shanghai';
  v_to constant timestamptz := (v_day + 1)::timestamp at time zone 'Asia/Shanghai';
  v_used bigint;
begin
  select points into v_used from payment_app_days
  where app_id = p_app_id and book = p_book and act = p_act and day = v_day
  for update;
  if found then return v_used; end if;
  if p_act = 'transfers' then
    select coalesce(sum(amount), 0) into v_used from transfers
    where app_id = p_app_id and book = p_book and paid_at >= v_from and paid_at < v_to;
  else
    select coalesce(sum(amount), 0) into v_used from orders
    where app_id = p_app_id and book = p_book and paid_at >= v_from and paid_at < v_to
      and (p_act = 'payments' or mandate_id is not null);
  end if;
  insert into payment_app_days (app_id, book, act, day, points) values (p_app_id, p_book, p_act, v_day, v_used);
  return v_used;
end
$$;

-- Counts points towards an application's limit of the day. Answers null once they are counted, or the points used so far when
-- they do not fit; then nothing is counted.
create or replace function count_for_day(
  p_act text, p_app_id bigint, p_book text, p_amount bigint, p_max bigint, p_now timestamptz
) returns bigint language plpgsql as $$
declare
  v_used constant bigint := points_of_day(p_act, p_app_id, p_book, p_now);
begin
  if v_used + p_amount > p_max then return v_used; end if;
  update payment_app_days set points = points + p_amount
  where app_id = p_app_id and book = p_book and act = p_act and day = (p_now at time zone 'Asia/Shanghai')::date;
  return null;
end
$$;

-- Paid orders, with what leads their payers back to the shops: the addresses, the payer's name, and the keys that sign. A
-- refunded order has no signed way back, so it has no row. The token that signed an order's request signs its way back while it is
-- valid. Otherwise the previous token signs while it is valid and no request has used the new one, because until then the merchant
-- may not have installed the new one.
create or replace function ways_back(p_transaction_ids text[], p_now timestamptz) returns table (
  item integer, paid orders, callback_url text, app_homepage text, events_url text, buyer text,
  token bytea, merchant_key bytea, platform_private_key_id bigint
) language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
    select asked.item::integer, o.facts, app.callback_url, app.homepage, app.events_url, payer.username,
      t.value_encrypted, m.value_encrypted, p.id
    from unnest(p_transaction_ids) with ordinality as asked (transaction_id, item)
    cross join lateral (
      select orders as facts from orders where transaction_id = asked.transaction_id and status = 'paid' offset 0
    ) as o
    cross join lateral (
      select callback_url, homepage, events_url from payment_apps where id = (o.facts).app_id offset 0
    ) as app
    cross join lateral (select username from users where id = (o.facts).payer_id offset 0) as payer
    left join lateral (
      select value_encrypted from payment_app_keys
      where (o.facts).door = 'hmac' and app_id = (o.facts).app_id and kind = 'token'
        and (valid_to is null or valid_to > p_now)
      order by id = (o.facts).token_id desc nulls last, valid_to is null and last_used_at is null, id desc
      limit 1
    ) as t on true
    left join lateral (
      select value_encrypted from payment_app_keys
      where (o.facts).protocol = 'v1' and app_id = (o.facts).app_id and book = (o.facts).book and kind = 'merchant_key'
        and valid_to is null
      offset 0
    ) as m on true
    left join lateral (
      select id from payment_app_keys
      where (o.facts).protocol = 'v2' and app_id = (o.facts).app_id and book = (o.facts).book
        and kind = 'platform_private_key' and valid_to is null
      offset 0
    ) as p on true;
end
$$;

-- Waits for a row that another transaction has locked, and locks it as acts do: an order, a mandate or a wallet, as an act named
-- it that was busy. The caller holds no lock yet, and skips every other locked row afterwards. So it holds no lock while it waits,
-- and the order of locks stays one. Waits that no act expects, as for a new wallet of two batches, end by lock_timeout.
create or replace function await_row(p_row text) returns void language plpgsql as $$
declare
  v_id constant bigint := split_part(p_row, ' ', 2)::bigint;
begin
  case split_part(p_row, ' ', 1)
    when 'order' then perform from orders where id = v_id for update;
    when 'mandate' then perform from mandates where id = v_id for no key update;
    when 'wallet' then perform from ledger_accounts where id = v_id for update;
  end case;
end
$$;

-- Pays orders in one transaction, in the order given, and answers in that order. An order that its payer has paid, now or
-- before, comes with its way back. So the payer's request needs no other statement. Outcomes, never raised:
--   paid · paid_before (by the same payer) · paid_by_other · expired · closed · unusable (the application is not approved, or
--   its owner is banned or suspended) · changed (another amount than the payer saw) · insufficient
--   · daily_limit (of the application) · not_found · order_frozen · wallet_frozen (the payer's wallet is frozen, or the payer
--   is banned or suspended) · busy (another transaction has locked the order or a wallet, or the application has changed hands
--   meanwhile; `locked` names the row)
-- It locks the orders by id, then the wallets by id, so two batches never wait for each other in a circle. With p_skips it
-- waits for none of them: an item whose rows are locked is busy, nothing is done for it, and it delays no other. Only for
-- p_awaited it waits, first of all.
-- It judges each order by the balances after the orders before it in the batch, and writes at the end. Each statement that writes
-- checks the constraints of its table, so a statement for each order would cost more than the rows.
create or replace function pay_orders(
  p_transaction_ids text[], p_payer_ids bigint[], p_expected_amounts bigint[], p_nows timestamptz[],
  p_fee_rate numeric, p_skips boolean default false, p_awaited text default null
) returns table (
  item integer, outcome text, locked text, paid orders, callback_url text, app_homepage text, events_url text, buyer text,
  token bytea, merchant_key bytea, platform_private_key_id bigint
) language plpgsql as $$
#variable_conflict use_column
declare
  v_locked_ids bigint[];
  v_user_ids bigint[];
  v_books text[];
  -- The locked wallets, and their balances as the batch goes on.
  v_wallet_ids bigint[];
  v_balances bigint[];
  v_frozen boolean[];
  -- By item: its outcome, and the payer of its order after the item was judged.
  v_outcomes text[];
  v_outcome text;
  v_item integer;
  v_paid_by bigint[];
  -- By item: the locked row of a busy one, and the order if the payer has paid it.
  v_rows text[];
  v_led_back text[];
  v_payer_id bigint;
  -- Places in v_wallet_ids.
  v_from integer;
  v_to integer;
  v_fee bigint;
  asked record;
  -- The rows to write: one element for each paid order, and three lines for each.
  v_count integer := 0;
  v_order_ids bigint[];
  v_ids_with_event bigint[];
  v_paid_books text[];
  v_references text[];
  v_payer_ids bigint[];
  v_payee_ids bigint[];
  v_fees bigint[];
  v_paid_ats timestamptz[];
  v_places integer[];
  v_account_ids bigint[];
  v_amounts bigint[];
  v_journal_ids bigint[];
begin
  -- 1. Locks.
  if p_awaited is not null then perform await_row(p_awaited); end if;
  if p_skips then
    select array_agg(free.id) into v_locked_ids
    from (
      select id from orders where transaction_id = any (p_transaction_ids) order by id for update skip locked
    ) as free;
  else
    select array_agg(waited.id) into v_locked_ids
    from (
      select id from orders where transaction_id = any (p_transaction_ids) order by id for update
    ) as waited;
  end if;

  select array_agg(party.user_id), array_agg(party.book) into v_user_ids, v_books
  from (
    select distinct o.book, member.user_id
    from unnest(p_transaction_ids, p_payer_ids) as i (transaction_id, payer_id)
    cross join lateral (
      select book, app_id from orders where transaction_id = i.transaction_id and id = any (v_locked_ids) offset 0
    ) as o
    cross join lateral (select applicant_id from payment_apps where id = o.app_id offset 0) as app
    cross join lateral (values (i.payer_id), (app.applicant_id)) as member (user_id)
  ) as party;
  select ids, balances, frozen into v_wallet_ids, v_balances, v_frozen from lock_wallets(v_user_ids, v_books, p_skips);

  -- 2. Each item's order, read under the locks: a payment that waited sees a ban or suspension since.
  for asked in
    select i.place::integer, i.transaction_id, i.payer_id, i.expected_amount, i.now,
      lag(i.place) over (partition by i.transaction_id order by i.place) as same_before,
      o.id as order_id, o.book, o.status, o.amount, o.expires_at, o.payer_id as paid_by, o.app_id,
      o.frozen_at is not null as is_frozen, coalesce(o.id = any (v_locked_ids), false) as is_locked,
      o.door = 'hmac' and app.events_url is not null as has_event,
      app_standing(app.status, payee.is_banned, payee.suspended_till, i.now) as app_status,
      app.fee_rate, app.daily_payments_max, app.applicant_id as payee_id,
      is_banned_or_suspended(payer.is_banned, payer.suspended_till, i.now) as payer_is_banned_or_suspended,
      payer_wallet.id as payer_wallet_id, payee_wallet.id as payee_wallet_id, fees.id as fee_account_id
    from unnest(p_transaction_ids, p_payer_ids, p_expected_amounts, p_nows) with ordinality
      as i (transaction_id, payer_id, expected_amount, now, place)
    left join lateral (
      select id, book, door, status, amount, expires_at, payer_id, app_id, frozen_at from orders
      where transaction_id = i.transaction_id
      offset 0
    ) as o on true
    left join lateral (
      select status, fee_rate, daily_payments_max, applicant_id, events_url from payment_apps where id = o.app_id offset 0
    ) as app on true
    left join lateral (
      select is_banned, suspended_till from users where id = app.applicant_id offset 0
    ) as payee on true
    left join lateral (
      select is_banned, suspended_till from users where id = i.payer_id offset 0
    ) as payer on true
    left join lateral (
      select id from ledger_accounts where user_id = i.payer_id and book = o.book and kind = 'wallet' offset 0
    ) as payer_wallet on true
    left join lateral (
      select id from ledger_accounts where user_id = app.applicant_id and book = o.book and kind = 'wallet' offset 0
    ) as payee_wallet on true
    left join lateral (
      select id from ledger_accounts where kind = 'fee' and book = o.book offset 0
    ) as fees on true
    order by i.place
  loop
    -- 3. The guards, in their order.
    v_item := asked.place;
    v_payer_id := coalesce(v_paid_by[asked.same_before], asked.paid_by);
    v_paid_by[v_item] := v_payer_id;
    v_from := array_position(v_wallet_ids, asked.payer_wallet_id);
    v_to := array_position(v_wallet_ids, asked.payee_wallet_id);
    v_outcome := case
      when asked.order_id is null then 'not_found'
      when not asked.is_locked then 'busy'
      when v_payer_id = asked.payer_id then 'paid_before'
      when v_payer_id is not null then 'paid_by_other'
      when asked.status = 'closed' then 'closed'
      -- The clock decides, before or after the sweep.
      when asked.expires_at <= asked.now then 'expired'
      when asked.is_frozen then 'order_frozen'
      when asked.app_status <> 'approved' then 'unusable'
      when asked.amount <> asked.expected_amount then 'changed'
      when v_from is null or v_to is null then 'busy'
      when v_frozen[v_from] or asked.payer_is_banned_or_suspended then 'wallet_frozen'
      when coalesce(v_balances[v_from], 0) < asked.amount then 'insufficient'
      -- The last guard, because it counts the payments that pass.
      when asked.daily_payments_max is not null and count_for_day(
        'payments', asked.app_id, asked.book, asked.amount, asked.daily_payments_max, asked.now
      ) is not null then 'daily_limit'
      else 'paid'
    end;

    -- 4. The points that move: the payer pays the amount. The payee gets it without the fee.
    if v_outcome = 'paid' then
      v_fee := payment_fee(asked.amount, coalesce(asked.fee_rate, p_fee_rate));
      v_balances[v_from] := v_balances[v_from] - asked.amount;
      v_balances[v_to] := v_balances[v_to] + asked.amount - v_fee;
      v_paid_by[v_item] := asked.payer_id;
      v_count := v_count + 1;
      v_order_ids[v_count] := asked.order_id;
      if asked.has_event then v_ids_with_event := v_ids_with_event || asked.order_id; end if;
      v_paid_books[v_count] := asked.book;
      v_references[v_count] := asked.transaction_id;
      v_payer_ids[v_count] := asked.payer_id;
      v_payee_ids[v_count] := asked.payee_id;
      v_fees[v_count] := v_fee;
      v_paid_ats[v_count] := asked.now;
      v_places := v_places || array[v_count, v_count, v_count];
      v_account_ids := v_account_ids || array[asked.payer_wallet_id, asked.payee_wallet_id, asked.fee_account_id];
      v_amounts := v_amounts || array[-asked.amount, asked.amount - v_fee, v_fee];
    end if;
    v_outcomes[v_item] := v_outcome;
    v_rows[v_item] := case
      when v_outcome <> 'busy' then null
      when not asked.is_locked then 'order ' || asked.order_id
      -- Nobody waits for 0: a new owner of the application has no wallet yet, and the next run opens it.
      when v_from is null then 'wallet ' || coalesce(asked.payer_wallet_id, 0)
      else 'wallet ' || coalesce(asked.payee_wallet_id, 0)
    end;
    v_led_back[v_item] := case when v_outcome in ('paid', 'paid_before') then asked.transaction_id end;
  end loop;

  -- 5. The records: the journals, the orders, the notifications of the gateway, the events of the HMAC API.
  if v_count > 0 then
    v_journal_ids := post_journals(
      'payment', v_paid_books, v_references, v_payer_ids, null, v_paid_ats, v_places, v_account_ids, v_amounts
    );
    update orders as o
    set status = 'paid', payer_id = paid.payer_id, payee_id = paid.payee_id, fee = paid.fee,
        merchant_points = o.amount - paid.fee, paid_at = paid.at, journal_id = paid.journal_id, updated_at = paid.at
    from unnest(v_order_ids, v_payer_ids, v_payee_ids, v_fees, v_paid_ats, v_journal_ids)
      as paid (id, payer_id, payee_id, fee, at, journal_id)
    where o.id = paid.id;
    -- The trigger notification_route of events.sql fills in the application and the host.
    insert into notifications (order_id, next_attempt_at)
    select paid.id, paid.at
    from unnest(v_order_ids, v_paid_ats) as paid (id, at)
    cross join lateral (select notify_url from orders where id = paid.id offset 0) as o
    where o.notify_url is not null;
    if v_ids_with_event is not null then perform write_order_events('order.paid', v_ids_with_event); end if;
  end if;

  -- 6. The answers. A statement after the writes sees them.
  return query
    select told.item::integer, told.outcome, told.locked, way.paid, way.callback_url, way.app_homepage, way.events_url, way.buyer,
      way.token, way.merchant_key, way.platform_private_key_id
    from unnest(v_outcomes, v_rows) with ordinality as told (outcome, locked, item)
    left join ways_back(v_led_back, p_nows[1]) as way on way.item = told.item
    order by told.item;
end
$$;
