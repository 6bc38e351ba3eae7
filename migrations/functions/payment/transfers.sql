-- Transfers from the wallet of an application's owner to members.

-- ceil(amount × rate): spec/points 2.2. The sender pays it on top of the amount.
create or replace function transfer_fee(p_amount bigint, p_rate numeric) returns bigint
  language sql immutable parallel safe as $$ select ceil(p_amount * p_rate)::bigint $$;

-- Quotes a transfer by the owner's trust level, as post_transfers judges it, and reserves nothing: what it costs, what the wallet
-- needs and has, its bounds, and what is left of today's limits. left_today is null without a limit.
create or replace function quote_transfer(
  p_app_id bigint, p_amount bigint, p_now timestamptz, p_rates numeric[], p_minimums bigint[], p_maximums bigint[],
  p_daily_limits bigint[]
) returns table (fee bigint, need bigint, have bigint, min bigint, max bigint, left_today bigint)
language sql stable as $$
  select figures.fee, p_amount + figures.fee, figures.have, figures.min, figures.max,
    -- Keeps null without a limit, because greatest and least ignore null.
    case when figures.left_today is not null then greatest(figures.left_today, 0) end
  from payment_apps as app
  join users as sender on sender.id = app.applicant_id
  cross join lateral (select sender.trust_level + 1 as level) as its
  cross join lateral (select (p_now at time zone 'Asia/Shanghai')::date as day) as today
  -- The last transfer of a day carries the sender's sum of that day.
  left join lateral (
    select last.day, last.day_points from transfers as last
    where (last.from_user_id, last.book, last.id) > (sender.id, app.book, 0)
      and (last.from_user_id, last.book, last.id) < (sender.id, app.book, 9223372036854775807)
    order by last.from_user_id desc, last.book desc, last.id desc limit 1
  ) as sent on true
  cross join lateral (select
    transfer_fee(p_amount, p_rates[its.level]) as fee,
    p_minimums[its.level] as min,
    p_maximums[its.level] as max,
    coalesce((
      select balance from ledger_accounts where user_id = sender.id and book = app.book and kind = 'wallet'
    ), 0) as have,
    least(
      p_daily_limits[its.level] - case when sent.day >= today.day then sent.day_points::bigint else 0 end,
      app.daily_transfers_max
        - transferred_between(app.id, today.day::timestamp at time zone 'Asia/Shanghai', 'infinity')
    ) as left_today
  ) as figures
  where app.id = p_app_id
$$;

-- 1. What is locked: the wallets of senders and recipients, by id.
create or replace function lock_transfer_wallets(p_asked asked_transfer[], p_skips boolean)
  returns locked_wallets language plpgsql as $$
begin
  return (
    select lock_wallets(array_agg(party.user_id), array_agg(party.book), p_skips)
    from (
      select distinct app.book, member.id as user_id
      from unnest(p_asked) as i
      cross join lateral (select book, applicant_id from payment_apps where id = i.app_id offset 0) as app
      cross join lateral (values (app.applicant_id), (i.to_user_id)) as party (user_id)
      cross join lateral (select id from users where id = party.user_id offset 0) as member
    ) as party
  );
end
$$;

