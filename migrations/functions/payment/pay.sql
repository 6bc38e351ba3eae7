-- Paying orders.

-- floor(amount × rate): spec/points 2.1. The payee pays it.
create or replace function payment_fee(p_amount bigint, p_rate numeric) returns bigint
  language sql immutable parallel safe as $$ select floor(p_amount * p_rate)::bigint $$;

-- The status of an application, by its own state and its owner's.
create or replace function app_status(p_status text, p_is_banned boolean, p_suspended_till timestamptz, p_now timestamptz)
  returns text language sql immutable parallel safe
return case
  when p_status = 'approved' and is_banned_or_suspended(p_is_banned, p_suspended_till, p_now) then 'suspended'
  else p_status
end;

-- The first transfer of an application that was made at p_at or later, by binary search as in first_order_since.
create or replace function first_transfer_since(p_app_id bigint, p_at timestamptz) returns bigint language plpgsql stable as $$
declare
  c_end constant bigint := 9223372036854775807;
  v_low bigint;
  v_high bigint;
  v_middle bigint;
  v_found record;
begin
  select id into v_low from transfers
  where (app_id, id) > (p_app_id, 0) and (app_id, id) < (p_app_id, c_end) order by app_id, id limit 1;
  select id + 1 into v_high from transfers
  where (app_id, id) > (p_app_id, 0) and (app_id, id) < (p_app_id, c_end) order by app_id desc, id desc limit 1;
  -- Every transfer below v_low is older than p_at. No transfer from v_high on is.
  while v_low < v_high loop
    v_middle := v_low + (v_high - v_low) / 2;
    select id, paid_at into strict v_found from transfers
    where (app_id, id) >= (p_app_id, v_middle) and (app_id, id) < (p_app_id, c_end) order by app_id, id limit 1;
    if v_found.paid_at < p_at then v_low := v_found.id + 1; else v_high := v_middle; end if;
  end loop;
  return v_low;
end
$$;

-- The points that an application transferred in a time.
create or replace function transferred_between(p_app_id bigint, p_from timestamptz, p_to timestamptz) returns bigint
  language plpgsql stable as $$
declare
  c_end constant bigint := 9223372036854775807;
  -- Ids follow the times, except for the differences between the clocks of several processes.
  v_first constant bigint := first_transfer_since(p_app_id, p_from - interval '10 minutes');
begin
  return (
    select coalesce(sum(amount), 0)
    from (
      select amount, paid_at from transfers
      where (app_id, id) >= (p_app_id, v_first) and (app_id, id) < (p_app_id, c_end)
      order by app_id, id
    ) as t
    where paid_at >= p_from and paid_at < p_to
  );
end
$$;

-- The points of an application's acts of one kind in a day so far. Every payment to the application, every charge and every
-- transfer of it locks the owner's wallet, and so has the caller. So the first count of a day misses none. The day's row is locked
-- from the first read: an administrator who changes the limit deletes it, and count_for_day would then update no row.
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
    v_used := transferred_between(p_app_id, v_from, v_to);
  else
    select coalesce(sum(amount), 0) into v_used from orders
    where app_id = p_app_id and book = p_book and paid_at >= v_from and paid_at < v_to
      and (p_act = 'payments' or mandate_id is not null);
  end if;
  insert into payment_app_days (app_id, book, act, day, points) values (p_app_id, p_book, p_act, v_day, v_used);
  return v_used;
end
$$;

-- Counts points towards an application's limit of the day. Answers null when they fit and are counted. When they do not fit, it
-- counts nothing, and answers the points used so far.
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
-- refunded order has no signed return, so it has no row. The token that signed an order's request signs its return while it is
-- valid. Otherwise the previous token signs while it is valid and no request has used the new one, because until then the merchant
-- may not have installed the new one.
create or replace function shop_returns(p_transaction_ids text[], p_now timestamptz) returns table (item integer, shop_return shop_return)
  language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
    select asked.item::integer, row(
      o.id, o.app_id, o.door, o.order_id, o.transaction_id, o.description, o.amount, o.fee, o.merchant_points, o.payer_id,
      o.created_at, o.paid_at, o.forced, o.notify_url, o.return_url, o.protocol, o.pid_sent, o.trade_no, o.type, o.money, o.param,
      app.callback_url, app.homepage, app.events_url, payer.username, t.value_encrypted, m.value_encrypted, p.id
    )::shop_return
    from unnest(p_transaction_ids) with ordinality as asked (transaction_id, item)
    cross join lateral (
      select * from orders where transaction_id = asked.transaction_id and status = 'paid' offset 0
    ) as o
    cross join lateral (
      select callback_url, homepage, events_url from payment_apps where id = o.app_id offset 0
    ) as app
    cross join lateral (select username from users where id = o.payer_id offset 0) as payer
    left join lateral (
      select value_encrypted from payment_app_keys
      where o.door = 'hmac' and app_id = o.app_id and kind = 'token' and (valid_to is null or valid_to > p_now)
      order by id = o.token_id desc nulls last, valid_to is null and last_used_at is null, id desc
      limit 1
    ) as t on true
    left join lateral (
      select value_encrypted from payment_app_keys
      where o.protocol = 'v1' and app_id = o.app_id and book = o.book and kind = 'merchant_key' and valid_to is null
      offset 0
    ) as m on true
    left join lateral (
      select id from payment_app_keys
      where o.protocol = 'v2' and app_id = o.app_id and book = o.book and kind = 'platform_private_key' and valid_to is null
      offset 0
    ) as p on true;
