-- The acts of many items as few statements. Every statement that writes reads the constraints of its table anew, so a
-- batch that wrote item by item spent more on that than on its rows. Now the rules are applied item by item, in the order
-- given, to what the batch has read under its locks and carries along; then all that came of it is written at once.

-- Indexes hold nothing of rows that they are not about, because each costs every order a write.
alter table orders drop constraint orders_trade_no_key, drop constraint orders_journal_id_key;
create unique index orders_trade_no_key on orders (trade_no) where trade_no is not null;
create unique index orders_journal_id_key on orders (journal_id) where journal_id is not null;
-- What was paid to an application in a time: in all for its day's limit, at one door for the gateway's figures.
drop index orders_takings, orders_of_app_paid;
create index orders_takings on orders (app_id, paid_at) include (amount, door, book) where paid_at is not null;

-- The book that an application's orders and transfers belong to.
alter table payment_apps add column if not exists book text not null default 'live';

-- A member's transfers of a day, summed up as they go: each says in which day it counts and what its sender had
-- transferred in it by then, so that a daily limit asks for the last one only.
alter table transfers
  add column day date,
  add column day_points numeric;
update transfers as counted set day = sums.day, day_points = sums.points
from (
  select t.id, local.day, sum(t.amount) over (partition by t.from_user_id, t.book, local.day order by t.id) as points
  from transfers as t
  cross join lateral (values ((t.paid_at at time zone 'Asia/Shanghai')::date)) as local (day)
) as sums
where sums.id = counted.id;
alter table transfers
  alter column day set not null,
  alter column day_points set not null,
  add constraint transfers_day_points check (day_points >= 1);
-- An application has one book, so its order_ids need no other to be told apart; and an index that does not hold the
-- book cannot be taken for the one of senders below.
alter table transfers
  drop constraint transfers_order_id_key,
  add constraint transfers_order_id_key unique (app_id, order_id);
drop index transfers_of_sender;
-- Whoever adds a transfer holds its sender's wallet, so the highest id is the last one, whatever the clocks say.
create index transfers_of_sender on transfers (from_user_id, book, id);

-- Posts journals with their lines and moves the balances; `p_places` says to which journal, from 1, each line belongs.
-- Answers with the journals' ids in their order. Lines of amount zero are left out; one account may stand in several
-- lines. The caller holds row locks on every wallet named and has checked what may be spent: a wallet that would fall
-- below zero violates ledger_accounts_not_negative and undoes everything.
create function post_journals(
  p_kind text, p_books text[], p_references text[], p_actor_ids bigint[], p_reason text, p_posted_ats timestamptz[],
  p_places integer[], p_account_ids bigint[], p_amounts bigint[]
) returns bigint[] language plpgsql as $$
declare
  v_journal_ids bigint[];
begin
  with posted as (
    -- Rows take their ids in the order in which they come.
    insert into journal (book, kind, reference, actor_id, reason, posted_at)
    select asked.book, p_kind, asked.reference, asked.actor_id, p_reason, asked.posted_at
    from unnest(p_books, p_references, p_actor_ids, p_posted_ats) with ordinality
      as asked (book, reference, actor_id, posted_at, place)
    order by asked.place
    returning id
  )
  select array_agg(posted.id order by posted.id) into v_journal_ids from posted;

  insert into entries (journal_id, book, account_id, amount)
  select v_journal_ids[line.place], p_books[line.place], line.account_id, line.amount
  from unnest(p_places, p_account_ids, p_amounts) as line (place, account_id, amount)
  where line.amount <> 0;

  update ledger_accounts as account
  set balance = account.balance + moved.amount
  from (
    select line.account_id, sum(line.amount) as amount
    from unnest(p_account_ids, p_amounts) as line (account_id, amount)
    group by line.account_id
  ) as moved
  where account.id = moved.account_id and account.kind <> 'fee' and moved.amount <> 0;

  return v_journal_ids;
end
$$;

-- Posts one journal.
create or replace function post_journal(
  p_book text, p_kind text, p_reference text, p_actor_id bigint, p_reason text, p_posted_at timestamptz,
  p_account_ids bigint[], p_amounts bigint[]
) returns bigint language plpgsql as $$
declare
  v_journal_ids constant bigint[] := post_journals(
    p_kind, array[p_book], array[p_reference], array[p_actor_id], p_reason, array[p_posted_at],
    array_fill(1, array[cardinality(p_account_ids)]), p_account_ids, p_amounts
  );
