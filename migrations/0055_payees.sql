-- Who was paid. An application may change hands; what was paid to its owner before stays theirs, and is given back by
-- them.

alter table orders add column payee_id bigint references users;
update orders set payee_id = app.applicant_id
from payment_apps as app where app.id = orders.app_id and orders.paid_at is not null;
alter table orders
  drop constraint orders_paid_facts,
  add constraint orders_paid_facts check (
    num_nonnulls(payer_id, payee_id, fee, merchant_points, paid_at, journal_id)
      = case when status in ('paid', 'refunded') then 6 else 0 end
  );

-- Pays one order. The rule of the whole act stands here: who may pay, when, what moves, what is recorded and
-- who is told. Returns an outcome, never raises for one:
--   paid · paid_before (by the same payer) · paid_by_other · expired · closed · unusable (the application is
--   not approved) · changed (another amount than the payer was shown) · insufficient · daily_limit (of the
--   application) · not_found
create or replace function pay_order(
  p_transaction_id text, p_payer_id bigint, p_expected_amount bigint, p_now timestamptz, p_fee_rate numeric
) returns text language plpgsql as $$
declare
  v_order orders;
  v_app payment_apps;
  v_payer_wallet ledger_accounts;
  v_merchant_wallet_id bigint;
  v_fee_account_id bigint;
  v_fee bigint;
  v_journal_id bigint;
begin
  select * into v_order from orders where transaction_id = p_transaction_id for update;
  if not found then return 'not_found'; end if;
  if v_order.status in ('paid', 'refunded') then
    return case when v_order.payer_id = p_payer_id then 'paid_before' else 'paid_by_other' end;
  end if;
  if v_order.status = 'closed' then return 'closed'; end if;
  -- The clock decides, whether or not the sweep has been here.
  if v_order.expires_at <= p_now then return 'expired'; end if;

  select * into v_app from payment_apps where id = v_order.app_id;
  if v_app.status <> 'approved' then return 'unusable'; end if;
  if v_order.amount <> p_expected_amount then return 'changed'; end if;

  select * into v_payer_wallet from ledger_accounts
  where user_id = p_payer_id and book = v_order.book and kind = 'wallet' for update;
  if v_payer_wallet.balance is null or v_payer_wallet.balance < v_order.amount then return 'insufficient'; end if;
  select id into strict v_merchant_wallet_id from ledger_accounts
  where user_id = v_app.applicant_id and book = v_order.book and kind = 'wallet' for update;
  select id into strict v_fee_account_id from ledger_accounts where kind = 'fee' and book = v_order.book;

  -- The last guard, because it counts what it lets through.
  if v_app.daily_payments_max is not null and count_for_day(
    'payments', v_app.id, v_order.book, v_order.amount, v_app.daily_payments_max, p_now
  ) is not null then return 'daily_limit'; end if;

  v_fee := payment_fee(v_order.amount, coalesce(v_app.fee_rate, p_fee_rate));
  v_journal_id := post_journal(
    v_order.book, 'payment', v_order.transaction_id, p_payer_id, null, p_now,
    array[v_payer_wallet.id, v_merchant_wallet_id, v_fee_account_id],
    array[-v_order.amount, v_order.amount - v_fee, v_fee]
  );
  update orders
  set status = 'paid', payer_id = p_payer_id, payee_id = v_app.applicant_id, fee = v_fee,
      merchant_points = amount - v_fee, paid_at = p_now, journal_id = v_journal_id, updated_at = p_now
  where id = v_order.id;
  if v_order.notify_url is not null then
    insert into notifications (order_id, next_attempt_at) values (v_order.id, p_now);
  end if;
  return 'paid';
end
$$;

-- Gives points of a paid order back to its payer, from the wallet of the member who was paid and, with p_with_fee,
-- from the fee in proportion: after the last refund of an order exactly its fee has gone back. Outcomes, never raised:
--   refunded · repeated (this key acted before) · not_found · not_paid · too_much · insufficient (the payee's
--   wallet does not hold its part)
create or replace function refund_order(
  p_transaction_id text, p_amount bigint, p_with_fee boolean, p_key text, p_reason text, p_actor_id bigint,
  p_now timestamptz
) returns text language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  v_order orders;
  v_reference text := p_transaction_id || ':' || p_key;
  v_fee_part bigint := 0;
  v_merchant ledger_accounts;
  v_payer_wallet_id bigint;
  v_fee_account_id bigint;
  v_journal_id bigint;
begin
  select * into v_order from orders where transaction_id = p_transaction_id for update;
  if not found then return 'not_found'; end if;
  if exists (select from journal where kind = 'refund' and reference = v_reference and book = v_order.book) then
    return 'repeated';
  end if;
  if v_order.paid_at is null then return 'not_paid'; end if;
  if v_order.refunded_amount + p_amount > v_order.amount then return 'too_much'; end if;

  -- By id, like every act on wallets.
  perform from ledger_accounts
  where kind = 'wallet' and book = v_order.book and user_id in (v_order.payer_id, v_order.payee_id)
  order by id for update;
  select * into strict v_merchant from ledger_accounts
  where kind = 'wallet' and book = v_order.book and user_id = v_order.payee_id;
  select id into strict v_payer_wallet_id from ledger_accounts
  where kind = 'wallet' and book = v_order.book and user_id = v_order.payer_id;
  select id into strict v_fee_account_id from ledger_accounts where kind = 'fee' and book = v_order.book;

  if p_with_fee then
    v_fee_part := div(v_order.fee::numeric * (v_order.refunded_amount + p_amount), v_order.amount)
      - div(v_order.fee::numeric * v_order.refunded_amount, v_order.amount);
  end if;
  -- The payee who paid an own order takes from one pocket for the other.
  if v_order.payer_id <> v_order.payee_id and v_merchant.balance < p_amount - v_fee_part then
    return 'insufficient';
  end if;
  v_journal_id := post_journal(
    v_order.book, 'refund', v_reference, p_actor_id, p_reason, p_now,
    array[v_payer_wallet_id, v_merchant.id, v_fee_account_id],
    array[p_amount, -(p_amount - v_fee_part), -v_fee_part]
  );
  insert into refunds (order_id, book, amount, fee_part, reason, actor_id, refunded_at, journal_id)
  values (v_order.id, v_order.book, p_amount, v_fee_part, p_reason, p_actor_id, p_now, v_journal_id);
  update orders
  set refunded_amount = refunded_amount + p_amount,
      status = case when refunded_amount + p_amount = amount then 'refunded' else status end,
      updated_at = p_now
  where id = v_order.id;
  return 'refunded';
end
$$;
