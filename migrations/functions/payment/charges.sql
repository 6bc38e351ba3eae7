-- Charges: orders that are paid under mandates, without the member.

-- 1. What is locked first: the mandates, by id.
create or replace function lock_mandates(p_asked asked_charge[], p_skips boolean) returns bigint[] language plpgsql as $$
declare
  v_ids bigint[];
begin
  select array_agg(m.id) into v_ids
  from (select distinct i.app_id, i.mandate_id from unnest(p_asked) as i) as i
  cross join lateral (select id from mandates where mandate_id = i.mandate_id and app_id = i.app_id offset 0) as m;
  if p_skips then
    select array_agg(free.id) into v_ids
    from (select id from mandates where id = any (v_ids) order by id for no key update skip locked) as free;
  else
    perform from mandates where id = any (v_ids) order by id for no key update;
  end if;
  return v_ids;
end
$$;

-- 1. What is locked next: the wallets of members and owners, by id. Two requests with one order_id meet at the owner's wallet.
create or replace function lock_charge_wallets(p_asked asked_charge[], p_mandate_ids bigint[], p_skips boolean)
  returns locked_wallets language plpgsql as $$
begin
  return (
    select lock_wallets(array_agg(party.user_id), array_agg(party.book), p_skips)
    from (
      select distinct app.book, member.user_id
      from unnest(p_asked) as i
      cross join lateral (select book, applicant_id from payment_apps where id = i.app_id offset 0) as app
      left join lateral (
        select user_id from mandates
        where mandate_id = i.mandate_id and app_id = i.app_id and id = any (p_mandate_ids)
        offset 0
      ) as m on true
      cross join lateral (values (m.user_id), (app.applicant_id)) as member (user_id)
      where member.user_id is not null
    ) as party
  );
end
$$;

-- 2. The holder of each item's access token, by item. The token of a banned member counts too. Otherwise the outcome
-- would show whether the member is banned or the wallet is frozen.
create or replace function token_holders(p_asked asked_charge[]) returns token_holder[] language plpgsql stable as $$
begin
  if not exists (select from unnest(p_asked) as i where i.token_hash is not null) then return null; end if;
  return array(
    select live.holder
    from unnest(p_asked) with ordinality as i
    left join (
      select token.item, row((token.member).id, linked.client_id, linked.owner_id)::token_holder as holder
      from live_access_tokens(
        array(select token_hash from unnest(p_asked)), array(select now from unnest(p_asked))
      ) as token
      cross join lateral (select client_id, owner_id from oauth_apps where id = token.app_id offset 0) as linked
    ) as live on live.item = i.ordinality
    order by i.ordinality
  );
end
$$;

-- 2. What each item is judged by, read under the locks. `member_level` counts trust levels from 1.
create or replace function charge_facts(p_asked asked_charge[]) returns setof charge_facts language plpgsql as $$
begin
  return query
    select i.ordinality::integer, p_asked[i.ordinality],
      lag(i.ordinality) over (partition by i.app_id, i.order_id order by i.ordinality)::integer,
      min(i.ordinality) over (partition by i.app_id, i.mandate_id)::integer,
      app.book, app_status(app.status, owner.is_banned, owner.suspended_till, i.now), app.applicant_id,
      app.mandate_right, app.mandate_daily_max, app.fee_rate, app.daily_payments_max, app.oauth_client_id,
      app.events_url is not null,
      m.facts, member.trust_level + 1, is_banned_or_suspended(member.is_banned, member.suspended_till, i.now),
      counted.period, case when last.mandate_period = counted.period then last.mandate_spent else 0 end,
      coalesce(lack.times, 0), lack.last_at,
      placed.status, placed.mandate_id, placed.amount,
      member_wallet.id, owner_wallet.id, fees.id
    from unnest(p_asked) with ordinality as i
    cross join lateral (
      select book, status, applicant_id, mandate_right, mandate_daily_max, fee_rate, daily_payments_max, oauth_client_id,
        events_url
      from payment_apps where id = i.app_id offset 0
    ) as app
    cross join lateral (select is_banned, suspended_till from users where id = app.applicant_id offset 0) as owner
    left join lateral (
      select mandates as facts from mandates where mandate_id = i.mandate_id and app_id = i.app_id offset 0
    ) as m on true
    left join lateral (
      select mandate_period, mandate_spent from orders where mandate_id = (m.facts).id
      order by mandate_period desc, mandate_spent desc limit 1
    ) as last on true
    -- The clocks of processes differ. A period begins for all when it begins for the first, and none opens again.
    cross join lateral (
      select greatest(
        mandate_period((m.facts).starts_on, (m.facts).period, mandate_day(i.now, (m.facts).test_days)), last.mandate_period
      ) as period
    ) as counted
    left join lateral (
      select times, last_at from mandate_refusals
      where mandate_id = (m.facts).id and period = counted.period and outcome = 'insufficient'
      offset 0
    ) as lack on true
    left join lateral (
      select trust_level, is_banned, suspended_till from users where id = (m.facts).user_id offset 0
    ) as member on true
    left join lateral (
      select status, mandate_id, amount from orders
      where app_id = i.app_id and book = app.book and door = 'hmac' and order_id = i.order_id
      offset 0
    ) as placed on true
    left join lateral (
      select id from ledger_accounts where user_id = (m.facts).user_id and book = app.book and kind = 'wallet' offset 0
    ) as member_wallet on true
    left join lateral (
      select id from ledger_accounts where user_id = app.applicant_id and book = app.book and kind = 'wallet' offset 0
    ) as owner_wallet on true
    cross join lateral (
      select id from ledger_accounts where kind = 'fee' and book = app.book offset 0
    ) as fees
    order by i.ordinality;