begin
  return v_journal_ids[1];
end
$$;

-- Locks the wallets of these members in these books, by id, and makes those that they do not have yet. Answers with
-- what they hold and whether they are frozen. They are looked up one by one and locked by their ids: asked for by their
-- owners in the order of ids, a plan could read every wallet there is.
create function lock_wallets(
  p_user_ids bigint[], p_books text[], out ids bigint[], out balances bigint[], out frozen boolean[]
) language plpgsql as $$
declare
  v_ids bigint[];
begin
  insert into ledger_accounts (book, kind, user_id, balance)
  select party.book, 'wallet', party.user_id, 0
  from unnest(p_user_ids, p_books) as party (user_id, book)
  where not exists (
    select from ledger_accounts as l
    where l.user_id = party.user_id and l.book = party.book and l.kind = 'wallet'
    offset 0
  )
  order by party.user_id, party.book
  on conflict do nothing;

  select array_agg(wallet.id) into v_ids
  from unnest(p_user_ids, p_books) as party (user_id, book)
  cross join lateral (
    select l.id from ledger_accounts as l
    where l.user_id = party.user_id and l.book = party.book and l.kind = 'wallet'
    offset 0
  ) as wallet;
  select array_agg(wallet.id), array_agg(wallet.balance), array_agg(wallet.frozen_at is not null)
  into ids, balances, frozen
  from (
    select l.id, l.balance, l.frozen_at from ledger_accounts as l where l.id = any (v_ids) order by l.id for update
  ) as wallet;
end
$$;

-- An application may change hands while a batch waits for the wallets of before. What was begun is undone, and its caller
-- begins again with those of its new owner.
create function refuse_unlocked_wallet(p_app_id bigint) returns void language plpgsql as $$
begin
  raise exception 'application % has changed hands', p_app_id using errcode = 'serialization_failure';
end
$$;

