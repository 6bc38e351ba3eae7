-- Payouts: many transfers under one reference, made by the worker piece by piece. spec/payouts 2.1–2.4.
--
-- A line is the transfer of the order_id `payout:<reference>:<line_id>`, so no crash pays it twice. A line_id has no colon, so two
-- lines never have one order_id. The results of a piece are written with its transfers.

-- The outcomes of post_transfers that refuse no line: it stays pending, and the payout halts. Resumed, it goes on there.
create or replace function halting_outcomes() returns text[] language sql immutable parallel safe as $$
  select array['insufficient', 'daily_limit', 'wallet_frozen', 'unusable']
$$;

-- Judges transfers of one application in their order, as post_transfers would, on a balance that it carries along. It locks, moves and
-- stores nothing. is_suspended says that the recipient is suspended or banned, and receives nevertheless.
create or replace function judge_transfers(
  p_asked asked_transfer[], p_rates numeric[], p_minimums bigint[], p_maximums bigint[], p_daily_limits bigint[]
) returns table (item integer, outcome text, fee bigint, bound bigint, have bigint, is_suspended boolean) language plpgsql as $$
#variable_conflict use_column
declare
  c_points_max constant bigint := 9007199254740991;
  f record;
  v_balance bigint;
  v_is_frozen boolean;
  v_today numeric;
  v_app_today numeric;
begin
  for f in select * from transfer_facts(p_asked) as facts order by facts.item loop
    if v_balance is null then
      select balance, frozen_at is not null into v_balance, v_is_frozen from ledger_accounts where id = f.from_wallet_id;
      v_balance := coalesce(v_balance, case when f.book = 'test' then play_points() else 0 end);
      v_today := case when f.last_day >= (f.now at time zone 'Asia/Shanghai')::date then f.last_day_points else 0 end;
      v_app_today := case when f.daily_transfers_max is not null then transferred_between(
        f.app_id, (f.now at time zone 'Asia/Shanghai')::date::timestamp at time zone 'Asia/Shanghai', 'infinity'
      ) end;
    end if;
    item := f.item;
    bound := null;
    have := null;
    fee := transfer_fee(f.amount, p_rates[f.level]);
    outcome := case
      when (f.before).transaction_id is not null then case
        when (f.before).to_user_id <> f.to_user_id or (f.before).amount <> f.amount then 'changed'
        when (f.before).status = 'reversed' then 'reversed'
        else 'exists'
      end
      when f.expected_user_id <> f.from_user_id or f.app_status <> 'approved' then 'unusable'
      when f.to_username is null then 'mismatch'
      when f.to_user_id = f.from_user_id then 'to_self'
      when f.amount < p_minimums[f.level] then 'below_minimum'
      when f.amount > p_maximums[f.level] then 'above_maximum'
      when f.amount + fee > c_points_max then 'too_large'
      when v_today + f.amount > p_daily_limits[f.level] then 'daily_limit'
      when v_is_frozen then 'wallet_frozen'
      when v_balance < f.amount + fee then 'insufficient'
      when v_app_today + f.amount > f.daily_transfers_max then 'daily_limit'
      else 'completed'
    end;
    case outcome
      when 'below_minimum' then bound := p_minimums[f.level];
      when 'above_maximum' then bound := p_maximums[f.level];
      when 'daily_limit' then
        if v_today + f.amount > p_daily_limits[f.level] then
          bound := p_daily_limits[f.level]; have := v_today;
        else
          bound := f.daily_transfers_max; have := v_app_today;
        end if;
      when 'insufficient' then bound := f.amount + fee; have := v_balance;
      when 'completed' then
        v_balance := v_balance - f.amount - fee;
        v_today := v_today + f.amount;
        v_app_today := v_app_today + f.amount;
      else
    end case;
    is_suspended := coalesce((
      select is_banned_or_suspended(is_banned, suspended_till, f.now) from users where id = f.to_user_id
    ), false);
    return next;
  end loop;
end
$$;

-- Starts the first waiting payout of each application that has none running.
create or replace function start_payouts(p_now timestamptz) returns void language plpgsql as $$
declare
  v_id bigint;
