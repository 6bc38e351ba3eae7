-- Administrators' refunds of orders and reversals of transfers. Each is a new journal, never an edit. Each has a
-- key, made with the form that asks for it and part of the journal's reference, so a form that is sent twice acts once.

-- The book of a refund is the book of its order. refunds_journal already binds it to that of its journal.
create or replace function refund_book() returns trigger language plpgsql as $$
begin
  if not exists (select from orders where id = new.order_id and book = new.book) then
    raise exception 'a refund belongs to the book of its order'
      using errcode = 'check_violation', constraint = 'refunds_book';
  end if;
  return new;
end
$$;
create or replace trigger refunds_book before insert on refunds
  for each row execute function refund_book();

-- The part of an order's fee that has gone back once so many of its points have, each refund with its fee: exactly the fee with
-- the last of them.
create or replace function refunded_fee(p_fee bigint, p_amount bigint, p_refunded bigint) returns bigint
  language sql immutable parallel safe as $$ select div(p_fee::numeric * p_refunded, p_amount)::bigint $$;

-- Quotes the refund of all that is left of a paid order, as refund_order makes it with the fee: its parts from the fee and from
-- the payee's wallet, and what that wallet has. No row where nothing is left.
create or replace function quote_refund(p_order_id bigint)
  returns table (points bigint, from_fee bigint, from_wallet bigint, have bigint)
language sql stable as $$
  select left_over.points, part.from_fee, left_over.points - part.from_fee, coalesce(wallet.balance, 0)
  from orders as o
  cross join lateral (select o.amount - o.refunded_amount as points) as left_over
  cross join lateral (select o.fee - refunded_fee(o.fee, o.amount, o.refunded_amount) as from_fee) as part
  left join ledger_accounts as wallet
    on wallet.user_id = o.payee_id and wallet.book = o.book and wallet.kind = 'wallet'
  where o.id = p_order_id and o.paid_at is not null and left_over.points > 0
$$;

-- Whether a member was paid an order since a moment that is not wholly refunded. It reads the credits of the member's wallet, the
-- newest first, because an application may have changed hands since, and it stops at the first such order.
create or replace function has_refundable_order(p_payee_id bigint, p_paid_since timestamptz) returns boolean
  language plpgsql stable as $$
declare
  c_end constant bigint := 9223372036854775807;
  -- How much the clocks of two processes may differ, by which entries come in another order than their times.
  c_clocks_differ constant interval := '5 minutes';
  v_account_id bigint;
  v_first_id bigint;
begin
  select id into v_account_id from ledger_accounts where user_id = p_payee_id and book = 'live' and kind = 'wallet';
  v_first_id := first_entry_since(v_account_id, p_paid_since - c_clocks_differ);
  perform from entries as e
  cross join lateral (
    select from orders
    where journal_id = e.journal_id and paid_at > p_paid_since and payee_id = p_payee_id and payer_id <> p_payee_id
      and refunded_amount < orders.amount
    limit 1
  ) as refundable
  where (e.account_id, e.id) >= (v_account_id, v_first_id)
    and (e.account_id, e.id) < (v_account_id, c_end) and e.amount > 0
  order by e.account_id desc, e.id desc limit 1;
  return found;
end
$$;

