-- Every act on money writes to each index of its rows, so an index stays only for a reader or a rule.

-- A line is found by its journal or by its account. Its id alone finds nothing.
alter table entries drop constraint entries_pkey, add constraint entries_pkey primary key (journal_id, id);
drop index entries_of_journal;

-- The primary key of a journal holds its book, so that the keys of orders, transfers and refunds bind both, without a second index.
-- No two journals have one id: the identity column gives each number once, and only an import sets ids itself. The proof of the
-- books, which an import makes too, would find the lines of such a pair.
alter table orders drop constraint orders_journal;
alter table transfers drop constraint transfers_journal, drop constraint transfers_reversal;
alter table refunds drop constraint refunds_journal;
alter table journal
  drop constraint journal_book_key,
  drop constraint journal_pkey,
  add constraint journal_pkey primary key (id, book);
alter table orders add constraint orders_journal foreign key (journal_id, book) references journal (id, book);
alter table transfers
  add constraint transfers_journal foreign key (journal_id, book) references journal (id, book),
  add constraint transfers_reversal foreign key (reversal_journal_id, book) references journal (id, book);
alter table refunds add constraint refunds_journal foreign key (journal_id, book) references journal (id, book);

-- Served the foreign key of entries, which has gone.
alter table ledger_accounts drop constraint ledger_accounts_book_key;

-- The ids of an application's transfers follow their times, and a recipient finds transfers by the lines of the wallet.
drop index transfers_of_app, transfers_of_recipient;
alter index transfers_of_app_by_id rename to transfers_of_app;

-- The rows are deleted by the age of their grants.
drop index refresh_tokens_expiry;
