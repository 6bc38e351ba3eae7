-- The refusals of the ledger's tables, for every function that writes to them.

-- Each journal balances, and each entry names a journal and an account of its book. No entry or journal is updated or deleted, and
-- no account changes its key or goes, so what is true after the insert stays true. A foreign key would look up each row by itself,
-- and lock it: the row of the fee account for every payment.
create or replace function refuse_unbalanced() returns trigger language plpgsql as $$
declare
  v_fault text;
begin
  select case
      when count(j.id) < count(*) then 'entries_journal'
      when count(a.id) < count(*) then 'entries_account'
      else 'entries_sum_to_zero'
    end into v_fault
  from inserted
  left join lateral (select id from journal where id = inserted.journal_id and book = inserted.book offset 0) as j on true
  left join lateral (
    select id from ledger_accounts where id = inserted.account_id and book = inserted.book offset 0
  ) as a on true
  group by inserted.journal_id
  having count(j.id) < count(*) or count(a.id) < count(*) or sum(inserted.amount) <> 0
  limit 1;
  case v_fault
    when 'entries_sum_to_zero' then
      raise exception 'entries of a journal must sum to zero' using errcode = 'check_violation', constraint = v_fault;
    when 'entries_journal', 'entries_account' then
      raise exception 'an entry must name a journal and an account of its book'
        using errcode = 'foreign_key_violation', constraint = v_fault;
    else return null;
  end case;
end
$$;
create or replace trigger entries_sum_to_zero after insert on entries
  referencing new table as inserted for each statement execute function refuse_unbalanced();

create or replace function refuse_account_key_change() returns trigger language plpgsql as $$
begin
  raise exception 'the id and the book of an account never change'
    using errcode = 'restrict_violation', constraint = 'ledger_accounts_key_kept';
end
$$;
create or replace trigger ledger_accounts_key_kept before update of id, book on ledger_accounts
  for each row when ((old.id, old.book) is distinct from (new.id, new.book)) execute function refuse_account_key_change();

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

-- The functions check a frozen wallet themselves. This trigger checks it again. post_journals writes the entries before the
-- balances, and the account is locked, so its newest entry is the one that moves its points now.
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
