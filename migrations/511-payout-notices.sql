-- The worker finds payouts that ended lately, and tells their team once.
create index payouts_ended on payouts (finished_at) where finished_at is not null;