end
$$;

-- 3. What is judged: the guards of a new charge, in their order, each with its limit. p_balance is null where another transaction has
-- locked the member's wallet.
create or replace function judge_charge(
  f charge_facts, p_count mandate_count, p_holder token_holder, p_balance bigint, p_is_frozen boolean, p_is_on boolean,
  p_charge_maxes bigint[]
) returns charge_result language plpgsql as $$
declare
  c_lacks_max constant integer := 10;
  c_lacks_wait constant interval := '1 hour';
  m constant mandates := f.mandate;
  c_amount constant bigint := (f.asked).amount;
  c_now constant timestamptz := (f.asked).now;
  c_status constant text[] := mandate_status(m, f.applicant_id, c_now);
  r charge_result;
begin
  r.outcome := case
    when (f.asked).owner_id is distinct from f.applicant_id or f.app_status <> 'approved' then 'unusable'
    when not p_is_on or (f.book = 'live' and f.mandate_right <> 'granted') then 'not_allowed'
    when c_status[1] <> 'active' or c_status[2] is not null then 'inactive'
    when (m.with_token or (f.asked).token_hash is not null) and not coalesce(
      p_holder.user_id = m.user_id and p_holder.client_id = f.oauth_client_id and p_holder.owner_id = f.applicant_id, false
    ) then 'no_token'
    when m.kind = 'fixed' and c_amount <> m.charge_max then 'charge_limit'
    when c_amount > m.charge_max then 'charge_limit'
    when f.book = 'live' and c_amount > p_charge_maxes[f.member_level] then 'charge_limit'
    when p_count.spent + c_amount > m.period_max then 'period_limit'
    when p_balance is null then 'locked'
    when p_is_frozen or f.member_is_banned_or_suspended then 'wallet_frozen'
    when p_count.lacks >= c_lacks_max and p_count.lacked_at > c_now - c_lacks_wait then 'too_often'
    when p_balance < c_amount then 'insufficient'
    else 'completed'
  end;
  case r.outcome
    when 'inactive' then
      r.mandate_status := c_status[1];
      r.mandate_reason := c_status[2];
    when 'charge_limit' then
      r.is_exact := m.kind = 'fixed' and c_amount <> m.charge_max;
      r.bound := case
        when r.is_exact or f.book = 'test' then m.charge_max else least(m.charge_max, p_charge_maxes[f.member_level])
      end;
    when 'period_limit' then
      r.bound := m.period_max;
      r.period_spent := p_count.spent;
      r.period_left := greatest(m.period_max - p_count.spent, 0);
      r.resets_at := mandate_day_begins(next_mandate_period(m.starts_on, m.period, p_count.period), m.test_days);
    when 'too_often' then r.retry_at := p_count.lacked_at + c_lacks_wait;
    when 'insufficient' then r.bound := c_amount;
    when 'completed' then
      r.bound := count_charge(f);
      if r.bound is not null then r.outcome := 'daily_limit'; end if;
    else
  end case;
  return r;
