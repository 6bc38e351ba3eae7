-- A claim answers what the attempts need, and no row of notifications. So the results of two functions change.
create type claimed_notification as (
  id bigint, order_id bigint, kind text, attempts smallint, claims integer, interruptions smallint
);
drop function if exists settle_and_claim_notifications(jsonb, timestamptz, interval, integer, integer, integer);
drop function if exists claim_notifications(timestamptz, interval, integer, integer, integer);
