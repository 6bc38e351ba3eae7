-- What docs/operations/backup.sh reports beside the last dump: whether dumps go to a bucket, the time of the newest dump there, and
-- when a restored dump last proved its books.
alter table last_backup
  add column has_bucket boolean not null default false,
  add column sent_at timestamptz,
  add column proven_at timestamptz;
