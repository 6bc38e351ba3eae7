-- The floor of the acts: the smallest functions that store the same rows under the same keys, checks and triggers. Their caller
-- knows every fact and judges nothing. They are planned as the acts are.
create schema floor;

-- Journals with their lines and balances. The arrays have one element for each journal.
create function floor.post_journals(
  p_kind text, p_references text[], p_actor_ids bigint[], p_now timestamptz,
  p_payer_wallets bigint[], p_payee_wallets bigint[], p_fee_account bigint,
  p_paid bigint[], p_received bigint[], p_fees bigint[]
) returns bigint[] language plpgsql as $$
declare
  v_ids bigint[];
begin
  with posted as (
    insert into journal (book, kind, reference, actor_id, posted_at)
    select 'live', p_kind, asked.reference, asked.actor_id, p_now
    from unnest(p_references, p_actor_ids) as asked (reference, actor_id)
    returning id
  )
  select array_agg(id) into v_ids from posted;
  insert into entries (journal_id, book, account_id, amount)
  select asked.journal_id, 'live', line.account_id, line.amount
  from unnest(v_ids, p_payer_wallets, p_payee_wallets, p_paid, p_received, p_fees)
    as asked (journal_id, payer_wallet, payee_wallet, paid, received, fee)
  cross join lateral (
    values (payer_wallet, -paid), (payee_wallet, received), (p_fee_account, fee)
  ) as line (account_id, amount)
  where line.amount <> 0;
  update ledger_accounts as account
  set balance = account.balance + moved.amount
  from (
    select line.account_id, sum(line.amount) as amount
    from unnest(p_payer_wallets, p_payee_wallets, p_paid, p_received) as asked (payer_wallet, payee_wallet, paid, received)
    cross join lateral (values (payer_wallet, -paid), (payee_wallet, received)) as line (account_id, amount)
    group by line.account_id
  ) as moved
  where account.id = moved.account_id;
  return v_ids;
end
$$;

create function floor.transfers(
  p_app_ids bigint[], p_order_ids text[], p_references text[], p_amounts bigint[], p_fees bigint[],
  p_payer_ids bigint[], p_payer_names text[], p_payer_wallets bigint[],
  p_payee_ids bigint[], p_payee_names text[], p_payee_wallets bigint[],
  p_fee_account bigint, p_day date, p_sums bigint[], p_now timestamptz
) returns void language plpgsql as $$
declare
  v_paid constant bigint[] := array(select a + f from unnest(p_amounts, p_fees) as asked (a, f));
  v_ids constant bigint[] := floor.post_journals(
    'transfer', p_references, p_payer_ids, p_now, p_payer_wallets, p_payee_wallets, p_fee_account, v_paid, p_amounts, p_fees
  );
begin
  insert into transfers (
    app_id, book, order_id, transaction_id, amount, fee, from_user_id, from_username, to_user_id, to_username, paid_at,
    day, day_points, journal_id
  )
  select asked.app_id, 'live', asked.order_id, asked.reference, asked.amount, asked.fee, asked.payer_id, asked.payer_name,
    asked.payee_id, asked.payee_name, p_now, p_day, asked.sum, asked.journal_id
  from unnest(
    p_app_ids, p_order_ids, p_references, p_amounts, p_fees, p_payer_ids, p_payer_names, p_payee_ids, p_payee_names, p_sums, v_ids
  ) as asked (app_id, order_id, reference, amount, fee, payer_id, payer_name, payee_id, payee_name, sum, journal_id);
end
$$;

create function floor.payments(
  p_orders bigint[], p_references text[], p_amounts bigint[], p_fees bigint[], p_payer_ids bigint[], p_payer_wallets bigint[],
  p_payee_ids bigint[], p_payee_wallets bigint[], p_fee_account bigint, p_now timestamptz
) returns void language plpgsql as $$
declare
  v_received constant bigint[] := array(select a - f from unnest(p_amounts, p_fees) as asked (a, f));
  v_ids constant bigint[] := floor.post_journals(
    'payment', p_references, p_payer_ids, p_now, p_payer_wallets, p_payee_wallets, p_fee_account, p_amounts, v_received, p_fees
  );
begin
  update orders as o
  set status = 'paid', payer_id = asked.payer_id, payee_id = asked.payee_id, fee = asked.fee,
      merchant_points = o.amount - asked.fee, paid_at = p_now, journal_id = asked.journal_id, updated_at = p_now
  from unnest(p_orders, p_payer_ids, p_payee_ids, p_fees, v_ids) as asked (id, payer_id, payee_id, fee, journal_id)
  where o.id = asked.id;
end
$$;

create function floor.charges(
  p_app_ids bigint[], p_order_ids text[], p_references text[], p_descriptions text[], p_amounts bigint[], p_fees bigint[],
  p_payer_ids bigint[], p_payer_wallets bigint[], p_payee_ids bigint[], p_payee_wallets bigint[], p_fee_account bigint,
  p_mandates bigint[], p_period date, p_sums bigint[], p_charge_max bigint, p_period_max bigint, p_now timestamptz
) returns void language plpgsql as $$
declare
  v_received constant bigint[] := array(select a - f from unnest(p_amounts, p_fees) as asked (a, f));
  v_ids constant bigint[] := floor.post_journals(
    'payment', p_references, array_fill(null::bigint, array[cardinality(p_references)]), p_now, p_payer_wallets,
    p_payee_wallets, p_fee_account, p_amounts, v_received, p_fees
  );
begin
  with made as (
    insert into orders (
      app_id, book, door, order_id, transaction_id, description, amount, status, expires_at, created_at, updated_at,
      payer_id, payee_id, fee, merchant_points, paid_at, journal_id,
      mandate_id, mandate_period, mandate_spent, mandate_charge_max, mandate_period_max
    )
    select asked.app_id, 'live', 'hmac', asked.order_id, asked.reference, asked.description, asked.amount, 'paid', p_now, p_now,
      p_now, asked.payer_id, asked.payee_id, asked.fee, asked.amount - asked.fee, p_now, asked.journal_id,
      asked.mandate_id, p_period, asked.sum, p_charge_max, p_period_max
    from unnest(
      p_app_ids, p_order_ids, p_references, p_descriptions, p_amounts, p_fees, p_payer_ids, p_payee_ids, p_mandates, p_sums, v_ids
    ) as asked (app_id, order_id, reference, description, amount, fee, payer_id, payee_id, mandate_id, sum, journal_id)
    returning id
  )
  insert into charge_notices (order_id, due_at) select made.id, p_now from made;
end
$$;

do $$
declare
  v_name regprocedure;
begin
  for v_name in select oid::regprocedure from pg_proc where pronamespace = 'floor'::regnamespace loop
    execute format('alter function %s set plan_cache_mode = force_generic_plan', v_name);
    execute format('alter function %s set enable_seqscan = off', v_name);
    execute format('alter function %s set enable_hashjoin = off', v_name);
    execute format('alter function %s set enable_mergejoin = off', v_name);
  end loop;
end
$$;
