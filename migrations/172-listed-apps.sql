-- The launch page and the home page show the applications that their owners list there and the staff has reviewed.
alter table oauth_apps add column is_listed boolean not null default false;
create index oauth_apps_listed on oauth_apps (lower(name), id) where is_listed and reviewed_at is not null;
drop index oauth_apps_offered;
create index oauth_apps_offered on oauth_apps (reviewed_at)
  where reviewed_at is not null and suspended_at is null and homepage is not null and is_listed;