end
$$;

-- 3. The last guard, because it counts the charges that pass: the application's limits of the day, for charges and for payments. It
-- looks at both before it counts. Answers with the limit that refuses the charge, or null once it is counted.
create or replace function count_charge(f charge_facts) returns bigint language plpgsql as $$
declare
  c_app_id constant bigint := (f.asked).app_id;
  c_amount constant bigint := (f.asked).amount;
  c_now constant timestamptz := (f.asked).now;
begin
  if f.mandate_daily_max is null and f.daily_payments_max is null then return null; end if;
  if f.mandate_daily_max is not null
    and points_of_day('charges', c_app_id, f.book, c_now) + c_amount > f.mandate_daily_max
  then
    return f.mandate_daily_max;
  end if;
  if f.daily_payments_max is not null
    and points_of_day('payments', c_app_id, f.book, c_now) + c_amount > f.daily_payments_max
  then
    return f.daily_payments_max;
  end if;
  update payment_app_days set points = points + c_amount
  where app_id = c_app_id and book = f.book and day = (c_now at time zone 'Asia/Shanghai')::date
    and act = any (array[
      case when f.mandate_daily_max is not null then 'charges' end,
      case when f.daily_payments_max is not null then 'payments' end
    ]);
  return null;
end
$$;

-- 5. What is recorded of charges: the journals, without an actor, because the member was not present; the orders; the notices; the
-- events. Orders are inserted in the order of their keys, as insert_orders inserts them.
create or replace function record_charges(p_made made_charge[]) returns void language plpgsql as $$
declare
  v_journal_ids constant bigint[] := post_journals('payment', null, array(
    select row(
      book, (asked).transaction_id, null, (asked).now, member_wallet_id, owner_wallet_id, fee_account_id, (asked).amount, fee
    )::posting from unnest(p_made)
  ));
begin
  with made as (
    insert into orders (
      app_id, book, door, order_id, transaction_id, description, amount, status, expires_at, created_at, updated_at,
      payer_id, payee_id, fee, merchant_points, paid_at, journal_id,
      mandate_id, mandate_period, mandate_spent, mandate_charge_max, mandate_period_max
    )
    select (made.asked).app_id, made.book, 'hmac', (made.asked).order_id, (made.asked).transaction_id, (made.asked).description,
      (made.asked).amount, 'paid', (made.asked).now, (made.asked).now, (made.asked).now,
      made.payer_id, made.payee_id, made.fee, (made.asked).amount - made.fee, (made.asked).now, made.journal_id,
      made.mandate_id, made.period, made.spent, made.charge_max, made.period_max
    from unnest(v_journal_ids, p_made) as made (journal_id)
    order by (made.asked).app_id, (made.asked).order_id
    returning id, mandate_id, paid_at
  )
  -- A digest is due when the day is over.
  insert into charge_notices (order_id, due_at)
  select made.id, case m.notice
      when 'each' then made.paid_at else mandate_day_begins(mandate_day(made.paid_at, 1), 0)
    end
  from made cross join lateral (select notice from mandates where id = made.mandate_id offset 0) as m;
  if exists (select from unnest(p_made) as made where made.has_event) then
    perform write_charge_events(array(
      select (made.asked).transaction_id from unnest(p_made) as made where made.has_event
    ));
  end if;
end
$$;

-- 5. What is recorded of refusals: how often each kind was met in a period, and the event of the first.
create or replace function record_refusals(p_refused refused_charge[]) returns void language plpgsql as $$
declare
  v_first refused_charge[];
