-- Requests that send a refresh token while it is being rotated get the same successor as the one that rotates it.

-- The transaction that spent a token, and its moment by the clock of Postgres, tell which requests came before its commit.
-- Numbers of transactions belong to one database cluster, so is_repeated_rotation ignores those of an imported row.
alter table refresh_tokens add column spent_by xid8;
alter table refresh_tokens add column rotated_at timestamptz;
-- The requests that got the successor again. The bound is checked where it is counted.
alter table refresh_tokens add column repeats smallint not null default 0;
alter table refresh_tokens add constraint refresh_tokens_repeats check (repeats between 0 and 10);
alter table refresh_tokens add constraint refresh_tokens_repeats_of_spent check (repeats = 0 or used_at is not null);

-- Their parameters and results change.
drop function if exists rotate_refresh_tokens(
  bytea[], bigint[], text[], timestamptz[], bytea[], bytea[], interval, interval, interval, integer, integer
);
drop function if exists clients_with_secrets(text[]);
