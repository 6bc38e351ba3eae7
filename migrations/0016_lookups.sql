-- What every request that knows its member asks for. Functions, because Postgres keeps their plans with the connection;
-- planned anew each time, as unnamed statements are, these took longer to plan than to run.

create function custom_groups(p_user_id bigint) returns text[] language plpgsql stable as $$
begin
  return (
    select coalesce(array_agg(g.name order by lower(g.name)), '{}') from user_groups as g where g.user_id = p_user_id
  );
end
$$;

-- Whom a live access token speaks for. The token, its family and its application must all be in force.
create function live_access_token(p_token_hash bytea, p_now timestamptz)
  returns table (user_id bigint, scopes text[], redirect_uris text[]) language plpgsql stable rows 1 as $$
begin
  return query
    select family.user_id, token.scopes, app.redirect_uris
    from access_tokens as token
    join grants as family on family.id = token.grant_id
    join oauth_apps as app on app.id = family.app_id
    where token.token_hash = p_token_hash and token.expires_at > p_now
      and family.revoked_at is null and app.suspended_at is null;
end
$$;
