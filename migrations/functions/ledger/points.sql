-- Grants and adjustments: points out of the issuance account and back into it. One statement takes one line or thousands.

-- The outcome of each line if the lines were posted now:
--   posted · repeated (its reference did exactly this before) · changed (its reference belongs to another member, amount or
--   reason) · not_found (no such member, or an anonymised one) · too_many (more points than can be counted) · insufficient
-- For one member, grants count before deductions, in any order of the lines, because only the final balance matters. A
-- deduction is insufficient when it and those before it exceed the balance with all grants. A frozen wallet changes nothing.
-- A null reason matches every reason.
create or replace function judge_points(p_user_ids bigint[], p_amounts bigint[], p_references text[], p_reason text)
  returns table (item integer, outcome text) language plpgsql stable as $$
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

-- Posts the lines if every one of them can be posted. Otherwise nothing moves. Each line is a journal of its own: a grant when
-- it gives, an adjustment when it takes. It answers as judge_points. It opens missing wallets, and locks wallets as
-- payments lock them. The issuance account is locked last. Every act of this kind locks it, so a reference that is not
-- visible then is in no other transaction either.
create or replace function post_points(
  p_user_ids bigint[], p_amounts bigint[], p_references text[], p_reason text, p_actor_id bigint, p_now timestamptz
) returns table (item integer, outcome text) language plpgsql as $$
declare
  v_issuance_id bigint;
  v_outcomes text[];
  v_kind text;
  v_postings posting[];
begin
  perform lock_wallets(array_agg(member.id), array_agg('live'::text))
  from (select distinct asked.user_id from unnest(p_user_ids) as asked (user_id)) as party
  cross join lateral (select id from users where id = party.user_id and anonymised_at is null offset 0) as member;
  select id into strict v_issuance_id from ledger_accounts where kind = 'issuance' and book = 'live' for update;

  select array_agg(judged.outcome order by judged.item) into v_outcomes
  from judge_points(p_user_ids, p_amounts, p_references, p_reason) as judged;
  if 'posted' = all (v_outcomes) then
    foreach v_kind in array array['grant', 'adjustment'] loop
      select array_agg(
        row('live', line.reference, p_actor_id, p_now, wallet.id, v_issuance_id, null, -line.amount, 0)::posting
        order by line.place
      ) into v_postings
      from unnest(p_user_ids, p_amounts, p_references) with ordinality as line (user_id, amount, reference, place)
      cross join lateral (
        select id from ledger_accounts where user_id = line.user_id and book = 'live' and kind = 'wallet' offset 0
      ) as wallet
      where (line.amount > 0) = (v_kind = 'grant');
      if v_postings is not null then perform post_journals(v_kind, p_reason, v_postings); end if;
    end loop;
  end if;
  return query select told.place::integer, told.outcome from unnest(v_outcomes) with ordinality as told (outcome, place);
end
$$;
