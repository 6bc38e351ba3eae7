-- The logos that owners uploaded for their applications. `logo_url` of an application holds the address of one, or that of a
-- picture elsewhere, which is https: http only outside production, as the form checks.
create table app_logos (
  -- The hash of the picture, which is part of its address.
  name text primary key check (name ~ '^[0-9a-f]{32}$'),
  picture bytea not null check (octet_length(picture) between 1 and 1200000),
  created_at timestamptz not null
);
create index app_logos_created on app_logos (created_at);

alter table oauth_apps
  drop constraint oauth_apps_logo_url_https,
  add constraint oauth_apps_logo_url
    check (logo_url ~ '^(https?://|/brand/app\.[0-9a-f]{32}\.png$)' and char_length(logo_url) <= 500);
alter table payment_apps
  add constraint payment_apps_logo_url
    check (logo_url ~ '^(https?://|/brand/app\.[0-9a-f]{32}\.png$)' and char_length(logo_url) <= 500);
-- For the sweep of pictures that no application shows.
create index oauth_apps_uploaded_logo on oauth_apps (logo_url) where logo_url like '/brand/%';
create index payment_apps_uploaded_logo on payment_apps (logo_url) where logo_url like '/brand/%';
