-- A repeat of a spent refresh token is told from a replay by the seconds since, not by what the database had committed.
alter table refresh_tokens drop column spent_by, drop column rotated_at;

-- Their parameters and results change.
drop function if exists rotate_refresh_tokens(
  bytea[], bigint[], text[], timestamptz[], double precision[], pg_snapshot[], bytea[], bytea[], bytea[], interval, interval,
  interval, integer, integer, interval, integer
);
drop function if exists is_repeated_rotation(refresh_tokens, double precision, pg_snapshot, timestamptz, interval);
drop function if exists clients_with_secrets(text[]);
