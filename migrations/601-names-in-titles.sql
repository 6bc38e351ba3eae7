-- The names of applications as they look alike, kept beside them: a page that compares with all of them then computes none. In the
-- order of bytes, the names that begin a text stand before it.
alter table payment_apps add column name_skeleton text collate "C" generated always as (name_skeleton(name)) stored;
drop index payment_apps_name_skeleton;
create index payment_apps_name_skeleton on payment_apps (name_skeleton);
create index payment_apps_approved_names on payment_apps (name_skeleton) where status = 'approved' and book = 'live';
