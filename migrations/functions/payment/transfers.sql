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
      app.daily_transfers_max - (
        select coalesce(sum(transfers.amount), 0)::bigint from transfers
        where app_id = app.id and paid_at >= today.day::timestamp at time zone 'Asia/Shanghai'
      )
    ) as left_today
  ) as figures
  where app.id = p_app_id
$$;

-- Makes transfers in one transaction, in the order given, each once for an application and its order_id. Answers in that order.
-- Outcomes, never raised:
--   completed · exists (the same request before: its result) · changed (same order_id, other recipient or amount) · reversed
--   · unusable (the application is not approved, its owner is banned or suspended, or it changed hands since the
--   signature was checked)
--   · mismatch (id and username are not one member) · to_self · below_minimum · above_maximum · too_large
--   · daily_limit (the sender's or the application's) · wallet_frozen (the sender's wallet) · insufficient
--   · busy (another transaction has locked a wallet, or the application has changed hands meanwhile; `locked` names the row)
-- Rates and limits come by trust level 0 to 4. A null daily limit is none. p_from_user_ids names the owner whose points a
-- request may move, as known when its signature was checked. Null: the present owner.
-- It locks the wallets by id. Two requests with one order_id meet there too: they belong to one application, so to one
-- sender's wallet, and the second finds the rows of the first. With p_skips it waits for none of them, as pay_orders. It judges
-- first and writes at the end.
create or replace function post_transfers(
  p_app_ids bigint[], p_order_ids text[], p_transaction_ids text[], p_to_user_ids bigint[], p_to_usernames text[],
  p_amounts bigint[], p_nows timestamptz[], p_rates numeric[], p_minimums bigint[], p_maximums bigint[],
  p_daily_limits bigint[], p_from_user_ids bigint[] default null, p_skips boolean default false,
  p_awaited text default null
) returns table (item integer, result transfer_result, locked text) language plpgsql as $$
declare
  c_points_max constant bigint := 9007199254740991;
  v_user_ids bigint[];
  v_books text[];
  -- The locked wallets, and their balances as the batch goes on.
  v_wallet_ids bigint[];
  v_balances bigint[];
  v_frozen boolean[];
  -- By wallet: the day in which its member's last transfer counts, and the total of that day.
  v_days date[];
  v_day_points numeric[];
  -- By item: the transfer with its order_id, after the item was judged.
  v_standing transfer_result[];
  asked record;
  -- Places in v_wallet_ids.
  v_from integer;
  v_to integer;
  v_day date;
  v_today numeric;
  v_app_today bigint;
  -- The rows to write: one element for each transfer, and three lines for each.
  v_count integer := 0;
  v_items integer[];
  v_ids_with_event text[];
  v_done_books text[];
  v_done transfer_result[];
  v_done_days date[];
  v_done_points numeric[];
  v_places integer[];
  v_account_ids bigint[];
  v_amounts bigint[];
  v_journal_ids bigint[];
begin
  -- 1. Locks.
  if p_awaited is not null then perform await_row(p_awaited); end if;
  select array_agg(party.user_id), array_agg(party.book) into v_user_ids, v_books
  from (
    select distinct app.book, member.id as user_id
    from unnest(p_app_ids, p_to_user_ids) as i (app_id, to_user_id)
    cross join lateral (select book, applicant_id from payment_apps where id = i.app_id offset 0) as app
    cross join lateral (values (app.applicant_id), (i.to_user_id)) as party (user_id)
    cross join lateral (select id from users where id = party.user_id offset 0) as member
  ) as party;
  select ids, balances, frozen into v_wallet_ids, v_balances, v_frozen from lock_wallets(v_user_ids, v_books, p_skips);

  -- 2. Each item's application and recipient, read under the locks.
  for asked in
    select i.place::integer, i.transaction_id, i.to_user_id, i.amount, i.now, i.app_id, i.expected_user_id,
      lag(i.place) over (partition by i.app_id, i.order_id order by i.place) as same_before,
      app_standing(app.status, sender.is_banned, sender.suspended_till, i.now) as app_status,
      app.book, app.daily_transfers_max, app.events_url is not null as has_event,
      sender.id as from_user_id, sender.username as from_username, from_wallet.id as from_wallet_id,
      sender.trust_level + 1 as level, last.day as last_day, last.day_points as last_day_points,
      recipient.username as to_username, to_wallet.id as to_wallet_id, fees.id as fee_account_id,
      row(
        null, null, null, before.transaction_id, before.status, before.amount, before.fee,
        before.from_user_id, before.from_username, before.to_user_id, before.to_username, before.paid_at
      )::transfer_result as standing
    from unnest(
      p_app_ids, p_order_ids, p_transaction_ids, p_to_user_ids, p_to_usernames, p_amounts, p_nows, p_from_user_ids
    ) with ordinality as i (
      app_id, order_id, transaction_id, to_user_id, to_username, amount, now, expected_user_id, place
    )
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
    ) as before on true
    order by i.place
  loop
    item := asked.place;
    result := null;
    locked := null;
    -- 3. A repeated request is answered with the transfer that it made.
    v_standing[item] := coalesce(v_standing[asked.same_before], asked.standing);
    if (v_standing[item]).transaction_id is not null then
      result := v_standing[item];
      result.outcome := case
        when result.to_user_id <> asked.to_user_id or result.amount <> asked.amount then 'changed'
        when result.status = 'reversed' then 'reversed'
        else 'exists'
      end;
      return next;
      continue;
    end if;

    v_from := array_position(v_wallet_ids, asked.from_wallet_id);
    v_to := array_position(v_wallet_ids, asked.to_wallet_id);
    if v_from is null then
      result.outcome := 'busy';
      -- Nobody waits for 0: a new owner or a new member has no wallet yet, and the next run opens it.
      locked := 'wallet ' || coalesce(asked.from_wallet_id, 0);
      return next;
      continue;
    end if;
    v_days[v_from] := coalesce(v_days[v_from], asked.last_day);
    v_day_points[v_from] := coalesce(v_day_points[v_from], asked.last_day_points);
    -- A day begins at midnight in China, as in the gateway's daily figures. When the clocks of two processes differ, the sender's
    -- day begins with the first of them.
    v_day := greatest((asked.now at time zone 'Asia/Shanghai')::date, v_days[v_from]);
    v_today := case when v_day = v_days[v_from] then v_day_points[v_from] else 0 end;

    -- 4. The guards, in their order, each with its limit.
    result.amount := asked.amount;
    result.fee := transfer_fee(asked.amount, p_rates[asked.level]);
    result.outcome := case
      when asked.expected_user_id <> asked.from_user_id or asked.app_status <> 'approved' then 'unusable'
      when asked.to_username is null then 'mismatch'
      when asked.to_user_id = asked.from_user_id then 'to_self'
      when asked.amount < p_minimums[asked.level] then 'below_minimum'
      when asked.amount > p_maximums[asked.level] then 'above_maximum'
      when asked.amount + result.fee > c_points_max then 'too_large'
      when v_today + asked.amount > p_daily_limits[asked.level] then 'daily_limit'
      when v_frozen[v_from] then 'wallet_frozen'
      when v_balances[v_from] < asked.amount + result.fee then 'insufficient'
      when v_to is null then 'busy'
      else 'completed'
    end;
    case result.outcome
      when 'below_minimum' then result.bound := p_minimums[asked.level];
      when 'above_maximum' then result.bound := p_maximums[asked.level];
      when 'daily_limit' then result.bound := p_daily_limits[asked.level]; result.have := v_today;
      when 'insufficient' then result.bound := asked.amount + result.fee; result.have := v_balances[v_from];
      when 'busy' then locked := 'wallet ' || coalesce(asked.to_wallet_id, 0);
      else
    end case;
    -- The last guard, because it counts the transfers that pass.
    if result.outcome = 'completed' and asked.daily_transfers_max is not null then
      v_app_today := count_for_day(
        'transfers', asked.app_id, asked.book, asked.amount, asked.daily_transfers_max, asked.now
      );
      if v_app_today is not null then
        result.outcome := 'daily_limit'; result.bound := asked.daily_transfers_max; result.have := v_app_today;
      end if;
    end if;

    -- 5. The points that move: the sender pays the amount and the fee. The recipient gets the amount.
    if result.outcome = 'completed' then
      result.transaction_id := asked.transaction_id;
      result.status := 'completed';
      result.from_user_id := asked.from_user_id;
      result.from_username := asked.from_username;
      result.to_user_id := asked.to_user_id;
      result.to_username := asked.to_username;
      result.paid_at := asked.now;
      v_standing[item] := result;
      v_balances[v_from] := v_balances[v_from] - asked.amount - result.fee;
      v_balances[v_to] := v_balances[v_to] + asked.amount;
      v_days[v_from] := v_day;
      v_day_points[v_from] := v_today + asked.amount;
      v_count := v_count + 1;
      v_items[v_count] := item;
      if asked.has_event then v_ids_with_event := v_ids_with_event || asked.transaction_id; end if;
      v_done_books[v_count] := asked.book;
      v_done[v_count] := result;
      v_done_days[v_count] := v_day;
      v_done_points[v_count] := v_day_points[v_from];
      v_places := v_places || array[v_count, v_count, v_count];
      v_account_ids := v_account_ids || array[asked.from_wallet_id, asked.to_wallet_id, asked.fee_account_id];
      v_amounts := v_amounts || array[-(asked.amount + result.fee), asked.amount, result.fee];
    end if;
    return next;
  end loop;
  if v_count = 0 then return; end if;

  -- 6. The records: the journals, the transfers and their events.
  select post_journals(
    'transfer', v_done_books, array_agg(done.transaction_id), array_agg(done.from_user_id), null,
    array_agg(done.paid_at), v_places, v_account_ids, v_amounts
  ) into v_journal_ids
  from unnest(v_done) as done;
  insert into transfers (
    app_id, book, order_id, transaction_id, amount, fee, from_user_id, from_username, to_user_id, to_username, paid_at,
    day, day_points, journal_id
  )
  select p_app_ids[done.item], done.book, p_order_ids[done.item],
    (done.transfer).transaction_id, (done.transfer).amount, (done.transfer).fee,
    (done.transfer).from_user_id, (done.transfer).from_username,
    (done.transfer).to_user_id, (done.transfer).to_username, (done.transfer).paid_at,
    done.day, done.day_points, done.journal_id
  from (
    select v_items[n] as item, v_done_books[n] as book, v_done[n] as transfer, v_done_days[n] as day,
      v_done_points[n] as day_points, v_journal_ids[n] as journal_id
    from generate_series(1, v_count) as n
    offset 0
  ) as done
  order by done.item;
  if v_ids_with_event is not null then perform write_transfer_events(v_ids_with_event); end if;
end
$$;
