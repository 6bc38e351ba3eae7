-- The last whole backup, as the program that made it reports it. docs/operations/backup.sh writes the row after each dump, so a
-- dump tells of the one before it.
create table last_backup (
  is_only boolean primary key default true check (is_only),
  finished_at timestamptz not null,
  bytes bigint not null check (bytes > 0)
);
