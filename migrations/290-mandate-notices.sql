-- Mandates that others or the clock have ended, for the notices to their members.
create index mandates_ended on mandates (ended_at) where status = 'ended' and accepted_at is not null;