begin
  for v_id in
    select min(id) from payouts as first
    where status = 'waiting' and not exists (select from payouts where app_id = first.app_id and status = 'running')
    group by app_id
  loop
    perform from payouts where id = v_id and status = 'waiting' for no key update skip locked;
    continue when not found;
    begin
      update payouts set status = 'running', updated_at = p_now where id = v_id;
    exception when unique_violation then
      -- Another worker started one of the same application meanwhile.
      null;
    end;
  end loop;
end
$$;

-- Makes the transfers of the next pending lines, as many as there are transaction ids, in their order. It skips locked wallets.
create or replace function post_payout_lines(
  p_payout payouts, p_transaction_ids text[], p_now timestamptz, p_rates numeric[], p_minimums bigint[], p_maximums bigint[],
  p_daily_limits bigint[]
) returns judged_line[] language plpgsql as $$
begin
  return (
    select array_agg(row(
      piece.ns[posted.item], (posted.result).outcome, (posted.result).outcome in ('completed', 'exists'), posted.locked,
      (posted.result).transaction_id, (posted.result).fee, (posted.result).bound, (posted.result).have
    )::judged_line order by posted.item)
    from (
      select array_agg(line.n order by line.n) as ns, array_agg(row(
        p_payout.app_id, 'payout:' || p_payout.reference || ':' || line.line_id, p_transaction_ids[line.place], line.to_user_id,
        line.to_username, line.amount, p_now, p_payout.owner_id
      )::asked_transfer order by line.n) as asked
      from (
        select n, line_id, to_user_id, to_username, amount, (row_number() over (order by n))::integer as place
        from payout_lines where payout_id = p_payout.id and status = 'pending'
        order by n limit cardinality(p_transaction_ids)
      ) as line
    ) as piece
    cross join lateral post_transfers(piece.asked, p_rates, p_minimums, p_maximums, p_daily_limits, true) as posted
  );
end
$$;

-- What a payout's lines are: their counts by result, their points and fees, and what the paid ones cost with their fees.
create or replace function payout_sums(p_id bigint) returns table (
  count integer, pending integer, paid integer, refused integer, cancelled integer, amount bigint, fee bigint, paid_total bigint
) language sql stable as $$
  select count(*)::integer,
    (count(*) filter (where status = 'pending'))::integer, (count(*) filter (where status = 'paid'))::integer,
    (count(*) filter (where status = 'refused'))::integer, (count(*) filter (where status = 'cancelled'))::integer,
    sum(line.amount)::bigint, sum(line.fee)::bigint,
    coalesce(sum(line.amount + line.fee) filter (where status = 'paid'), 0)::bigint
  from payout_lines as line where payout_id = p_id
$$;

-- Runs the next piece of a payout in one transaction. It answers no row when another worker has the payout, or when it does not run
-- any more. Otherwise: its status afterwards, the row that its first busy line waits for, and the outcomes of the lines.
-- The next run awaits that row before it takes the payout's, and holds no lock while it waits. After the payout's row it waits for
-- no wallet, so an act that holds wallets may wait for the payout.
-- With the mode `all` it makes the transfers of all lines, or undoes them. A busy line then undoes them for this time.
-- p_halts_for halts the payout at once, such as transfers_off.
create or replace function run_payout(
  p_id bigint, p_halts_for text, p_waits_for text, p_transaction_ids text[], p_now timestamptz, p_rates numeric[],
  p_minimums bigint[], p_maximums bigint[], p_daily_limits bigint[]
) returns table (status text, locked text, outcomes text[]) language plpgsql as $$
#variable_conflict use_column
declare
  v_payout payouts;
  v_judged judged_line[];
  v_is_undone boolean := false;
  v_reason text := p_halts_for;