-- 2. What each item is judged by, read under the locks. `same_before` is the nearest earlier item with the same order_id, and `before` the
-- transfer that has it already. `level` counts trust levels from 1.
create or replace function transfer_facts(p_asked asked_transfer[]) returns table (
  item integer, app_id bigint, order_id text, transaction_id text, to_user_id bigint, amount bigint, now timestamptz,
  expected_user_id bigint, same_before integer,
  app_status text, book text, daily_transfers_max bigint, has_event boolean,
  from_user_id bigint, from_username text, from_wallet_id bigint, level integer, last_day date, last_day_points numeric,
  to_username text, to_wallet_id bigint, fee_account_id bigint, before transfer_result
) language plpgsql as $$
#variable_conflict use_column
begin
  return query
    select i.ordinality::integer, i.app_id, i.order_id, i.transaction_id, i.to_user_id, i.amount, i.now, i.from_user_id,
      lag(i.ordinality) over (partition by i.app_id, i.order_id order by i.ordinality)::integer,
      app_status(app.status, sender.is_banned, sender.suspended_till, i.now),
      app.book, app.daily_transfers_max, app.events_url is not null,
      sender.id, sender.username, from_wallet.id, sender.trust_level + 1, last.day, last.day_points,
      recipient.username, to_wallet.id, fees.id,
      row(
        null, null, null, made.transaction_id, made.status, made.amount, made.fee,
        made.from_user_id, made.from_username, made.to_user_id, made.to_username, made.paid_at
      )::transfer_result
    from unnest(p_asked) with ordinality as i
    cross join lateral (
      select status, book, daily_transfers_max, applicant_id, events_url from payment_apps where id = i.app_id offset 0
    ) as app
    cross join lateral (
      select id, username, trust_level, is_banned, suspended_till from users where id = app.applicant_id offset 0
    ) as sender
    left join lateral (
      select id from ledger_accounts where user_id = sender.id and book = app.book and kind = 'wallet' offset 0
    ) as from_wallet on true
    -- By a range over the index that ends with the id. Otherwise, where few members have sent points, Postgres walks the
    -- transfers of all members for a sender without one.
    left join lateral (
      select day, day_points from transfers
      where (from_user_id, book, id) > (sender.id, app.book, 0)
        and (from_user_id, book, id) < (sender.id, app.book, 9223372036854775807)
      order by from_user_id desc, book desc, id desc limit 1
    ) as last on true
    left join lateral (
      select id, username from users
      where id = i.to_user_id and lower(username) = lower(i.to_username) and anonymised_at is null
      offset 0
    ) as recipient on true
    left join lateral (
      select id from ledger_accounts where user_id = recipient.id and book = app.book and kind = 'wallet' offset 0
    ) as to_wallet on true
    cross join lateral (
      select id from ledger_accounts where kind = 'fee' and book = app.book offset 0
    ) as fees
    left join lateral (
      select * from transfers where app_id = i.app_id and order_id = i.order_id offset 0
    ) as made on true
    order by i.ordinality;
end
$$;

-- 5. What is recorded: the journals, the transfers and their events.
create or replace function record_transfers(p_made made_transfer[]) returns void language plpgsql as $$
declare
  v_journal_ids constant bigint[] := post_journals('transfer', null, array(
    select row(
      book, (transfer).transaction_id, (transfer).from_user_id, (transfer).paid_at, from_wallet_id, to_wallet_id,
      fee_account_id, (transfer).amount + (transfer).fee, (transfer).fee
    )::posting from unnest(p_made)
  ));
begin
  insert into transfers (
    app_id, book, order_id, transaction_id, amount, fee, from_user_id, from_username, to_user_id, to_username, paid_at,
    day, day_points, journal_id
  )
  select made.app_id, made.book, made.order_id,
    (made.transfer).transaction_id, (made.transfer).amount, (made.transfer).fee,
    (made.transfer).from_user_id, (made.transfer).from_username,
    (made.transfer).to_user_id, (made.transfer).to_username, (made.transfer).paid_at,
    made.day, made.day_points, made.journal_id
  from unnest(v_journal_ids, p_made) as made (journal_id);
  if exists (select from unnest(p_made) as made where made.has_event) then
    perform write_transfer_events(array(
      select (made.transfer).transaction_id from unnest(p_made) as made where made.has_event
    ));
  end if;
end
$$;

