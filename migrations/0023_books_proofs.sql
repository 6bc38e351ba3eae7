-- Proofs of the books as they were found: the worker makes one a day, and an administrator whenever asked.
create table books_proofs (
  id bigint generated always as identity primary key,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  is_sound boolean not null,
  -- Not jsonb, which has its own order of names: the rows are shown as they were found.
  proof json not null,
  created_at timestamptz not null default now()
);

-- Whoever moves this on makes the daily proof.
create table books_schedule (
  is_only boolean primary key default true,
  next_at timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  constraint books_schedule_is_only check (is_only)
);
insert into books_schedule default values;
