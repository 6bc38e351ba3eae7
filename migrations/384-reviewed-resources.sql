-- A member may register an address at a stranger's host, so a resource counts only after the staff has reviewed it.

-- The resource that the staff has reviewed: that of the application, or none. Only this one is unique, so an unreviewed
-- registration blocks nobody.
alter table oauth_apps add column reviewed_resource_uri text;
alter table oauth_apps drop constraint oauth_apps_resource_uri_key;
alter table oauth_apps add constraint oauth_apps_reviewed_resource_uri_key unique (reviewed_resource_uri);
alter table oauth_apps add constraint oauth_apps_reviewed_resource_uri
  check (reviewed_resource_uri is null or reviewed_resource_uri is not distinct from resource_uri);
update oauth_apps set reviewed_resource_uri = resource_uri where reviewed_at is not null;
