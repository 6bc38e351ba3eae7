-- The seconds since a rotation decide whether a request repeats or replays the spent token, so the rotation's transaction and
-- moment are no longer kept.
alter table refresh_tokens drop column spent_by, drop column rotated_at;

-- Their parameters and results change.
drop function if exists rotate_refresh_tokens(
  bytea[], bigint[], text[], timestamptz[], double precision[], pg_snapshot[], bytea[], bytea[], bytea[], interval, interval,
  interval, integer, integer, interval, integer
);
drop function if exists is_repeated_rotation(refresh_tokens, double precision, pg_snapshot, timestamptz, interval);
drop function if exists clients_with_secrets(text[]);