end
$$;

-- Waits for a row that another transaction has locked, and locks it as acts do. An act that found the row locked named it: an order,
-- a mandate or a wallet. The caller holds no lock yet, so it holds none while it waits here. Afterwards it skips every other locked
-- row. It may still wait for a wallet that another batch opens; lock_timeout ends such a wait.
create or replace function await_row(p_row text) returns void language plpgsql as $$
declare
  v_id constant bigint := split_part(p_row, ' ', 2)::bigint;
begin
  case split_part(p_row, ' ', 1)
    when 'order' then perform from orders where id = v_id for no key update;
    when 'mandate' then perform from mandates where id = v_id for no key update;
    when 'wallet' then perform from ledger_accounts where id = v_id for update;
  end case;
end
$$;

-- 1. What is locked first: the orders, by id. The lock lets others add rows that refer to an order, such as a buyer's view of it,
-- and such rows do not delay a payment.
create or replace function lock_orders(p_asked asked_payment[], p_skips boolean) returns bigint[] language plpgsql as $$
begin
  if p_skips then
    return array(
      select id from orders where transaction_id = any (array(select transaction_id from unnest(p_asked)))
      order by id for no key update skip locked
    );
  end if;
  return array(
    select id from orders where transaction_id = any (array(select transaction_id from unnest(p_asked)))
    order by id for no key update
  );
end
$$;

-- 1. What is locked next: the wallets of payers and payees, by id. So two batches never wait for each other in a circle. A tip that
-- counts towards a limit of its application also locks the owner's wallet, because that lock protects the count of the day.
create or replace function lock_payment_wallets(p_asked asked_payment[], p_order_ids bigint[], p_skips boolean)
  returns locked_wallets language plpgsql as $$
begin
  return (
    select lock_wallets(array_agg(party.user_id), array_agg(party.book), p_skips)
    from (
      select distinct o.book, member.user_id
      from unnest(p_asked) as asked
      cross join lateral (
        select id, book, door, app_id from orders
        where transaction_id = asked.transaction_id and id = any (p_order_ids) offset 0
      ) as o
      cross join lateral (
        select applicant_id, daily_payments_max from payment_apps where id = o.app_id offset 0
      ) as app
      cross join lateral (
        values
          (asked.payer_id), (
            case when o.door = 'tip' then (select to_user_id from tips where order_id = o.id) else app.applicant_id end
          ),
          (case when o.door = 'tip' and app.daily_payments_max is not null then app.applicant_id end)
      ) as member (user_id)
      where member.user_id is not null
    ) as party
  );
end
$$;

