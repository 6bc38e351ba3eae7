-- The refusals of the ledger's tables, for every function that writes to them.

-- No row is updated or deleted, so a journal that balances after its insert stays balanced.
create or replace function refuse_unbalanced() returns trigger language plpgsql as $$
begin
  if exists (select from inserted group by journal_id having sum(amount) <> 0) then
    raise exception 'entries of a journal must sum to zero'
      using errcode = 'check_violation', constraint = 'entries_sum_to_zero';
  end if;
  return null;
end
$$;
create or replace trigger entries_sum_to_zero after insert on entries
  referencing new table as inserted for each statement execute function refuse_unbalanced();

-- Postgres hands out identity values before rows exist, and their transactions commit in any order. A transaction that has its
-- number before it takes an identity value lets the worker know, from transaction numbers alone, that no journal below a
-- visible one is still to come. A statement trigger runs before the first value is taken.
create or replace function number_transaction() returns trigger language plpgsql as $$
begin
  perform pg_current_xact_id();
  return null;
end
$$;
create or replace trigger journal_number_transaction before insert on journal
  for each statement execute function number_transaction();

-- The functions check a frozen wallet themselves. This trigger checks it again. The row is locked, so the newest journal of
-- the account is the one that moves its points now.
create or replace function refuse_spending_frozen() returns trigger language plpgsql as $$
begin
  if (
    select j.kind from entries as e join journal as j on j.id = e.journal_id
    where e.account_id = new.id order by e.id desc limit 1
  ) in ('payment', 'transfer') then
    raise exception 'wallet % is frozen', new.id
      using errcode = 'check_violation', constraint = 'ledger_accounts_frozen_spends_nothing';
  end if;
  return new;
end
$$;
create or replace trigger ledger_accounts_frozen_spends_nothing before update of balance on ledger_accounts
  for each row when (old.frozen_at is not null and new.balance < old.balance)
  execute function refuse_spending_frozen();
