-- Every session has a public id of its own, so no id is derived from APP_SECRET. A session without one ends, and its member
-- signs in again. Functions of this name take no ids any more.
drop function if exists end_sessions(bigint[], text[], timestamptz, boolean);
delete from sessions where sid is null;
alter table sessions alter column sid set not null;
