-- Points out of nothing and back into it, by lines: one of a grant, thousands of a file, in one statement each. It takes
-- the place of adjust_points, which did one line and was called for each.

-- What would become of the lines if they were posted now, for each of them:
--   posted · repeated (its reference stands for just this) · changed (its reference stands for another member, amount or
--   reason) · not_found (no such member, or an anonymised one) · too_many (more than can be counted) · insufficient
-- Of one member, what is given counts before what is taken, wherever the lines stand: what matters is where they end. A
-- line is at fault from which on they cannot. A frozen purse is corrected like any other. Without a reason any is the same.
create function judge_points(p_user_ids bigint[], p_amounts bigint[], p_references text[], p_reason text)
  returns table (item integer, outcome text) language plpgsql stable
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  c_points_max constant bigint := 9007199254740991;
  v_issued bigint;
begin
  select -balance into strict v_issued from ledger_accounts where kind = 'issuance' and book = 'live';
  return query
    select line.place::integer, case
        when before.is_same then 'repeated'
        when not before.is_same then 'changed'
        when member.id is null then 'not_found'
        when line.amount > 0 and greatest(held.balance + line.given, v_issued + line.given_to_all) > c_points_max
          then 'too_many'
        when line.amount < 0 and held.balance + line.given_in_all < line.taken then 'insufficient'
        else 'posted'
      end
    from (
      select asked.*,
        sum(greatest(asked.amount, 0)) over (order by asked.place) as given_to_all,
        sum(greatest(asked.amount, 0)) over of_member as given,
        sum(-least(asked.amount, 0)) over of_member as taken,
        sum(greatest(asked.amount, 0)) over (partition by asked.user_id) as given_in_all
      from unnest(p_user_ids, p_amounts, p_references) with ordinality as asked (user_id, amount, reference, place)
      window of_member as (partition by asked.user_id order by asked.place)
    ) as line
    left join lateral (
      select id from users where id = line.user_id and anonymised_at is null offset 0
    ) as member on true
    left join lateral (
      select id, balance from ledger_accounts where user_id = line.user_id and book = 'live' and kind = 'wallet' offset 0
    ) as wallet on true
    cross join lateral (values (coalesce(wallet.balance, 0))) as held (balance)
    left join lateral (
      select journal.reason = coalesce(p_reason, journal.reason) and exists (
          select from entries as e
          where e.journal_id = journal.id and e.account_id = wallet.id and e.amount = line.amount
          offset 0
        ) as is_same
      from journal
      where journal.kind in ('grant', 'adjustment') and journal.reference = line.reference and journal.book = 'live'
      order by is_same
      limit 1
    ) as before on true
    order by line.place;
end
$$;

-- Posts the lines, each a journal of its own against the issuance account, if every one of them can be; otherwise nothing
-- moves. What is given is a grant, what is taken an adjustment. Answers what judge_points does. Wallets are made where
-- there are none, and locked as payments lock them; the issuance account comes last, and everybody who posts points
-- passes by there: so a reference that is not seen then is not on its way either.
create function post_points(
  p_user_ids bigint[], p_amounts bigint[], p_references text[], p_reason text, p_actor_id bigint, p_now timestamptz
) returns table (item integer, outcome text) language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  v_member_ids bigint[];
  v_issuance_id bigint;
  v_outcomes text[];
  v_kind text;
  v_count integer;
  v_references text[];
  v_wallet_ids bigint[];
  v_amounts bigint[];
  v_counter_amounts bigint[];
  v_places integer[];
begin
  select array_agg(member.id) into v_member_ids
  from (select distinct asked.user_id from unnest(p_user_ids) as asked (user_id)) as party
  cross join lateral (select id from users where id = party.user_id and anonymised_at is null offset 0) as member;
  if v_member_ids is not null then
    perform lock_wallets(v_member_ids, array_fill('live'::text, array[cardinality(v_member_ids)]));
  end if;
  select id into strict v_issuance_id from ledger_accounts where kind = 'issuance' and book = 'live' for update;

  select array_agg(judged.outcome order by judged.item) into v_outcomes
  from judge_points(p_user_ids, p_amounts, p_references, p_reason) as judged;
  if 'posted' = all (v_outcomes) then
    foreach v_kind in array array['grant', 'adjustment'] loop
      select array_agg(line.reference order by line.place), array_agg(wallet.id order by line.place),
        array_agg(line.amount order by line.place), array_agg(-line.amount order by line.place), count(*)
      into v_references, v_wallet_ids, v_amounts, v_counter_amounts, v_count
      from unnest(p_user_ids, p_amounts, p_references) with ordinality as line (user_id, amount, reference, place)
      cross join lateral (
        select id from ledger_accounts where user_id = line.user_id and book = 'live' and kind = 'wallet' offset 0
      ) as wallet
      where (line.amount > 0) = (v_kind = 'grant');
      continue when v_count = 0;
      v_places := array(select generate_series(1, v_count));
      perform post_journals(
        v_kind, array_fill('live'::text, array[v_count]), v_references, array_fill(p_actor_id, array[v_count]), p_reason,
        array_fill(p_now, array[v_count]), v_places || v_places,
        v_wallet_ids || array_fill(v_issuance_id, array[v_count]), v_amounts || v_counter_amounts
      );
    end loop;
  end if;
  return query select told.place::integer, told.outcome from unnest(v_outcomes) with ordinality as told (outcome, place);
end
$$;

drop function adjust_points(text, bigint, bigint, text, text, bigint, timestamptz);
