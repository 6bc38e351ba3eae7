-- Double-entry bookkeeping in whole points. A movement is one journal, and the entries of a journal sum to zero.
--
-- Why the books stay right:
-- - Journal and entries are append-only, and an insert that leaves a journal unbalanced is refused (triggers).
-- - The book is part of every key, so no entry joins accounts of two books.
-- - A wallet cannot fall below zero (check).
-- - post_journals is the only function that writes journals, entries and balances.

create table ledger_accounts (
  id bigint generated always as identity primary key,
  book text not null,
  kind text not null,
  user_id bigint references users,
  -- The fee account stores no balance. Each payment adds an entry to it, and one shared row would make payments wait for each
  -- other. Its balance is the sum of its entries.
  balance bigint,
  -- A frozen wallet pays and transfers nothing. It still receives, and administrators still refund and correct.
  frozen_at timestamptz,
  frozen_by bigint references users,
  -- The wallet's member reads it.
  frozen_reason text,
  -- A closed wallet is empty and receives nothing, so nothing is lost in it.
  closed_at timestamptz,
  created_at timestamptz not null default now(),
  constraint ledger_accounts_book check (book in ('live', 'test')),
  constraint ledger_accounts_kind check (kind in ('wallet', 'fee', 'issuance')),
  constraint ledger_accounts_owner check ((kind = 'wallet') = (user_id is not null)),
  constraint ledger_accounts_stored_balance check ((kind = 'fee') = (balance is null)),
  constraint ledger_accounts_not_negative check (balance >= 0 or kind = 'issuance'),
  constraint ledger_accounts_balance_bound check (balance between -9007199254740991 and 9007199254740991),
  constraint ledger_accounts_frozen_facts check (num_nonnulls(frozen_at, frozen_by, frozen_reason) in (0, 3)),
  constraint ledger_accounts_frozen_wallet check (frozen_at is null or kind = 'wallet'),
  constraint ledger_accounts_closed_is_empty check (closed_at is null or (kind = 'wallet' and balance = 0)),
  constraint ledger_accounts_book_key unique (id, book)
);
create unique index ledger_accounts_wallet_key on ledger_accounts (user_id, book) where kind = 'wallet';
create unique index ledger_accounts_platform_key on ledger_accounts (kind, book) where kind <> 'wallet';
create index ledger_accounts_frozen on ledger_accounts (frozen_at) where frozen_at is not null;

insert into ledger_accounts (book, kind, balance)
values ('live', 'fee', null), ('live', 'issuance', 0), ('test', 'fee', null), ('test', 'issuance', 0);

create table journal (
  id bigint generated always as identity primary key,
  book text not null,
  kind text not null,
  -- The cause: a transaction_id, or the key of an administrator's act. The unique key below makes a payment, a
  -- transfer or a grant happen at most once.
  reference text not null,
  actor_id bigint references users,
  reason text,
  posted_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint journal_book check (book in ('live', 'test')),
  constraint journal_kind check (kind in ('grant', 'payment', 'transfer', 'refund', 'reversal', 'adjustment')),
  constraint journal_reason check (kind in ('payment', 'transfer') or reason is not null),
  constraint journal_reference_key unique (kind, reference, book),
  constraint journal_book_key unique (id, book)
);
-- For the journals of one day. Journals come about in the order of their time, which is enough for a brin index. It costs a
-- payment nothing.
create index journal_posted on journal using brin (posted_at) with (pages_per_range = 32, autosummarize = on);

create table entries (
  id bigint generated always as identity primary key,
  journal_id bigint not null,
  account_id bigint not null,
  book text not null,
  amount bigint not null,
  constraint entries_amount_moves check (amount <> 0),
  constraint entries_journal foreign key (journal_id, book) references journal (id, book),
  constraint entries_account foreign key (account_id, book) references ledger_accounts (id, book)
);
create index entries_of_journal on entries (journal_id);
create index entries_of_account on entries (account_id, id);

-- The chain of seals over the journal. The worker seals every committed journal afterwards, never inside a payment: a hash of
-- the journal, of its entries and of the seal before it, with a MAC whose key is not in the database. So a person who edits,
-- deletes or inserts journals past the triggers breaks the chain and cannot mend it.
create table journal_seals (
  -- Without a foreign key, which would lock the journal's row for each seal. The proof of the books finds a deleted journal.
  journal_id bigint primary key,
  -- The journal sealed before. Null for the first.
  previous_id bigint,
  hash bytea not null,
  mac bytea not null,
  key_id bytea not null,
  created_at timestamptz not null default now(),
  constraint journal_seals_order check (previous_id < journal_id)
);

-- How far the journal is sealed. A process that seals holds this row. There is no other lock.
create table journal_sealing (
  is_only boolean primary key default true,
  -- Every journal up to here is sealed, or its transaction was rolled back.
  sealed_to bigint not null default 0,
  -- The highest id that was visible when the transaction seen_before began. Once every transaction before that one has ended,
  -- each journal up to seen_to is visible or never will be.
  seen_to bigint,
  seen_before xid8,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint journal_sealing_is_only check (is_only),
  constraint journal_sealing_seen check ((seen_to is null) = (seen_before is null)),
  constraint journal_sealing_ahead check (seen_to > sealed_to)
);
insert into journal_sealing default values;

-- Keys of seals that belong to an earlier APP_SECRET. Each is encrypted under the current one, together with its key_id and
-- the last journal that it may have sealed. So a person who has only the database cannot add a key, and cannot make an old key
-- good for later journals.
create table retired_seal_keys (
  id bigint generated always as identity primary key,
  key_id bytea not null,
  last_journal_id bigint not null,
  key_encrypted bytea not null,
  created_at timestamptz not null default now(),
  constraint retired_seal_keys_key_id_key unique (key_id),
  constraint retired_seal_keys_key_id check (octet_length(key_id) = 4)
);

-- Results of the proof of the books. The worker proves them once a day, and an administrator at any time.
create table books_proofs (
  id bigint generated always as identity primary key,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  is_sound boolean not null,
  -- json and not jsonb, which would change the order of the names that the page shows.
  proof json not null,
  created_at timestamptz not null default now()
);

-- When the next daily proof is due. The process that moves the time on makes the proof.
create table books_schedule (
  is_only boolean primary key default true,
  next_at timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  constraint books_schedule_is_only check (is_only)
);
insert into books_schedule default values;

-- The daily close: the points that a day (Asia/Shanghai) moved in the live book. It is written once after the day ended.
create table books_days (
  day date primary key,
  closed_at timestamptz not null,
  journals bigint not null,
  -- By payers.
  paid bigint not null,
  -- To members, by payment applications.
  transferred bigint not null,
  -- Back to members, by refunds and reversals.
  given_back bigint not null,
  -- The net change of the fee account.
  fees bigint not null,
  -- Grants and adjustments, net.
  issued bigint not null,
  created_at timestamptz not null default now()
);
