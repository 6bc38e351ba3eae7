-- The chain of seals over the journal. Afterwards, never inside a paying transaction, the worker seals every committed
-- journal: a hash of it, of its entries and of the seal before it, marked with a key that is not in the database. So
-- whoever edits, deletes or inserts journals by hand, past all triggers, breaks the chain and cannot mend it.

-- Identity values are handed out before a row is made, and commit in any order. That a transaction has its number
-- before it takes an identity value is what lets the worker know, by transaction numbers alone, that no journal below
-- one that it has seen is still to come. Statement triggers run before the first value is taken.
create function number_transaction() returns trigger language plpgsql as $$
begin
  perform pg_current_xact_id();
  return null;
end
$$;
create trigger journal_number_transaction before insert on journal
  for each statement execute function number_transaction();

create table journal_seals (
  -- No foreign key: it would lock the journal's row for each seal, and a deleted journal is for the books to find.
  journal_id bigint primary key,
  -- The journal sealed before; null for the first.
  previous_id bigint,
  hash bytea not null,
  mac bytea not null,
  key_id bytea not null,
  created_at timestamptz not null default now(),
  constraint journal_seals_order check (previous_id < journal_id)
);
create trigger journal_seals_append_only before update or delete or truncate on journal_seals
  for each statement execute function refuse_change();

-- Where the sealing stands. Whoever seals holds the row; there is no other lock.
create table journal_sealing (
  is_only boolean primary key default true,
  -- Every journal up to here is sealed, or its transaction was rolled back.
  sealed_to bigint not null default 0,
  -- The highest id that was visible when the transaction seen_before began. Once all transactions before that one are
  -- over, every journal up to seen_to is visible or never will be.
  seen_to bigint,
  seen_before xid8,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint journal_sealing_is_only check (is_only),
  constraint journal_sealing_seen check ((seen_to is null) = (seen_before is null)),
  constraint journal_sealing_ahead check (seen_to > sealed_to)
);
insert into journal_sealing default values;