-- Makes transfers in one transaction, in the order given, each once for an application and its order_id. Answers in that order.
-- Outcomes, never raised, in the order of their guards:
--   changed (same order_id, other recipient or amount) · reversed · exists (the same request before: its result)
--   · locked (the sender's wallet, or the application has changed hands meanwhile)
--   · unusable (the application is not approved, its owner is banned or suspended, or it changed hands since the
--   signature was checked)
--   · mismatch (id and username are not one member) · to_self · below_minimum · above_maximum · too_large
--   · daily_limit (the sender's) · wallet_frozen (the sender's; a frozen recipient still receives) · insufficient
--   · locked (the recipient's wallet) · daily_limit (the application's) · completed
-- `locked` names the row that another transaction has locked.
-- Rates and limits are lists by trust level, 0 to 4. A null daily limit is none.
-- Two requests with one order_id meet at the sender's wallet: they belong to one application, and the second finds the rows of the
-- first. With p_skips it waits for no locked wallet, as pay_orders. It judges first and writes at the end.
create or replace function post_transfers(
  p_asked asked_transfer[], p_rates numeric[], p_minimums bigint[], p_maximums bigint[], p_daily_limits bigint[],
  p_skips boolean default false, p_waits_for text default null
) returns table (item integer, result transfer_result, locked text) language plpgsql as $$
declare
  c_points_max constant bigint := 9007199254740991;
  v_wallets locked_wallets;
  -- By wallet.
  v_sent sent_of_day[];
  -- By item: the transfer with its order_id, after the item was judged.
  v_known transfer_result[];
  -- What an item is judged by.
  f record;
  -- Positions in v_wallets.
  v_from integer;
  v_to integer;
  v_day date;
  v_today numeric;
  v_app_today bigint;
  v_made made_transfer[];
begin
  if p_waits_for is not null then perform await_row(p_waits_for); end if;
  v_wallets := lock_transfer_wallets(p_asked, p_skips);

  for f in select * from transfer_facts(p_asked) loop
    item := f.item;
    locked := null;
    -- 3. What is judged. First, a repeated request is answered with the transfer that it made.
    result := coalesce(v_known[f.same_before], f.before);
    v_known[item] := result;
    if result.transaction_id is not null then
      result.outcome := case
        when result.to_user_id <> f.to_user_id or result.amount is distinct from f.amount then 'changed'
        when result.status = 'reversed' then 'reversed'
        else 'exists'
      end;
      return next;
      continue;
    end if;
    v_from := array_position(v_wallets.ids, f.from_wallet_id);
    v_to := array_position(v_wallets.ids, f.to_wallet_id);
    if v_from is null then
      result.outcome := 'locked';
      locked := wallet_row(f.from_wallet_id, f.book);
      return next;
      continue;
    end if;
    v_sent[v_from] := coalesce(v_sent[v_from], row(f.last_day, f.last_day_points)::sent_of_day);
    -- A day begins at midnight in China, as in the gateway's daily figures. When the clocks of two processes differ, the sender's
    -- day begins with the first of them.
    v_day := greatest((f.now at time zone 'Asia/Shanghai')::date, v_sent[v_from].day);
    v_today := case when v_day = v_sent[v_from].day then v_sent[v_from].points else 0 end;

    -- The guards, in their order, each with its limit.
    result.amount := f.amount;
    result.fee := transfer_fee(f.amount, p_rates[f.level]);
    result.outcome := case
      when f.expected_user_id <> f.from_user_id or f.app_status <> 'approved' then 'unusable'
      when f.to_username is null then 'mismatch'
      when f.to_user_id = f.from_user_id then 'to_self'
      when f.amount < p_minimums[f.level] then 'below_minimum'
      when f.amount > p_maximums[f.level] then 'above_maximum'
      when f.amount + result.fee > c_points_max then 'too_large'
      when v_today + f.amount > p_daily_limits[f.level] then 'daily_limit'
      when v_wallets.frozen[v_from] then 'wallet_frozen'
      when v_wallets.balances[v_from] < f.amount + result.fee then 'insufficient'
      when v_to is null then 'locked'
      else 'completed'
    end;
    case result.outcome
      when 'below_minimum' then result.bound := p_minimums[f.level];
      when 'above_maximum' then result.bound := p_maximums[f.level];
      when 'daily_limit' then result.bound := p_daily_limits[f.level]; result.have := v_today;
      when 'insufficient' then
        result.bound := f.amount + result.fee; result.have := v_wallets.balances[v_from];
      when 'locked' then locked := wallet_row(f.to_wallet_id, f.book);
      else
    end case;
    -- The last guard, because it counts the transfers that pass.
    if result.outcome = 'completed' and f.daily_transfers_max is not null then
      v_app_today := count_for_day(
        'transfers', f.app_id, f.book, f.amount, f.daily_transfers_max, f.now
      );
      if v_app_today is not null then
        result.outcome := 'daily_limit'; result.bound := f.daily_transfers_max; result.have := v_app_today;
      end if;
    end if;

    -- 4. What moves: the sender pays the amount and the fee. The recipient gets the amount.
    if result.outcome = 'completed' then
      result := row(
        'completed', null, null, f.transaction_id, 'completed', f.amount, result.fee,
        f.from_user_id, f.from_username, f.to_user_id, f.to_username, f.now
      );
      v_known[item] := result;
      v_wallets.balances[v_from] := v_wallets.balances[v_from] - f.amount - result.fee;
      v_wallets.balances[v_to] := v_wallets.balances[v_to] + f.amount;
      v_sent[v_from] := row(v_day, v_today + f.amount);
      v_made := v_made || row(
        f.app_id, f.book, f.order_id, result, v_day, v_today + f.amount,
        f.from_wallet_id, f.to_wallet_id, f.fee_account_id, f.has_event
      )::made_transfer;
    end if;
    return next;
  end loop;
  if v_made is not null then perform record_transfers(v_made); end if;
end
$$;
