-- The daily close of the books, and new members by their day.

-- What a day (Asia/Shanghai) has moved in the live book, written once after it is over: whole points.
create table books_days (
  day date primary key,
  closed_at timestamptz not null,
  journals bigint not null,
  -- By payers; what was sent to members; what went back to them; the net change of the fee account; grants and
  -- adjustments, net.
  paid bigint not null,
  transferred bigint not null,
  given_back bigint not null,
  fees bigint not null,
  issued bigint not null,
  created_at timestamptz not null default now()
);
create trigger books_days_append_only before update or delete or truncate on books_days
  for each statement execute function refuse_change();

-- Journals are posted in about the order of their time, which is all that this kind of index asks for; it costs a
-- payment nothing.
create index journal_posted on journal using brin (posted_at) with (pages_per_range = 32, autosummarize = on);

create index users_created on users (created_at);
