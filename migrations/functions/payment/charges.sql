-- Charges: orders that are paid under mandates, without the member.

-- Charges under mandates in one transaction, in the order given, and answers in that order, each with its order if there is one.
-- Outcomes, never raised, in the order in which they are looked at:
--   completed · exists (charged before, with this mandate and amount) · changed (charged before with another mandate or amount)
--   · taken (the order_id is an order paid by hand or still open, or a charge refunded in full) · not_found · unusable (the
--   application is not approved, its owner is banned or suspended, a former owner knows the key, or it changed hands since the
--   signature was checked) · not_allowed (mandates are off, or the application has no right to them) · inactive · no_token
--   · charge_limit · period_limit · wallet_frozen (the member's, or the member is banned or suspended) · too_often (ten times
--   insufficient in this period, the last within the hour) · insufficient · daily_limit (of the application)
--   · busy (another transaction has locked the mandate or a wallet, or the application has changed hands meanwhile; `locked` names
--   the row)
-- p_owner_ids names the owner when the signature was checked; null where a former owner knows the key. p_token_hashes has the
-- hash of each sent access token. p_charge_maxes has the limit of one charge by trust level 0 to 4.
-- It locks the mandates by id, then the wallets by id, and reads everything else after that. With p_skips it waits for none of
-- them, as pay_orders. Two requests with one order_id meet at the owner's wallet. Against an order that is placed at the same
-- moment the unique key decides, and the batch is run again item by item. It judges by the sums and balances after the items
-- before, and writes at the end.
create or replace function charge_mandates(
  p_app_ids bigint[], p_mandate_ids text[], p_order_ids text[], p_transaction_ids text[], p_amounts bigint[],
  p_descriptions text[], p_nows timestamptz[], p_owner_ids bigint[], p_token_hashes bytea[], p_is_on boolean,
  p_fee_rate numeric, p_charge_maxes bigint[], p_skips boolean default false, p_awaited text default null
) returns table (item integer, result charge_result, charge orders, locked text) language plpgsql as $$
declare
  c_lacks_max constant integer := 10;
  c_lacks_wait constant interval := '1 hour';
  v_known_ids bigint[];
  v_locked_ids bigint[];
  v_user_ids bigint[];
  v_books text[];
  -- The locked wallets, and their balances as the batch goes on.
  v_wallet_ids bigint[];
  v_balances bigint[];
  v_frozen boolean[];
  -- The mandates, the period in which each counts, and as the batch goes on its sum, the refusals for want of points, and the
  -- time of the last of these.
  v_mandate_ids bigint[];
  v_periods date[];
  v_spent bigint[];
  v_lacks integer[];
  v_lacked_ats timestamptz[];
  -- By item: the mandate and the amount of the charge with its order_id, after the item was judged.
  v_charged_with bigint[];
  v_charged_amounts bigint[];
  v_results charge_result[];
  -- By item: the locked row of a busy one.
  v_rows text[];
  -- By item: the member of its access token, and the application that has the token, with its owner.
  v_token_user_ids bigint[];
  v_token_client_ids text[];
  v_token_owner_ids bigint[];
  live record;
  asked record;
  v_mandate mandates;
  r charge_result;
  v_at integer;
  v_period date;
  v_standing text[];
  -- Places in v_wallet_ids.
  v_from integer;
  v_to integer;
  v_fee bigint;
  -- The rows to write: one element for each charge, and three lines for each.
  v_count integer := 0;
  v_items integer[];
  v_done_books text[];
  v_done_mandates bigint[];
  v_done_periods date[];
  v_sums bigint[];
  v_charge_maxes bigint[];
  v_period_maxes bigint[];
  v_references text[];
  v_payer_ids bigint[];
  v_payee_ids bigint[];
  v_fees bigint[];
  v_paid_ats timestamptz[];
  v_places integer[];
  v_account_ids bigint[];
  v_amounts bigint[];
  v_journal_ids bigint[];
  -- The refusals to keep.
  v_refused_items integer[];
  v_refused_mandates bigint[];
  v_refused_periods date[];
  -- The charges and the first refusals of their kind in a period that the events tell.
  v_told text[];
  v_first_items integer[];
  v_first_mandates bigint[];
  v_first_periods date[];
