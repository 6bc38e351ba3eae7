-- Administrators list members and applications by standing, with a count of each. The other rows cost these indexes nothing.
create index users_admins on users (id) where is_admin;
create index users_barred on users (id) where is_banned or suspended_till is not null;
create index oauth_apps_suspended on oauth_apps (id) where suspended_at is not null;
create index oauth_apps_unreviewed on oauth_apps (id) where reviewed_at is null and document_url is null;
