-- Purses and orders that an administrator holds. A frozen purse pays and transfers nothing out; what comes in, and what
-- administrators give back or correct, goes on. A frozen order cannot be paid. (An application is held by suspending it.)

alter table ledger_accounts
  add column frozen_at timestamptz,
  add column frozen_by bigint references users,
  -- Its owner reads it.
  add column frozen_reason text,
  add constraint ledger_accounts_frozen_facts check (num_nonnulls(frozen_at, frozen_by, frozen_reason) in (0, 3)),
  add constraint ledger_accounts_frozen_wallet check (frozen_at is null or kind = 'wallet');

alter table orders
  add column frozen_at timestamptz,
  add column frozen_by bigint references users,
  -- The merchant reads it.
  add column frozen_reason text,
  add constraint orders_frozen_facts check (num_nonnulls(frozen_at, frozen_by, frozen_reason) in (0, 3)),
  -- Paid is paid: such an order is refunded, not frozen.
  add constraint orders_frozen_unpaid check (frozen_at is null or paid_at is null);

create index ledger_accounts_frozen on ledger_accounts (frozen_at) where frozen_at is not null;
create index orders_frozen on orders (frozen_at) where frozen_at is not null;

-- Behind the guards below, for whatever else may ever move points. The row is locked, so the newest journal of the
-- account is the one that moves it now.
create function refuse_spending_frozen() returns trigger language plpgsql as $$
begin
  if (
    select j.kind from entries as e join journal as j on j.id = e.journal_id
    where e.account_id = new.id order by e.id desc limit 1
  ) in ('payment', 'transfer') then
    raise exception 'purse % is frozen', new.id
      using errcode = 'check_violation', constraint = 'ledger_accounts_frozen_spends_nothing';
  end if;
  return new;
end
$$;
create trigger ledger_accounts_frozen_spends_nothing before update of balance on ledger_accounts
  for each row when (old.frozen_at is not null and new.balance < old.balance)
  execute function refuse_spending_frozen();

-- Writes one more guard into a function as it is now, before the line that stands there once.
create function pg_temp.add_guard(p_function text, p_before text, p_guard text) returns void language plpgsql as $$
declare
  v_definition constant text := (select pg_get_functiondef(oid) from pg_proc where proname = p_function);
begin
  if (length(v_definition) - length(replace(v_definition, p_before, ''))) / length(p_before) is distinct from 1 then
    raise exception 'the place of a guard is not there once in %', p_function;
  end if;
  execute replace(v_definition, p_before, p_guard || p_before);
end
$$;

-- Two more outcomes of paying: order_frozen, and purse_frozen of the payer.
select pg_temp.add_guard('pay_order', 'select * into v_app from payment_apps',
  $$if v_order.frozen_at is not null then return 'order_frozen'; end if;

  $$);
select pg_temp.add_guard('pay_order', 'if v_payer_wallet.balance is null or',
  $$if v_payer_wallet.frozen_at is not null then return 'purse_frozen'; end if;
  $$);

-- One more of transfers: purse_frozen, of the sender.
select pg_temp.add_guard('post_transfer', 'if coalesce(v_sender_wallet.balance, 0) <',
  $$if v_sender_wallet.frozen_at is not null then v_result.outcome := 'purse_frozen'; return v_result; end if;
  $$);

drop function pg_temp.add_guard(text, text, text);