begin
  -- 1. Locks.
  if p_awaited is not null then perform await_row(p_awaited); end if;
  select array_agg(m.id) into v_known_ids
  from (select distinct i.app_id, i.mandate_id from unnest(p_app_ids, p_mandate_ids) as i (app_id, mandate_id)) as i
  cross join lateral (select id from mandates where mandate_id = i.mandate_id and app_id = i.app_id offset 0) as m;
  if p_skips then
    select array_agg(free.id) into v_locked_ids
    from (select id from mandates where id = any (v_known_ids) order by id for no key update skip locked) as free;
  else
    perform from mandates where id = any (v_known_ids) order by id for no key update;
    v_locked_ids := v_known_ids;
  end if;

  select array_agg(party.user_id), array_agg(party.book) into v_user_ids, v_books
  from (
    select distinct app.book, member.user_id
    from unnest(p_app_ids, p_mandate_ids) as i (app_id, mandate_id)
    cross join lateral (select book, applicant_id from payment_apps where id = i.app_id offset 0) as app
    left join lateral (
      select user_id from mandates
      where mandate_id = i.mandate_id and app_id = i.app_id and id = any (v_locked_ids)
      offset 0
    ) as m on true
    cross join lateral (values (m.user_id), (app.applicant_id)) as member (user_id)
    where member.user_id is not null
  ) as party;
  select ids, balances, frozen into v_wallet_ids, v_balances, v_frozen from lock_wallets(v_user_ids, v_books, p_skips);

  -- 2. Each item's access token, mandate and application, read under the locks. A banned member's token counts, so that the
  -- outcome does not tell a ban from a frozen wallet.
  if array_remove(p_token_hashes, null) <> '{}' then
    for live in
      select token.item as place, (token.member).id as user_id, linked.client_id, linked.owner_id
      from live_access_tokens(p_token_hashes, p_nows) as token
      cross join lateral (select client_id, owner_id from oauth_apps where id = token.app_id offset 0) as linked
    loop
      v_token_user_ids[live.place] := live.user_id;
      v_token_client_ids[live.place] := live.client_id;
      v_token_owner_ids[live.place] := live.owner_id;
    end loop;
  end if;
  for asked in
    select i.place::integer, i.app_id, i.order_id, i.transaction_id, i.amount, i.now, i.owner_id, i.token_hash,
      lag(i.place) over (partition by i.app_id, i.order_id order by i.place) as same_before,
      app.book, app.applicant_id, app.mandate_right, app.mandate_daily_max, app.fee_rate, app.daily_payments_max,
      app_standing(app.status, owner.is_banned, owner.suspended_till, i.now) as app_status,
      m.facts as mandate, member.trust_level + 1 as level,
      is_banned_or_suspended(member.is_banned, member.suspended_till, i.now) as member_is_banned_or_suspended,
      counted.period, case when last.mandate_period = counted.period then last.mandate_spent else 0 end as spent,
      coalesce(lack.times, 0) as lacks, lack.last_at as lacked_at,
      before.status as before_status, before.mandate_id as before_mandate_id, before.amount as before_amount,
      member_wallet.id as member_wallet_id, owner_wallet.id as owner_wallet_id, fees.id as fee_account_id,
      app.oauth_client_id, app.events_url is not null as has_event
    from unnest(
      p_app_ids, p_mandate_ids, p_order_ids, p_transaction_ids, p_amounts, p_nows, p_owner_ids, p_token_hashes
    ) with ordinality as i (app_id, mandate_id, order_id, transaction_id, amount, now, owner_id, token_hash, place)
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
    -- A period has begun when the first process says so, and an earlier one never opens again.
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
    ) as before on true
    left join lateral (
      select id from ledger_accounts where user_id = (m.facts).user_id and book = app.book and kind = 'wallet' offset 0
    ) as member_wallet on true
    left join lateral (
      select id from ledger_accounts where user_id = app.applicant_id and book = app.book and kind = 'wallet' offset 0
    ) as owner_wallet on true
    cross join lateral (
      select id from ledger_accounts where kind = 'fee' and book = app.book offset 0
    ) as fees
    order by i.place
  loop
    item := asked.place;
    v_mandate := asked.mandate;
    r := null;
    -- 3. The order with this order_id, of an earlier request or of an earlier item.
    v_charged_with[item] := coalesce(v_charged_with[asked.same_before], asked.before_mandate_id);
    v_charged_amounts[item] := coalesce(v_charged_amounts[asked.same_before], asked.before_amount);
    r.outcome := case
      when v_charged_with[item] is null and asked.before_status is not null then 'taken'
      when v_charged_with[item] is null then null
      when v_charged_with[item] is distinct from v_mandate.id or v_charged_amounts[item] <> asked.amount then 'changed'
      when asked.before_status = 'refunded' then 'taken'
      else 'exists'
    end;
    if r.outcome is not null then
      v_results[item] := r;
      continue;
    end if;
    if v_mandate.id is null then
      r.outcome := 'not_found';
      v_results[item] := r;
      continue;
    end if;

    v_from := array_position(v_wallet_ids, asked.member_wallet_id);
    v_to := array_position(v_wallet_ids, asked.owner_wallet_id);
    if v_to is null or not coalesce(v_mandate.id = any (v_locked_ids), false) then
      r.outcome := 'busy';
      v_results[item] := r;
      v_rows[item] := case
        when not coalesce(v_mandate.id = any (v_locked_ids), false) then 'mandate ' || v_mandate.id
        -- Nobody waits for 0: a new owner of the application has no wallet yet, and the next run opens it.
        else 'wallet ' || coalesce(asked.owner_wallet_id, 0)
      end;
      continue;
    end if;
    v_at := array_position(v_mandate_ids, v_mandate.id);
    if v_at is null then
      v_at := coalesce(cardinality(v_mandate_ids), 0) + 1;
      v_mandate_ids[v_at] := v_mandate.id;
    end if;
    if v_periods[v_at] is null or v_periods[v_at] < asked.period then
      v_periods[v_at] := asked.period;
      v_spent[v_at] := asked.spent;
      v_lacks[v_at] := asked.lacks;
      v_lacked_ats[v_at] := asked.lacked_at;
    end if;
    v_standing := mandate_standing(v_mandate, asked.applicant_id, asked.now);

    -- 4. The guards, in their order, each with its limit.
    r.outcome := case
      when asked.owner_id is distinct from asked.applicant_id or asked.app_status <> 'approved' then 'unusable'
      when not p_is_on or (asked.book = 'live' and asked.mandate_right <> 'granted') then 'not_allowed'
      when v_standing[1] <> 'active' or v_standing[2] is not null then 'inactive'
      when (v_mandate.with_token or asked.token_hash is not null) and not coalesce(
        v_token_user_ids[item] = v_mandate.user_id and v_token_client_ids[item] = asked.oauth_client_id
          and v_token_owner_ids[item] = asked.applicant_id,
        false
      ) then 'no_token'
      when v_mandate.kind = 'fixed' and asked.amount <> v_mandate.charge_max then 'charge_limit'
      when asked.amount > v_mandate.charge_max then 'charge_limit'
      when asked.book = 'live' and asked.amount > p_charge_maxes[asked.level] then 'charge_limit'
      when v_spent[v_at] + asked.amount > v_mandate.period_max then 'period_limit'
      when v_from is null then 'busy'
      when v_frozen[v_from] or asked.member_is_banned_or_suspended then 'wallet_frozen'
      when v_lacks[v_at] >= c_lacks_max and v_lacked_ats[v_at] > asked.now - c_lacks_wait then 'too_often'
      when v_balances[v_from] < asked.amount then 'insufficient'
      else 'completed'
    end;
    case r.outcome
      when 'busy' then v_rows[item] := 'wallet ' || coalesce(asked.member_wallet_id, 0);
      when 'inactive' then
        r.mandate_status := v_standing[1];
        r.mandate_reason := v_standing[2];
      when 'charge_limit' then
        r.is_exact := v_mandate.kind = 'fixed' and asked.amount <> v_mandate.charge_max;
        r.bound := case
          when r.is_exact or asked.book = 'test' then v_mandate.charge_max
          else least(v_mandate.charge_max, p_charge_maxes[asked.level])
        end;
      when 'period_limit' then
        r.bound := v_mandate.period_max;
        r.period_spent := v_spent[v_at];
        r.period_left := greatest(v_mandate.period_max - v_spent[v_at], 0);
        r.resets_at := mandate_day_begins(
          next_mandate_period(v_mandate.starts_on, v_mandate.period, v_periods[v_at]), v_mandate.test_days
        );
      when 'too_often' then r.retry_at := v_lacked_ats[v_at] + c_lacks_wait;
      when 'insufficient' then
        r.bound := asked.amount;
        v_lacks[v_at] := v_lacks[v_at] + 1;
        v_lacked_ats[v_at] := greatest(v_lacked_ats[v_at], asked.now);
      else
    end case;
    -- The last guard. It looks at both limits before it counts the charges that pass.
    if r.outcome = 'completed' and least(asked.mandate_daily_max, asked.daily_payments_max) is not null then
      r.bound := case
        when asked.mandate_daily_max is not null
          and points_of_day('charges', asked.app_id, asked.book, asked.now) + asked.amount > asked.mandate_daily_max
          then asked.mandate_daily_max
        when asked.daily_payments_max is not null
          and points_of_day('payments', asked.app_id, asked.book, asked.now) + asked.amount > asked.daily_payments_max
          then asked.daily_payments_max
      end;
      if r.bound is not null then
        r.outcome := 'daily_limit';
      else
        update payment_app_days set points = points + asked.amount
        where app_id = asked.app_id and book = asked.book and day = (asked.now at time zone 'Asia/Shanghai')::date
          and act = any (array[
            case when asked.mandate_daily_max is not null then 'charges' end,
            case when asked.daily_payments_max is not null then 'payments' end
          ]);
      end if;
    end if;
    v_results[item] := r;

    -- 5. The points that move: the member pays the amount. The owner gets it without the fee.
    if r.outcome = 'completed' then
      v_fee := payment_fee(asked.amount, coalesce(asked.fee_rate, p_fee_rate));
      v_balances[v_from] := v_balances[v_from] - asked.amount;
      v_balances[v_to] := v_balances[v_to] + asked.amount - v_fee;
      v_spent[v_at] := v_spent[v_at] + asked.amount;
      v_charged_with[item] := v_mandate.id;
      v_charged_amounts[item] := asked.amount;
      v_count := v_count + 1;
      v_items[v_count] := item;
      v_done_books[v_count] := asked.book;
      v_done_mandates[v_count] := v_mandate.id;
      v_done_periods[v_count] := v_periods[v_at];
      v_sums[v_count] := v_spent[v_at];
      v_charge_maxes[v_count] := v_mandate.charge_max;
      v_period_maxes[v_count] := v_mandate.period_max;
      v_references[v_count] := asked.transaction_id;
      if asked.has_event then v_told := v_told || asked.transaction_id; end if;
      v_payer_ids[v_count] := v_mandate.user_id;
      v_payee_ids[v_count] := asked.applicant_id;
      v_fees[v_count] := v_fee;
      v_paid_ats[v_count] := asked.now;
      v_places := v_places || array[v_count, v_count, v_count];
      v_account_ids := v_account_ids || array[asked.member_wallet_id, asked.owner_wallet_id, asked.fee_account_id];
      v_amounts := v_amounts || array[-asked.amount, asked.amount - v_fee, v_fee];
    elsif r.outcome in ('inactive', 'charge_limit', 'period_limit', 'insufficient')
      and v_mandate.accepted_at is not null
    then
      -- Before the first day and after the last one there is no period. The nearest one stands for it.
      v_period := case
        when r.outcome = 'inactive' then mandate_period(
          v_mandate.starts_on, v_mandate.period, greatest(v_mandate.starts_on, least(
            v_mandate.ends_on, mandate_day(asked.now, v_mandate.test_days)
          ))
        )
        else v_periods[v_at]
      end;
      v_refused_items := v_refused_items || item;
      v_refused_mandates := v_refused_mandates || v_mandate.id;
      v_refused_periods := v_refused_periods || v_period;
    end if;
  end loop;

  -- 6. The records: the journals, with no actor since nobody was present; the orders; the notices; the refusals. Orders are
  -- inserted in the order of their keys, as place_orders inserts them.
  if v_count > 0 then
    v_journal_ids := post_journals(
      'payment', v_done_books, v_references, array_fill(null::bigint, array[v_count]), null, v_paid_ats,
      v_places, v_account_ids, v_amounts
    );
    with made as (
      insert into orders (
        app_id, book, door, order_id, transaction_id, description, amount, status, expires_at, created_at, updated_at,
        payer_id, payee_id, fee, merchant_points, paid_at, journal_id,
        mandate_id, mandate_period, mandate_spent, mandate_charge_max, mandate_period_max
      )
      select p_app_ids[done.item], done.book, 'hmac', p_order_ids[done.item], done.reference, p_descriptions[done.item],
        p_amounts[done.item], 'paid', done.at, done.at, done.at,
        done.payer_id, done.payee_id, done.fee, p_amounts[done.item] - done.fee, done.at, done.journal_id,
        done.mandate_id, done.period, done.sum, done.charge_max, done.period_max
      from unnest(
        v_items, v_done_books, v_references, v_paid_ats, v_payer_ids, v_payee_ids, v_fees, v_journal_ids, v_done_mandates,
        v_done_periods, v_sums, v_charge_maxes, v_period_maxes
      ) as done (
        item, book, reference, at, payer_id, payee_id, fee, journal_id, mandate_id, period, sum, charge_max, period_max
      )
      order by p_app_ids[done.item], p_order_ids[done.item]
      returning id, mandate_id, paid_at
    )
    -- A digest is due when the day is over.
    insert into charge_notices (order_id, due_at)
    select made.id, case m.notice
        when 'each' then made.paid_at else mandate_day_begins(mandate_day(made.paid_at, 1), 0)
      end
    from made cross join lateral (select notice from mandates where id = made.mandate_id offset 0) as m;
    if v_told is not null then perform write_charge_events(v_told); end if;
  end if;
  if v_refused_items is not null then
    with refused as (
      select mandate_id, period, (v_results[item_of]).outcome, count(*) as times, min(item_of) as first_item,
        max(item_of) as last_item, min(p_nows[item_of]) as first_at, max(p_nows[item_of]) as last_at
      from unnest(v_refused_items, v_refused_mandates, v_refused_periods) as each (item_of, mandate_id, period)
      group by 1, 2, 3
    ), kept as (
      insert into mandate_refusals as kept (
        mandate_id, period, outcome, times, last_amount, last_order_id, first_at, last_at
      )
      select mandate_id, period, outcome, times, p_amounts[last_item], p_order_ids[last_item], first_at, last_at from refused
      on conflict on constraint mandate_refusals_key do update
      set times = kept.times + excluded.times, last_amount = excluded.last_amount, last_order_id = excluded.last_order_id,
          last_at = greatest(kept.last_at, excluded.last_at)
      returning kept.mandate_id, kept.period, kept.outcome, kept.times
    )
    -- A row without earlier refusals is new.
    select array_agg(refused.first_item), array_agg(refused.mandate_id), array_agg(refused.period)
    into v_first_items, v_first_mandates, v_first_periods
    from refused join kept using (mandate_id, period, outcome, times);
    if v_first_items is not null then
      perform write_refusal_events(
        v_first_items, v_first_mandates, v_first_periods, p_order_ids, p_amounts, v_results, p_nows
      );
    end if;
  end if;

  -- 7. The answers. A repeated charge is answered as at first.
  for place in 1 .. cardinality(p_app_ids) loop
    item := place;
    result := v_results[item];
    locked := v_rows[item];
    charge := null;
    if result.outcome in ('completed', 'exists', 'taken') then
      select o.* into charge
      from payment_apps as app
      cross join lateral (
        select * from orders as placed
        where placed.app_id = app.id and placed.book = app.book and placed.door = 'hmac'
          and placed.order_id = p_order_ids[item]
        offset 0
      ) as o
      where app.id = p_app_ids[item];
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
