-- Double-entry ledger in whole points. Every movement is one journal row whose entries sum to zero.
--
-- Why it cannot go wrong: journal and entries are append-only (triggers); an INSERT of entries must balance
-- journal by journal within itself (statement trigger), so no later statement can unbalance one either; the
-- book is part of every key, so an entry cannot join accounts of two books; a wallet cannot fall below zero
-- (check). post_journal is the only writer, of balances too.

create table ledger_accounts (
  id bigint generated always as identity primary key,
  book text not null,
  kind text not null,
  user_id bigint references users,
  -- The fee account holds no running balance: each payment inserts an entry for it, and updating one shared
  -- row would queue all payments behind each other. Its balance is the sum of its entries.
  balance bigint,
  created_at timestamptz not null default now(),
  constraint ledger_accounts_book check (book in ('live', 'test')),
  constraint ledger_accounts_kind check (kind in ('wallet', 'fee', 'issuance')),
  constraint ledger_accounts_owner check ((kind = 'wallet') = (user_id is not null)),
  constraint ledger_accounts_stored_balance check ((kind = 'fee') = (balance is null)),
  constraint ledger_accounts_not_negative check (balance >= 0 or kind = 'issuance'),
  constraint ledger_accounts_balance_bound check (balance between -9007199254740991 and 9007199254740991),
  constraint ledger_accounts_book_key unique (id, book)
);
create unique index ledger_accounts_wallet_key on ledger_accounts (user_id, book) where kind = 'wallet';
create unique index ledger_accounts_platform_key on ledger_accounts (kind, book) where kind <> 'wallet';

insert into ledger_accounts (book, kind, balance)
values ('live', 'fee', null), ('live', 'issuance', 0), ('test', 'fee', null), ('test', 'issuance', 0);

create table journal (
  id bigint generated always as identity primary key,
  book text not null,
  kind text not null,
  -- What moved the points, once per kind: a transaction_id, or the name of a grant. The unique key below is
  -- what makes a payment, a transfer or a grant happen at most once.
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

create trigger journal_append_only before update or delete or truncate on journal
  for each statement execute function refuse_change();
create trigger entries_append_only before update or delete or truncate on entries
  for each statement execute function refuse_change();

create function refuse_unbalanced() returns trigger language plpgsql as $$
begin
  if exists (select from inserted group by journal_id having sum(amount) <> 0) then
    raise exception 'entries of a journal must sum to zero'
      using errcode = 'check_violation', constraint = 'entries_sum_to_zero';
  end if;
  return null;
end
$$;
create trigger entries_sum_to_zero after insert on entries
  referencing new table as inserted for each statement execute function refuse_unbalanced();

-- Posts one journal with its lines and moves the balances. Lines of amount zero are left out; one account may
-- stand in several lines. The caller holds row locks on every wallet named and has checked what may be spent:
-- a wallet that would fall below zero violates ledger_accounts_not_negative and undoes everything.
create function post_journal(
  p_book text, p_kind text, p_reference text, p_actor_id bigint, p_reason text, p_posted_at timestamptz,
  p_account_ids bigint[], p_amounts bigint[]
) returns bigint language plpgsql as $$
declare
  v_journal_id bigint;
begin
  insert into journal (book, kind, reference, actor_id, reason, posted_at)
  values (p_book, p_kind, p_reference, p_actor_id, p_reason, p_posted_at)
  returning id into v_journal_id;

  insert into entries (journal_id, book, account_id, amount)
  select v_journal_id, p_book, line.account_id, line.amount
  from unnest(p_account_ids, p_amounts) as line (account_id, amount)
  where line.amount <> 0;

  update ledger_accounts as account
  set balance = account.balance + moved.amount
  from (
    select line.account_id, sum(line.amount) as amount
    from unnest(p_account_ids, p_amounts) as line (account_id, amount)
    group by line.account_id
  ) as moved
  where account.id = moved.account_id and account.kind <> 'fee' and moved.amount <> 0;

  return v_journal_id;
end
$$;