-- Refunds points of a paid order to its payer, from the payee's wallet and, with p_with_fee, from the fee in proportion. After
-- the last refund of an order exactly its fee has gone back. Outcomes, never raised:
--   refunded · repeated (this key acted before, or this request was accepted) · not_found · not_paid
--   · too_much (more than is left, or no points) · insufficient (the payee's wallet does not hold its part)
--   · no_request (p_request_id is no request for a refund of this order)
create or replace function refund_order(
  p_transaction_id text, p_amount bigint, p_with_fee boolean, p_key text, p_reason text, p_actor_id bigint,
  p_now timestamptz, p_request_id bigint
) returns text language plpgsql as $$
declare
  v_order orders;
  v_reference text := p_transaction_id || ':' || p_key;
  v_fee_part bigint := 0;
  v_merchant ledger_accounts;
  v_payer_wallet_id bigint;
  v_fee_account_id bigint;
  v_journal_id bigint;
begin
  select * into v_order from orders where transaction_id = p_transaction_id for no key update;
  if not found then return 'not_found'; end if;
  if exists (select from journal where kind = 'refund' and reference = v_reference and book = v_order.book) then
    return 'repeated';
  end if;
  if exists (select from refunds where request_id = p_request_id) then return 'repeated'; end if;
  if v_order.paid_at is null then return 'not_paid'; end if;
  -- All that is left of a refunded order is 0, and no refund is of 0.
  if (p_amount > 0 and v_order.refunded_amount + p_amount <= v_order.amount) is not true then return 'too_much'; end if;
  -- The clocks of two processes differ. Events, ordered by the times that they carry, still follow the states of the order.
  p_now := greatest(p_now, v_order.updated_at);

  -- Locked by id, like every act on wallets.
  perform from ledger_accounts
  where kind = 'wallet' and book = v_order.book and user_id in (v_order.payer_id, v_order.payee_id)
  order by id for update;
  select * into strict v_merchant from ledger_accounts
  where kind = 'wallet' and book = v_order.book and user_id = v_order.payee_id;
  select id into strict v_payer_wallet_id from ledger_accounts
  where kind = 'wallet' and book = v_order.book and user_id = v_order.payer_id;
  select id into strict v_fee_account_id from ledger_accounts where kind = 'fee' and book = v_order.book;

  if p_with_fee then
    v_fee_part := refunded_fee(v_order.fee, v_order.amount, v_order.refunded_amount + p_amount)
      - refunded_fee(v_order.fee, v_order.amount, v_order.refunded_amount);
  end if;
  -- A payee who paid their own order refunds into the wallet that the refund comes from.
  if v_order.payer_id <> v_order.payee_id and v_merchant.balance < p_amount - v_fee_part then
    return 'insufficient';
  end if;
  if p_request_id is not null
    and not exists (select from refund_requests where id = p_request_id and order_id = v_order.id)
  then
    return 'no_request';
  end if;
  -- The payment backwards.
  v_journal_id := (post_journals('refund', p_reason, array[
    row(
      v_order.book, v_reference, p_actor_id, p_now, v_payer_wallet_id, v_merchant.id, v_fee_account_id, -p_amount, -v_fee_part
    )::posting
  ]))[1];
  insert into refunds (order_id, book, amount, fee_part, reason, actor_id, refunded_at, journal_id, request_id)
  values (v_order.id, v_order.book, p_amount, v_fee_part, p_reason, p_actor_id, p_now, v_journal_id, p_request_id);
  update orders
  set refunded_amount = refunded_amount + p_amount,
      status = case when refunded_amount + p_amount = amount then 'refunded' else status end,
      updated_at = p_now
  where id = v_order.id;
  perform write_order_events('order.refunded', array[v_order.id]);
  return 'refunded';
end
$$;

-- Reverses a transfer: the recipient returns the amount and, with p_with_fee, the platform its fee. Outcomes, never raised:
--   reversed · repeated · not_found · insufficient (the recipient no longer holds the amount)
create or replace function reverse_transfer(
  p_transaction_id text, p_with_fee boolean, p_reason text, p_actor_id bigint, p_now timestamptz
) returns text language plpgsql as $$
declare
  v_transfer transfers;
  v_sender_wallet_id bigint;
  v_recipient ledger_accounts;
  v_fee_account_id bigint;
  v_fee bigint;
  v_journal_id bigint;
begin
  select * into v_transfer from transfers where transaction_id = p_transaction_id for update;
  if not found then return 'not_found'; end if;
  if v_transfer.status = 'reversed' then return 'repeated'; end if;
  perform from ledger_accounts
  where kind = 'wallet' and book = v_transfer.book and user_id in (v_transfer.from_user_id, v_transfer.to_user_id)
  order by id for update;
  select * into strict v_recipient from ledger_accounts
  where kind = 'wallet' and book = v_transfer.book and user_id = v_transfer.to_user_id;
  if v_recipient.balance < v_transfer.amount then return 'insufficient'; end if;
  select id into strict v_sender_wallet_id from ledger_accounts
  where kind = 'wallet' and book = v_transfer.book and user_id = v_transfer.from_user_id;
  select id into strict v_fee_account_id from ledger_accounts where kind = 'fee' and book = v_transfer.book;
  v_fee := case when p_with_fee then v_transfer.fee else 0 end;
  -- The transfer backwards.
  v_journal_id := (post_journals('reversal', p_reason, array[
    row(
      v_transfer.book, p_transaction_id, p_actor_id, p_now, v_sender_wallet_id, v_recipient.id, v_fee_account_id,
      -(v_transfer.amount + v_fee), -v_fee
    )::posting
  ]))[1];
  update transfers set status = 'reversed', reversal_journal_id = v_journal_id, updated_at = p_now
  where id = v_transfer.id;
  return 'reversed';
end
$$;