-- 2. What each item is judged by, read under the locks: a payment that waited sees a ban or suspension since. `same_before` is the
-- nearest earlier item with the same order.
create or replace function payment_facts(p_asked asked_payment[]) returns table (
  item integer, transaction_id text, payer_id bigint, expected_amount bigint, now timestamptz, same_before integer,
  order_id bigint, book text, door text, status text, amount bigint, expires_at timestamptz, paid_by bigint, app_id bigint,
  is_frozen boolean, has_notify boolean, has_event boolean,
  app_status text, fee_rate numeric, daily_payments_max bigint, payee_id bigint, payer_is_banned_or_suspended boolean,
  payer_wallet_id bigint, payee_wallet_id bigint, owner_wallet_id bigint, fee_account_id bigint
) language plpgsql as $$
#variable_conflict use_column
begin
  return query
    select i.ordinality::integer, i.transaction_id, i.payer_id, i.expected_amount, i.now,
      lag(i.ordinality) over (partition by i.transaction_id order by i.ordinality)::integer,
      o.id, o.book, o.door, o.status, o.amount, o.expires_at, o.payer_id, o.app_id,
      o.frozen_at is not null,
      o.notify_url is not null, o.door in ('hmac', 'link', 'tip') and app.events_url is not null,
      app_status(app.status, owner.is_banned, owner.suspended_till, i.now),
      app.fee_rate, app.daily_payments_max, payee.id,
      is_banned_or_suspended(payer.is_banned, payer.suspended_till, i.now),
      payer_wallet.id, payee_wallet.id, owner_wallet.id, fees.id
    from unnest(p_asked) with ordinality as i
    left join lateral (
      select id, book, door, status, amount, expires_at, payer_id, app_id, frozen_at, notify_url from orders
      where transaction_id = i.transaction_id
      offset 0
    ) as o on true
    left join lateral (
      select status, fee_rate, daily_payments_max, applicant_id, events_url from payment_apps where id = o.app_id offset 0
    ) as app on true
    left join lateral (
      select is_banned, suspended_till from users where id = app.applicant_id offset 0
    ) as owner on true
    left join lateral (
      select case when o.door = 'tip' then (select to_user_id from tips where order_id = o.id) else app.applicant_id end as id
    ) as payee on true
    left join lateral (
      select is_banned, suspended_till from users where id = i.payer_id offset 0
    ) as payer on true
    left join lateral (
      select id from ledger_accounts where user_id = i.payer_id and book = o.book and kind = 'wallet' offset 0
    ) as payer_wallet on true
    left join lateral (
      select id from ledger_accounts where user_id = payee.id and book = o.book and kind = 'wallet' offset 0
    ) as payee_wallet on true
    -- Of a tip that counts towards a limit of its application.
    left join lateral (
      select id from ledger_accounts
      where o.door = 'tip' and app.daily_payments_max is not null
        and user_id = app.applicant_id and book = o.book and kind = 'wallet'
      offset 0
    ) as owner_wallet on true
    left join lateral (
      select id from ledger_accounts where kind = 'fee' and book = o.book offset 0
    ) as fees on true
    order by i.ordinality;
end
$$;

-- 5. What is recorded: the journals, the orders, the notifications of the gateway, the events. Each table has one
-- statement. Postgres prepares the checks of a table for each statement, which costs more than a row.
create or replace function record_payments(p_made made_payment[]) returns void language plpgsql as $$
declare
  v_journal_ids constant bigint[] := post_journals('payment', null, array(
    select row(
      book, transaction_id, payer_id, at, payer_wallet_id, payee_wallet_id, fee_account_id, amount, fee
    )::posting from unnest(p_made)
  ));
begin
  update orders as o
  set status = 'paid', payer_id = made.payer_id, payee_id = made.payee_id, fee = made.fee,
      merchant_points = o.amount - made.fee, paid_at = made.at, journal_id = made.journal_id,
      -- A payment that came in time may have waited until after the order was marked expired. Its event is the later one.
      updated_at = greatest(made.at, o.updated_at)
  from unnest(v_journal_ids, p_made) as made (journal_id)
  where o.id = made.order_id;
  -- The trigger notification_route of events.sql fills in the application and the host.
  insert into notifications (order_id, next_attempt_at)
  select made.order_id, made.at from unnest(p_made) as made where made.has_notify;
  if exists (select from unnest(p_made) as made where made.has_event) then
    perform write_order_events('order.paid', array(select made.order_id from unnest(p_made) as made where made.has_event));
  end if;
end
$$;