-- Pays orders in one transaction, in the order given; answers in that order too. The rule of the whole act stands here:
-- who may pay, when, what moves, what is recorded and who is told. Outcomes, never raised:
--   paid · paid_before (by the same payer) · paid_by_other · expired · closed · unusable (the application is not
--   approved) · changed (another amount than the payer was shown) · insufficient · daily_limit (of the application)
--   · not_found · order_frozen · purse_frozen (the payer's)
-- All rows that any item will touch are locked first, orders by id and then wallets by id, so that two batches at once
-- cannot wait for each other in a circle. Plans go by indexes from the first day: one made while there are few rows would
-- read all of them ever after. For the same reason nothing is joined freely: what stands behind `offset 0` is looked up
-- for each item.
create or replace function pay_orders(
  p_transaction_ids text[], p_payer_ids bigint[], p_expected_amounts bigint[], p_nows timestamptz[],
  p_fee_rate numeric
) returns table (item integer, outcome text) language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  v_user_ids bigint[];
  v_books text[];
  v_wallet_ids bigint[];
  v_balances bigint[];
  v_frozen boolean[];
  -- Who has paid the item's order, after the item.
  v_paid_by bigint[];
  v_payer_id bigint;
  v_from integer;
  v_to integer;
  v_fee bigint;
  asked record;
  -- What is to be written, paid order by paid order; of its three lines each.
  v_count integer := 0;
  v_order_ids bigint[];
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
  perform from orders where transaction_id = any (p_transaction_ids) order by id for update;

  select array_agg(party.user_id), array_agg(party.book) into v_user_ids, v_books
  from (
    select distinct o.book, member.user_id
    from unnest(p_transaction_ids, p_payer_ids) as i (transaction_id, payer_id)
    cross join lateral (select book, app_id from orders where transaction_id = i.transaction_id offset 0) as o
    cross join lateral (select applicant_id from payment_apps where id = o.app_id offset 0) as a
    cross join lateral (values (i.payer_id), (a.applicant_id)) as member (user_id)
  ) as party;

  select ids, balances, frozen into v_wallet_ids, v_balances, v_frozen from lock_wallets(v_user_ids, v_books);

  for asked in
    select i.place::integer, i.transaction_id, i.payer_id, i.expected_amount, i.now,
      lag(i.place) over (partition by i.transaction_id order by i.place) as same_before,
      o.id as order_id, o.book, o.status, o.amount, o.expires_at, o.payer_id as paid_by, o.app_id,
      o.frozen_at is not null as is_frozen,
      app.status as app_status, app.fee_rate, app.daily_payments_max, app.applicant_id as payee_id,
      payer.id as payer_wallet_id, merchant.id as merchant_wallet_id, fees.id as fee_account_id
    from unnest(p_transaction_ids, p_payer_ids, p_expected_amounts, p_nows) with ordinality
      as i (transaction_id, payer_id, expected_amount, now, place)
    left join lateral (
      select id, book, status, amount, expires_at, payer_id, app_id, frozen_at from orders
      where transaction_id = i.transaction_id
      offset 0
    ) as o on true
    left join lateral (
      select status, fee_rate, daily_payments_max, applicant_id from payment_apps where id = o.app_id offset 0
    ) as app on true
    left join lateral (
      select id from ledger_accounts where user_id = i.payer_id and book = o.book and kind = 'wallet' offset 0
    ) as payer on true
    left join lateral (
      select id from ledger_accounts where user_id = app.applicant_id and book = o.book and kind = 'wallet' offset 0
    ) as merchant on true
    left join lateral (
      select id from ledger_accounts where kind = 'fee' and book = o.book offset 0
    ) as fees on true
    order by i.place
  loop
    item := asked.place;
    v_payer_id := coalesce(v_paid_by[asked.same_before], asked.paid_by);
    v_paid_by[item] := v_payer_id;
    v_from := array_position(v_wallet_ids, asked.payer_wallet_id);
    v_to := array_position(v_wallet_ids, asked.merchant_wallet_id);
    if v_to is null and asked.order_id is not null then perform refuse_unlocked_wallet(asked.app_id); end if;
    outcome := case
      when asked.order_id is null then 'not_found'
      when v_payer_id = asked.payer_id then 'paid_before'
      when v_payer_id is not null then 'paid_by_other'
      when asked.status = 'closed' then 'closed'
      -- The clock decides, whether or not the sweep has been here.
      when asked.expires_at <= asked.now then 'expired'
      when asked.is_frozen then 'order_frozen'
      when asked.app_status <> 'approved' then 'unusable'
      when asked.amount <> asked.expected_amount then 'changed'
      when v_frozen[v_from] then 'purse_frozen'
      when coalesce(v_balances[v_from], 0) < asked.amount then 'insufficient'
      -- The last guard, because it counts what it lets through.
      when asked.daily_payments_max is not null and count_for_day(
        'payments', asked.app_id, asked.book, asked.amount, asked.daily_payments_max, asked.now
      ) is not null then 'daily_limit'
      else 'paid'
    end;
    if outcome = 'paid' then
      v_fee := payment_fee(asked.amount, coalesce(asked.fee_rate, p_fee_rate));
      v_balances[v_from] := v_balances[v_from] - asked.amount;
      v_balances[v_to] := v_balances[v_to] + asked.amount - v_fee;
      v_paid_by[item] := asked.payer_id;
      v_count := v_count + 1;
      v_order_ids[v_count] := asked.order_id;
      v_paid_books[v_count] := asked.book;
      v_references[v_count] := asked.transaction_id;
      v_payer_ids[v_count] := asked.payer_id;
      v_payee_ids[v_count] := asked.payee_id;
      v_fees[v_count] := v_fee;
      v_paid_ats[v_count] := asked.now;
      v_places := v_places || array[v_count, v_count, v_count];
      v_account_ids := v_account_ids || array[asked.payer_wallet_id, asked.merchant_wallet_id, asked.fee_account_id];
      v_amounts := v_amounts || array[-asked.amount, asked.amount - v_fee, v_fee];
    end if;
    return next;
  end loop;
  if v_count = 0 then return; end if;

  v_journal_ids := post_journals(
    'payment', v_paid_books, v_references, v_payer_ids, null, v_paid_ats, v_places, v_account_ids, v_amounts
  );
  update orders as o
  set status = 'paid', payer_id = paid.payer_id, payee_id = paid.payee_id, fee = paid.fee,
      merchant_points = o.amount - paid.fee, paid_at = paid.at, journal_id = paid.journal_id, updated_at = paid.at
  from unnest(v_order_ids, v_payer_ids, v_payee_ids, v_fees, v_paid_ats, v_journal_ids)
    as paid (id, payer_id, payee_id, fee, at, journal_id)
  where o.id = paid.id;
  insert into notifications (order_id, next_attempt_at)
  select paid.id, paid.at
  from unnest(v_order_ids, v_paid_ats) as paid (id, at)
  cross join lateral (select notify_url from orders where id = paid.id offset 0) as o
  where o.notify_url is not null;
end
$$;
drop function pay_order(text, bigint, bigint, timestamptz, numeric);

-- Transfers, each once per (application, order_id), in one transaction and in the order given. Outcomes, never
-- raised:
--   completed · exists (the same request before: its result) · changed (same order_id, other recipient or amount)
--   · reversed · unusable (the application is not approved) · mismatch (id and username are not one member)
--   · to_self · below_minimum · above_maximum · daily_limit (the sender's or the application's)
--   · insufficient · too_large · purse_frozen (the sender's)
-- Rates and bounds come by trust level 0 to 4; a null daily limit is none. Every wallet that an item will touch is
-- locked first, by id. Equal order_ids meet there too: they belong to one application, so to one sender's wallet, and
-- the second finds what the first has written.
create or replace function post_transfers(
  p_app_ids bigint[], p_order_ids text[], p_transaction_ids text[], p_to_user_ids bigint[], p_to_usernames text[],
  p_amounts bigint[], p_nows timestamptz[], p_rates numeric[], p_minimums bigint[], p_maximums bigint[],
  p_daily_limits bigint[]
) returns table (item integer, result transfer_result) language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  c_points_max constant bigint := 9007199254740991;
  v_user_ids bigint[];
  v_books text[];
  v_wallet_ids bigint[];
  v_balances bigint[];
  v_frozen boolean[];
  -- By wallet: the day in which its owner's last transfer counts, and what it had come to.
  v_days date[];
  v_day_points numeric[];
  -- The transfer of the item's order_id, after the item.
  v_standing transfer_result[];
  asked record;
  v_from integer;
  v_to integer;
  v_day date;
  v_today numeric;
  v_app_today bigint;
  -- What is to be written, transfer by transfer; of its three lines each.
  v_count integer := 0;
  v_items integer[];
  v_done_books text[];
  v_done transfer_result[];
  v_done_days date[];
  v_done_points numeric[];
  v_places integer[];
  v_account_ids bigint[];
  v_amounts bigint[];
  v_journal_ids bigint[];
begin
  select array_agg(party.user_id), array_agg(party.book) into v_user_ids, v_books
  from (
    select distinct a.book, member.id as user_id
    from unnest(p_app_ids, p_to_user_ids) as i (app_id, to_user_id)
    cross join lateral (select book, applicant_id from payment_apps where id = i.app_id offset 0) as a
    cross join lateral (values (a.applicant_id), (i.to_user_id)) as party (user_id)
    cross join lateral (select id from users where id = party.user_id offset 0) as member
  ) as party;
  select ids, balances, frozen into v_wallet_ids, v_balances, v_frozen from lock_wallets(v_user_ids, v_books);

  for asked in
    select i.place::integer, i.transaction_id, i.to_user_id, i.amount, i.now, i.app_id,
      lag(i.place) over (partition by i.app_id, i.order_id order by i.place) as same_before,
      app.status as app_status, app.book, app.daily_transfers_max,
      sender.id as from_user_id, sender.username as from_username, from_wallet.id as from_wallet_id,
      sender.trust_level + 1 as level, last.day as last_day, last.day_points as last_day_points,
      recipient.username as to_username, to_wallet.id as to_wallet_id, fees.id as fee_account_id,
      row(
        null, null, null, before.transaction_id, before.status, before.amount, before.fee,
        before.from_user_id, before.from_username, before.to_user_id, before.to_username, before.paid_at
      )::transfer_result as standing
    from unnest(p_app_ids, p_order_ids, p_transaction_ids, p_to_user_ids, p_to_usernames, p_amounts, p_nows)
      with ordinality as i (app_id, order_id, transaction_id, to_user_id, to_username, amount, now, place)
    cross join lateral (
      select status, book, daily_transfers_max, applicant_id from payment_apps where id = i.app_id offset 0
    ) as app
    cross join lateral (select id, username, trust_level from users where id = app.applicant_id offset 0) as sender
    cross join lateral (
      select id from ledger_accounts where user_id = sender.id and book = app.book and kind = 'wallet' offset 0
    ) as from_wallet
    left join lateral (
      select day, day_points from transfers where from_user_id = sender.id and book = app.book order by id desc limit 1
    ) as last on true
    left join lateral (
      select id, username from users where id = i.to_user_id and lower(username) = lower(i.to_username) offset 0
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
    if v_from is null then perform refuse_unlocked_wallet(asked.app_id); end if;
    v_days[v_from] := coalesce(v_days[v_from], asked.last_day);
    v_day_points[v_from] := coalesce(v_day_points[v_from], asked.last_day_points);
    -- A day begins at midnight where the forum's people live, as in the gateway's daily figures. Between processes whose
    -- clocks differ it has begun for a sender when the first of them says so.
    v_day := greatest((asked.now at time zone 'Asia/Shanghai')::date, v_days[v_from]);
    v_today := case when v_day = v_days[v_from] then v_day_points[v_from] else 0 end;

    result.amount := asked.amount;
    result.fee := transfer_fee(asked.amount, p_rates[asked.level]);
    result.outcome := case
      when asked.app_status <> 'approved' then 'unusable'
      when asked.to_username is null then 'mismatch'
      when asked.to_user_id = asked.from_user_id then 'to_self'
      when asked.amount < p_minimums[asked.level] then 'below_minimum'
      when asked.amount > p_maximums[asked.level] then 'above_maximum'
      when asked.amount + result.fee > c_points_max then 'too_large'
      when v_today + asked.amount > p_daily_limits[asked.level] then 'daily_limit'
      when v_frozen[v_from] then 'purse_frozen'
      when v_balances[v_from] < asked.amount + result.fee then 'insufficient'
      else 'completed'
    end;
    case result.outcome
      when 'below_minimum' then result.bound := p_minimums[asked.level];
      when 'above_maximum' then result.bound := p_maximums[asked.level];
      when 'daily_limit' then result.bound := p_daily_limits[asked.level]; result.have := v_today;
      when 'insufficient' then result.bound := asked.amount + result.fee; result.have := v_balances[v_from];
      else
    end case;
    -- The last guard, because it counts what it lets through.
    if result.outcome = 'completed' and asked.daily_transfers_max is not null then
      v_app_today := count_for_day(
        'transfers', asked.app_id, asked.book, asked.amount, asked.daily_transfers_max, asked.now
      );
      if v_app_today is not null then
        result.outcome := 'daily_limit'; result.bound := asked.daily_transfers_max; result.have := v_app_today;
      end if;
    end if;

    if result.outcome = 'completed' then
      result.transaction_id := asked.transaction_id;
      result.status := 'completed';
      result.from_user_id := asked.from_user_id;
      result.from_username := asked.from_username;
      result.to_user_id := asked.to_user_id;
      result.to_username := asked.to_username;
      result.paid_at := asked.now;
      v_standing[item] := result;
      v_to := array_position(v_wallet_ids, asked.to_wallet_id);
      v_balances[v_from] := v_balances[v_from] - asked.amount - result.fee;
      v_balances[v_to] := v_balances[v_to] + asked.amount;
      v_days[v_from] := v_day;
      v_day_points[v_from] := v_today + asked.amount;
      v_count := v_count + 1;
      v_items[v_count] := item;
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

  select post_journals(
    'transfer', v_done_books, array_agg(done.transaction_id), array_agg(done.from_user_id), null,
    array_agg(done.paid_at), v_places, v_account_ids, v_amounts
  ) into v_journal_ids
  from unnest(v_done) as done;
  insert into transfers (
    app_id, book, order_id, transaction_id, amount, fee, from_user_id, from_username, to_user_id, to_username, paid_at,
    day, day_points, journal_id
  )
  select p_app_ids[done.item], done.book, p_order_ids[done.item], (done.transfer).transaction_id, (done.transfer).amount, (done.transfer).fee,
    (done.transfer).from_user_id, (done.transfer).from_username, (done.transfer).to_user_id, (done.transfer).to_username, (done.transfer).paid_at,
    done.day, done.day_points, done.journal_id
  from (
    select v_items[n] as item, v_done_books[n] as book, v_done[n] as transfer, v_done_days[n] as day, v_done_points[n] as day_points,
      v_journal_ids[n] as journal_id
    from generate_series(1, v_count) as n
    offset 0
  ) as done
  order by done.item;
end
$$;
drop function post_transfer(
  bigint, text, text, bigint, text, bigint, timestamptz, numeric[], bigint[], bigint[], bigint[]
);
-- Places orders: each new, or the one that has its door's order_id already. That one stays as it is; only if its time
-- is over and it asks for the same amount (of the gateway: the same money) does its time begin again. Of two in one
-- batch that are the same, the first is placed and both are answered with it.
create or replace function place_orders(p_orders jsonb) returns table (item integer, placed orders) language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  v_new bigint;
  v_existing bigint[];
begin
  insert into orders (
    app_id, book, door, order_id, transaction_id, description, amount, expires_at, created_at, updated_at,
    trade_no, protocol, pid_sent, money, rate, type, param, notify_url, return_url
  )
  select asked.app_id, app.book, asked.door, asked.order_id, asked.transaction_id, asked.description, asked.amount,
    asked.expires_at, asked.now, asked.now,
    asked.trade_no, asked.protocol, asked.pid_sent, asked.money, asked.rate, asked.type, asked.param,
    asked.notify_url, asked.return_url
  from jsonb_to_recordset(p_orders) as asked (
    item integer, app_id bigint, door text, order_id text, transaction_id text, description text, amount bigint,
    expires_at timestamptz, now timestamptz,
    trade_no text, protocol text, pid_sent text, money text, rate numeric, type text, param text, notify_url text,
    return_url text
  )
  cross join lateral (select book from payment_apps where id = asked.app_id offset 0) as app
  -- By key, so that two batches at once do not wait for each other's new rows in a circle.
  order by asked.app_id, asked.door, asked.order_id, asked.item
  on conflict on constraint orders_order_id_key do nothing;
  get diagnostics v_new = row_count;

  if v_new < jsonb_array_length(p_orders) then
    select array_agg(o.id) into v_existing
    from jsonb_to_recordset(p_orders) as asked (app_id bigint, door text, order_id text)
    cross join lateral (select book from payment_apps where id = asked.app_id offset 0) as app
    cross join lateral (
      select id from orders
      where app_id = asked.app_id and book = app.book and door = asked.door and order_id = asked.order_id
      offset 0
    ) as o;
    -- By id, as payments lock them.
    perform from orders where id = any (v_existing) order by id for update;
    update orders as existing
    set status = 'unpaid', expires_at = asked.expires_at, updated_at = asked.now
    from jsonb_to_recordset(p_orders) as asked (
      app_id bigint, door text, order_id text, amount bigint, money text, expires_at timestamptz, now timestamptz
    )
    where existing.id = any (v_existing)
      and existing.app_id = asked.app_id and existing.door = asked.door and existing.order_id = asked.order_id
      -- Only an order that nobody can pay any more is opened again.
      and existing.status in ('unpaid', 'expired') and existing.expires_at <= asked.now
      and coalesce(existing.money::numeric = asked.money::numeric, existing.amount = asked.amount);
  end if;

  return query
    select asked.item, o.facts
    from jsonb_to_recordset(p_orders) as asked (item integer, app_id bigint, door text, order_id text)
    cross join lateral (select book from payment_apps where id = asked.app_id offset 0) as app
    cross join lateral (
      select orders as facts from orders
      where app_id = asked.app_id and book = app.book and door = asked.door and order_id = asked.order_id
      offset 0
    ) as o;
end
$$;

-- Orders of the HMAC door by their transaction_ids, each asked for by the application that it must belong to.
create or replace function find_orders(p_app_ids bigint[], p_transaction_ids text[])
  returns table (item integer, found orders) language plpgsql stable
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
begin
  return query
    select asked.item::integer, o.facts
    from unnest(p_app_ids, p_transaction_ids) with ordinality as asked (app_id, transaction_id, item)
    cross join lateral (
      select orders as facts from orders
      where transaction_id = asked.transaction_id and app_id = asked.app_id and door = 'hmac'
      offset 0
    ) as o;
end
$$;