begin
  if p_waits_for is not null then perform await_row(p_waits_for); end if;
  select * into v_payout from payouts where id = p_id and payouts.status = 'running' for no key update skip locked;
  if not found then return; end if;
  if p_halts_for is null then
    begin
      v_judged := post_payout_lines(
        v_payout, p_transaction_ids, p_now, p_rates, p_minimums, p_maximums, p_daily_limits
      );
      v_is_undone := v_payout.mode = 'all' and exists (
        select from unnest(v_judged) as judged where not judged.is_made
      );
      if v_is_undone then raise exception 'not every line can be paid' using errcode = 'PO001'; end if;
    exception when sqlstate 'PO001' then
      -- The transfers are undone. The variables keep what was judged.
      null;
    end;
    select (array_agg(judged.locked order by judged.n) filter (where judged.locked is not null))[1],
      array_agg(judged.outcome order by judged.n)
    into locked, outcomes from unnest(v_judged) as judged;
    status := 'running';
    if v_is_undone and locked is not null then return next; return; end if;

    update payout_lines as line
    set status = case when not judged.is_made then 'refused' when v_is_undone then 'cancelled' else 'paid' end,
        outcome = case when not judged.is_made then judged.outcome end,
        bound = judged.bound, have = judged.have,
        fee = case when judged.is_made and not v_is_undone then judged.fee else line.fee end,
        transfer_id = case when judged.is_made and not v_is_undone then (
          select id from transfers where transaction_id = judged.transaction_id
        ) end
    from unnest(v_judged) as judged
    where line.payout_id = p_id and line.n = judged.n and judged.locked is null
      and (v_is_undone or judged.outcome <> all (halting_outcomes()));
    if not v_is_undone then
      select judged.outcome into v_reason from unnest(v_judged) as judged
      where judged.outcome = any (halting_outcomes()) order by judged.n limit 1;
    end if;
  end if;
  status := case
    when v_is_undone then 'refused'
    when v_reason is not null then 'halted'
    when exists (select from payout_lines as line where line.payout_id = p_id and line.status = 'pending') then 'running'
    else 'finished'
  end;
  if status <> 'running' then
    update payouts
    set status = run_payout.status, updated_at = p_now,
        reason = case when v_is_undone then 'lines_refused' else v_reason end,
        halted_at = case when v_reason is not null then p_now end,
        finished_at = case when v_reason is null then p_now end
    where id = p_id;
    perform write_payout_event(case status when 'halted' then 'payout.halted' else 'payout.finished' end, p_id);
  end if;
  return next;
end
$$;

-- Cancels those of these payouts that have not ended: paid lines stay, and pending ones are never paid. It waits for a piece under way.
-- Answers with how many it cancelled.
create or replace function cancel_payouts(p_ids bigint[], p_reason text, p_now timestamptz) returns integer
  language plpgsql as $$
declare
  v_id bigint;
  v_count integer := 0;
begin
  for v_id in
    select id from payouts where id = any (p_ids) and finished_at is null order by id for no key update
  loop
    update payout_lines set status = 'cancelled' where payout_id = v_id and status = 'pending';
    update payouts
    set status = 'cancelled', reason = p_reason, halted_at = null, finished_at = p_now, updated_at = p_now
    where id = v_id;
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;

-- A payout keeps what was asked, and its end. Only a draft can be deleted, with its lines.
create or replace function refuse_other_payout() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.finished_at is null
    and (old.app_id, old.book, old.reference, old.mode, old.owner_id, old.fingerprint, old.created_at)
      is not distinct from (new.app_id, new.book, new.reference, new.mode, new.owner_id, new.fingerprint, new.created_at)
    and (new.status <> 'draft' or old.status = 'draft')
    or tg_op = 'DELETE' and old.status = 'draft'
  then
    return coalesce(new, old);
  end if;
  raise exception 'payout % keeps what was asked, and its end', old.reference
    using errcode = 'check_violation', constraint = 'payouts_unchanged';
end
$$;
create or replace trigger payouts_unchanged before update or delete on payouts
  for each row execute function refuse_other_payout();

-- A line keeps what was asked but for its memo, which is only ever emptied, and its result. It goes with a deleted draft.
create or replace function refuse_other_line() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and not exists (select from payouts where id = old.payout_id)
    or tg_op = 'UPDATE'
    and (old.payout_id, old.n, old.line_id, old.to_user_id, old.to_username, old.amount)
      is not distinct from (new.payout_id, new.n, new.line_id, new.to_user_id, new.to_username, new.amount)
    and (old.status = 'pending' or (old.status, old.outcome, old.fee, old.transfer_id)
      is not distinct from (new.status, new.outcome, new.fee, new.transfer_id))
    and new.memo in (old.memo, '')
  then
    return coalesce(new, old);
  end if;
  raise exception 'line % of payout % keeps what was asked, and its result', old.n, old.payout_id
    using errcode = 'check_violation', constraint = 'payout_lines_unchanged';
end
$$;
create or replace trigger payout_lines_unchanged before update or delete on payout_lines
  for each row execute function refuse_other_line();
