-- When the staff's mark goes, keeps what was reviewed, so that the next reviewer sees what has changed. The fields are those of
-- REVIEWED_FIELDS in src/identity/apps/acts.ts.
create or replace function keep_reviewed_values() returns trigger language plpgsql as $$
begin
  new.reviewed_values := jsonb_build_object(
    'name', old.name, 'description', old.description, 'homepage', old.homepage, 'logo_url', old.logo_url,
    'redirect_uris', old.redirect_uris, 'post_logout_redirect_uris', old.post_logout_redirect_uris,
    'grant_types', old.grant_types, 'is_listed', old.is_listed, 'resource_uri', old.resource_uri,
    'backchannel_logout_uri', old.backchannel_logout_uri
  );
  return new;
end
$$;
create or replace trigger oauth_apps_reviewed_values before update of reviewed_at on oauth_apps
  for each row when (old.reviewed_at is not null and new.reviewed_at is null) execute function keep_reviewed_values();