begin
  with refused as (
    select mandate_id, period, (result).outcome, count(*) as times, min(item) as first_item, max(item) as last_item,
      min(now) as first_at, max(now) as last_at
    from unnest(p_refused)
    group by 1, 2, 3
  ), kept as (
    insert into mandate_refusals as kept (
      mandate_id, period, outcome, times, last_amount, last_order_id, first_at, last_at
    )
    select refused.mandate_id, refused.period, refused.outcome, refused.times, last.amount, last.order_id, first_at, last_at
    from refused join unnest(p_refused) as last on last.item = refused.last_item
    on conflict on constraint mandate_refusals_key do update
    set times = kept.times + excluded.times, last_amount = excluded.last_amount, last_order_id = excluded.last_order_id,
        last_at = greatest(kept.last_at, excluded.last_at)
    returning kept.mandate_id, kept.period, kept.outcome, kept.times
  )
  -- A row without earlier refusals is new.
  select array_agg(first order by first_item) into v_first
  from refused join kept using (mandate_id, period, outcome, times) join unnest(p_refused) as first on first.item = first_item;
  if v_first is not null then perform write_refusal_events(v_first); end if;
end
$$;

-- 6. What is answered: each item with its order if there is one. A repeated charge is answered as at first.
create or replace function charge_answers(p_asked asked_charge[], p_judged judged_charge[])
  returns table (item integer, result charge_result, charge orders, locked text) language plpgsql stable as $$
begin
  for place in 1 .. cardinality(p_asked) loop
    item := place;
    result := (p_judged[place]).result;
    locked := (p_judged[place]).locked;
    charge := null;
    if result.outcome in ('completed', 'exists', 'taken') then
      select o.* into charge
      from payment_apps as app
      cross join lateral (
        select * from orders as placed
        where placed.app_id = app.id and placed.book = app.book and placed.door = 'hmac'
          and placed.order_id = p_asked[place].order_id
        offset 0
      ) as o
      where app.id = p_asked[place].app_id;
    end if;
    if charge.mandate_id is not null then
      result.period_spent := charge.mandate_spent;
      result.period_left := charge.mandate_period_max - charge.mandate_spent;
      select mandate_day_begins(next_mandate_period(m.starts_on, m.period, charge.mandate_period), m.test_days)
      into result.resets_at
      from mandates as m where m.id = charge.mandate_id;
    end if;
    return next;
  end loop;
end
$$;