-- Pays orders in one transaction, in the order given, and answers in that order. An order that its payer has paid, now or
-- before, comes with its return to the shop. So the payer's request needs no other statement. Outcomes, never raised, in the order
-- of their guards:
--   not_found (also an order of a link that is another member's) · locked (the order) · paid_before (by the same payer)
--   · paid_by_other · closed · expired · order_frozen
--   · unusable (the application is not approved, or its owner is banned or suspended) · changed (another amount than the payer saw)
--   · locked (a wallet, or the application has changed hands meanwhile) · wallet_frozen (the payer's, or the payer is banned or
--   suspended; a frozen payee still receives, but the author of a tip does not)
--   · not_on_sale, not_allowed, sold_out, member_limit (of a link, judged now) · tip_refused (of the author of a tip, judged now)
--   · insufficient · tip_limit (of its payer, judged now) · daily_limit (of the application) · paid
-- `locked` names the row that another transaction has locked.
-- With p_skips it waits for no locked order or wallet: an item whose rows are locked is answered so, nothing is done for it, and it
-- delays no other. Only for p_waits_for it waits, first of all.
-- It judges each order by the balances after the orders before it in the batch, and writes at the end.
create or replace function pay_orders(
  p_asked asked_payment[], p_fee_rate numeric, p_skips boolean default false, p_waits_for text default null
) returns table (item integer, outcome text, locked text, shop_return shop_return) language plpgsql as $$
#variable_conflict use_column
declare
  v_order_ids bigint[];
  v_wallets locked_wallets;
  -- What an item is judged by.
  f record;
  -- Positions in v_wallets.
  v_from integer;
  v_to integer;
  v_misses_owner boolean;
  v_fee bigint;
  -- Of an order of a link or of a tip only.
  v_refusal text;
  j judged_payment;
  v_judged judged_payment[];
  v_made made_payment[];
begin
  if p_waits_for is not null then perform await_row(p_waits_for); end if;
  v_order_ids := lock_orders(p_asked, p_skips);
  v_wallets := lock_payment_wallets(p_asked, v_order_ids, p_skips);

  for f in select * from payment_facts(p_asked) loop
    v_from := array_position(v_wallets.ids, f.payer_wallet_id);
    v_to := array_position(v_wallets.ids, f.payee_wallet_id);
    v_misses_owner := f.door = 'tip' and f.daily_payments_max is not null
      and array_position(v_wallets.ids, f.owner_wallet_id) is null;

    -- 3. What is judged: the guards, in their order.
    v_refusal := case f.door
      when 'link' then judge_link_order(f.order_id, f.payer_id)
      when 'tip' then judge_tip(f.payer_id, f.payee_id, f.amount, f.now)
    end;
    j := null;
    j.paid_by := coalesce(v_judged[f.same_before].paid_by, f.paid_by);
    j.outcome := case
      when f.order_id is null or v_refusal = 'not_found' then 'not_found'
      when not f.order_id = any (v_order_ids) then 'locked'
      when j.paid_by = f.payer_id then 'paid_before'
      when j.paid_by is not null then 'paid_by_other'
      when f.status = 'closed' then 'closed'
      -- The clock decides, before or after the sweep.
      when f.expires_at <= f.now then 'expired'
      when f.is_frozen then 'order_frozen'
      when f.app_status <> 'approved' or v_refusal = 'unusable' then 'unusable'
      when f.amount is distinct from f.expected_amount then 'changed'
      when v_from is null or v_to is null or v_misses_owner then 'locked'
      when v_wallets.frozen[v_from] or f.payer_is_banned_or_suspended then 'wallet_frozen'
      when v_refusal <> 'tip_limit' then v_refusal
      when coalesce(v_wallets.balances[v_from], 0) < f.amount then 'insufficient'
      when v_refusal is not null then v_refusal
      -- The last guard, because it counts the payments that pass.
      when f.daily_payments_max is not null and count_for_day(
        'payments', f.app_id, f.book, f.amount, f.daily_payments_max, f.now
      ) is not null then 'daily_limit'
      else 'paid'
    end;
    if j.outcome = 'locked' then
      j.locked := case
        when not f.order_id = any (v_order_ids) then 'order ' || f.order_id
        when v_from is null then wallet_row(f.payer_wallet_id, f.book)
        when v_to is null then wallet_row(f.payee_wallet_id, f.book)
        else wallet_row(f.owner_wallet_id, f.book)
      end;
    end if;

    -- 4. What moves: the payer pays the amount. The payee gets it without the fee.
    if j.outcome = 'paid' then
      if f.door = 'link' then perform take_units(f.order_id, f.now); end if;
      if f.door = 'tip' then
        perform count_tip(f.app_id, f.transaction_id, f.payer_id, f.payee_id, f.amount, f.now);
      end if;
      v_fee := payment_fee(f.amount, coalesce(f.fee_rate, p_fee_rate));
      v_wallets.balances[v_from] := v_wallets.balances[v_from] - f.amount;
      v_wallets.balances[v_to] := v_wallets.balances[v_to] + f.amount - v_fee;
      j.paid_by := f.payer_id;
      v_made := v_made || row(
        f.order_id, f.book, f.transaction_id, f.payer_id, f.payee_id, f.amount, v_fee, f.now,
        f.payer_wallet_id, f.payee_wallet_id, f.fee_account_id, f.has_notify, f.has_event
      )::made_payment;
    end if;
    if j.outcome in ('paid', 'paid_before') then j.transaction_id_back := f.transaction_id; end if;
    v_judged[f.item] := j;
  end loop;
  if v_made is not null then perform record_payments(v_made); end if;

  -- 6. What is answered. This statement follows the writes, so it sees them.
  return query
    select judged.ordinality::integer, judged.outcome, judged.locked, returned.shop_return
    from unnest(v_judged) with ordinality as judged
    left join shop_returns(array(select transaction_id_back from unnest(v_judged)), p_asked[1].now) as returned
      on returned.item = judged.ordinality
    order by judged.ordinality;
end
$$;
