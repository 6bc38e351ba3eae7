-- What an administrator gives back or corrects: refunds of orders, reversals of transfers, grants and adjustments.
-- Always new entries, never edits. Each act has a key made with the form that asks for it, so that the form sent
-- twice acts once: the key is part of the journal's reference.

alter table orders
  add column refunded_amount bigint not null default 0,
  add constraint orders_refunded_amount check (refunded_amount between 0 and amount),
  add constraint orders_refunded_status check ((status = 'refunded') = (refunded_amount = amount)),
  add constraint orders_refunded_paid check (refunded_amount = 0 or paid_at is not null);

create table refunds (
  id bigint generated always as identity primary key,
  order_id bigint not null references orders,
  book text not null,
  -- What the payer got back; of it, what came out of the platform's fee.
  amount bigint not null,
  fee_part bigint not null,
  reason text not null,
  actor_id bigint not null references users,
  refunded_at timestamptz not null,
  journal_id bigint not null,
  created_at timestamptz not null default now(),
  constraint refunds_journal_id_key unique (journal_id),
  constraint refunds_journal foreign key (journal_id, book) references journal (id, book),
  constraint refunds_amounts check (amount >= 1 and fee_part between 0 and amount)
);
create index refunds_of_order on refunds (order_id, id);
create trigger refunds_append_only before update or delete or truncate on refunds
  for each statement execute function refuse_change();

-- Gives points of a paid order back to its payer, from the merchant's wallet and, with p_with_fee, from the fee in
-- proportion: after the last refund of an order exactly its fee has gone back. Outcomes, never raised:
--   refunded · repeated (this key acted before) · not_found · not_paid · too_much · insufficient (the merchant's
--   wallet does not hold its part)
create function refund_order(
  p_transaction_id text, p_amount bigint, p_with_fee boolean, p_key text, p_reason text, p_actor_id bigint,
  p_now timestamptz
) returns text language plpgsql as $$
declare
  v_order orders;
  v_applicant_id bigint;
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

  select applicant_id into strict v_applicant_id from payment_apps where id = v_order.app_id;
  -- By id, like every act on wallets.
  perform from ledger_accounts
  where kind = 'wallet' and book = v_order.book and user_id in (v_order.payer_id, v_applicant_id)
  order by id for update;
  select * into strict v_merchant from ledger_accounts
  where kind = 'wallet' and book = v_order.book and user_id = v_applicant_id;
  select id into strict v_payer_wallet_id from ledger_accounts
  where kind = 'wallet' and book = v_order.book and user_id = v_order.payer_id;
  select id into strict v_fee_account_id from ledger_accounts where kind = 'fee' and book = v_order.book;

  if p_with_fee then
    v_fee_part := div(v_order.fee::numeric * (v_order.refunded_amount + p_amount), v_order.amount)
      - div(v_order.fee::numeric * v_order.refunded_amount, v_order.amount);
  end if;
  -- The applicant who paid an own order takes from one pocket for the other.
  if v_order.payer_id <> v_applicant_id and v_merchant.balance < p_amount - v_fee_part then
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

-- Takes a transfer back: the recipient returns the amount, and with p_with_fee the platform its fee.
-- Outcomes: reversed · repeated · not_found · insufficient (the recipient no longer holds the amount)
create function reverse_transfer(
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
  v_journal_id := post_journal(
    v_transfer.book, 'reversal', p_transaction_id, p_actor_id, p_reason, p_now,
    array[v_sender_wallet_id, v_recipient.id, v_fee_account_id],
    array[v_transfer.amount + v_fee, -v_transfer.amount, -v_fee]
  );
  update transfers set status = 'reversed', reversal_journal_id = v_journal_id, updated_at = p_now
  where id = v_transfer.id;
  return 'reversed';
end
$$;

-- Gives a member points (kind grant) or corrects a balance either way (kind adjustment), against the issuance
-- account. Outcomes: posted · repeated · not_found · insufficient
create function adjust_points(
  p_kind text, p_user_id bigint, p_amount bigint, p_reference text, p_reason text, p_actor_id bigint, p_now timestamptz
) returns text language plpgsql as $$
declare
  v_wallet ledger_accounts;
  v_issuance_id bigint;
begin
  if not exists (select from users where id = p_user_id) then return 'not_found'; end if;
  insert into ledger_accounts (book, kind, user_id, balance) values ('live', 'wallet', p_user_id, 0)
  on conflict do nothing;
  perform from ledger_accounts
  where book = 'live' and (kind = 'issuance' or (kind = 'wallet' and user_id = p_user_id))
  order by id for update;
  -- Read under the lock of the issuance account, which every act of this kind takes.
  if exists (select from journal where kind = p_kind and reference = p_reference and book = 'live') then
    return 'repeated';
  end if;
  select * into strict v_wallet from ledger_accounts where book = 'live' and kind = 'wallet' and user_id = p_user_id;
  select id into strict v_issuance_id from ledger_accounts where book = 'live' and kind = 'issuance';
  if v_wallet.balance + p_amount < 0 then return 'insufficient'; end if;
  perform post_journal(
    'live', p_kind, p_reference, p_actor_id, p_reason, p_now,
    array[v_wallet.id, v_issuance_id], array[p_amount, -p_amount]
  );
  return 'posted';
end
$$;