-- Charges under mandates in one transaction, in the order given, and answers in that order, each with its order if there is one.
-- Outcomes, never raised, in the order of their guards. Those of judge_charge begin with unusable:
--   taken (the order_id is an order paid by hand or still open) · changed (charged before with another mandate or amount)
--   · taken (a charge refunded in full) · exists (charged before, with this mandate and amount) · not_found
--   · locked (the mandate or the owner's wallet, or the application has changed hands meanwhile)
--   · unusable (the application is not approved, its owner is banned or suspended, a former owner knows the key, or it changed
--   hands since the signature was checked) · not_allowed (mandates are off, or the application has no right to them) · inactive
--   · no_token · charge_limit · period_limit · locked (the member's wallet) · wallet_frozen (the member's, or the member is banned or
--   suspended; a frozen owner still receives) · too_often (ten times insufficient in this period, the last within the hour)
--   · insufficient · daily_limit (of the application) · completed
-- `locked` names the row that another transaction has locked.
-- p_charge_maxes has the limit of one charge by trust level 0 to 4.
-- With p_skips it waits for no locked row, as pay_orders. Against an order that is placed at the same moment the unique key decides,
-- and the batch is run again item by item. It judges by the sums and balances after the items before, and writes at the end.
create or replace function charge_mandates(
  p_asked asked_charge[], p_is_on boolean, p_fee_rate numeric, p_charge_maxes bigint[], p_skips boolean default false,
  p_waits_for text default null
) returns table (item integer, result charge_result, charge orders, locked text) language plpgsql as $$
declare
  v_mandate_ids bigint[];
  v_wallets locked_wallets;
  v_holders token_holder[];
  -- By the first item with the mandate.
  v_counts mandate_count[];
  f charge_facts;
  m mandates;
  -- Positions in v_wallets.
  v_from integer;
  v_to integer;
  v_count mandate_count;
  v_fee bigint;
  r charge_result;
  j judged_charge;
  -- By item.
  v_judged judged_charge[];
  v_made made_charge[];
  v_refused refused_charge[];
begin
  if p_waits_for is not null then perform await_row(p_waits_for); end if;
  v_mandate_ids := lock_mandates(p_asked, p_skips);
  v_wallets := lock_charge_wallets(p_asked, v_mandate_ids, p_skips);
  v_holders := token_holders(p_asked);

  for f in select * from charge_facts(p_asked) loop
    m := f.mandate;
    v_from := array_position(v_wallets.ids, f.member_wallet_id);
    v_to := array_position(v_wallets.ids, f.owner_wallet_id);
    j := null;
    r := null;
    -- 3. What is judged. First the order with this order_id, of an earlier request or of an earlier item, and the locks.
    j.charged_with := coalesce(v_judged[f.same_before].charged_with, f.mandate_id_before);
    j.charged_amount := coalesce(v_judged[f.same_before].charged_amount, f.amount_before);
    r.outcome := case
      when j.charged_with is null and f.status_before is not null then 'taken'
      when j.charged_with is distinct from m.id and j.charged_with is not null then 'changed'
      when j.charged_with is not null and j.charged_amount is distinct from (f.asked).amount then 'changed'
      when j.charged_with is not null and f.status_before = 'refunded' then 'taken'
      when j.charged_with is not null then 'exists'
      when m.id is null then 'not_found'
      when v_to is null or not coalesce(m.id = any (v_mandate_ids), false) then 'locked'
    end;
    v_count := v_counts[f.first_of_mandate];
    if r.outcome is null then
      if v_count.period is null or v_count.period < f.period then
        v_count := row(f.period, f.spent, f.lacks, f.lacked_at);
      end if;
      r := judge_charge(
        f, v_count, v_holders[f.item], v_wallets.balances[v_from], v_wallets.frozen[v_from], p_is_on, p_charge_maxes
      );
    end if;

    -- 4. What moves: the member pays the amount. The owner gets it without the fee.
    case r.outcome
      when 'completed' then
        v_fee := payment_fee((f.asked).amount, coalesce(f.fee_rate, p_fee_rate));
        v_wallets.balances[v_from] := v_wallets.balances[v_from] - (f.asked).amount;
        v_wallets.balances[v_to] := v_wallets.balances[v_to] + (f.asked).amount - v_fee;
        v_count.spent := v_count.spent + (f.asked).amount;
        j.charged_with := m.id;
        j.charged_amount := (f.asked).amount;
        v_made := v_made || row(
          f.asked, f.book, m.user_id, f.applicant_id, v_fee, m.id, v_count.period, v_count.spent, m.charge_max, m.period_max,
          f.member_wallet_id, f.owner_wallet_id, f.fee_account_id, f.has_event
        )::made_charge;
      when 'insufficient' then
        v_count.lacks := v_count.lacks + 1;
        v_count.lacked_at := greatest(v_count.lacked_at, (f.asked).now);
      when 'locked' then
        j.locked := case
          when not coalesce(m.id = any (v_mandate_ids), false) then 'mandate ' || m.id
          when v_to is null then wallet_row(f.owner_wallet_id, f.book)
          else wallet_row(f.member_wallet_id, f.book)
        end;
      else
    end case;
    if r.outcome in ('inactive', 'charge_limit', 'period_limit', 'insufficient') and m.accepted_at is not null then
      v_refused := v_refused || row(
        f.item, m.id, period_of_refusal(m, r.outcome, v_count.period, (f.asked).now),
        (f.asked).order_id, (f.asked).amount, (f.asked).now, r
      )::refused_charge;
    end if;
    v_counts[f.first_of_mandate] := v_count;
    j.result := r;
    v_judged[f.item] := j;
  end loop;
  if v_made is not null then perform record_charges(v_made); end if;
  if v_refused is not null then perform record_refusals(v_refused); end if;
  return query select * from charge_answers(p_asked, v_judged);
end
$$;

-- Refuses to change a charge's mandate, its period and its caps. Without them the cap could be used again.
create or replace function refuse_charge_change() returns trigger language plpgsql as $$
begin
  raise exception 'the mandate of charge % cannot be changed', old.transaction_id
    using errcode = 'check_violation', constraint = 'orders_charge_kept';
end
$$;
create or replace trigger orders_charge_kept
  before update of mandate_id, mandate_period, mandate_spent, mandate_charge_max, mandate_period_max on orders
  for each row when (
    (old.mandate_id, old.mandate_period, old.mandate_spent, old.mandate_charge_max, old.mandate_period_max)
      is distinct from (new.mandate_id, new.mandate_period, new.mandate_spent, new.mandate_charge_max, new.mandate_period_max)
  )
  execute function refuse_charge_change();
