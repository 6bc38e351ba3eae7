-- The acts of the token endpoint, and the look at an access token, for many requests in one statement. The rules stand
-- in the single forms; these lock in one order and loop. Rows are locked from the outside in: application, session,
-- then code or token, each kind by id, which is the order in which deleting one of the outer ones reaches the inner.
-- A claim that is run again, because its connection was lost at the commit, finds the tokens that it made.

create function exchange_codes(
  p_code_hashes bytea[], p_app_ids bigint[], p_redirect_uris text[], p_code_challenges text[], p_nows timestamptz[],
  p_access_hashes bytea[], p_refresh_hashes bytea[], p_family_life interval, p_access_life interval,
  p_refresh_life interval
) returns table (
  item integer, user_id bigint, session_id bigint, nonce text, scopes text[], auth_time timestamptz, amr text[]
) language plpgsql as $$
begin
  if cardinality(p_code_hashes) > 1 then
    perform from oauth_apps where id = any (p_app_ids) order by id for key share;
    perform from sessions
    where id in (select c.session_id from authorization_codes as c where c.code_hash = any (p_code_hashes))
    order by id for key share;
    perform from authorization_codes where code_hash = any (p_code_hashes) order by id for no key update;
  end if;
  for i in 1 .. cardinality(p_code_hashes) loop
    return query
      select i, done.* from exchange_code(
        p_code_hashes[i], p_app_ids[i], p_redirect_uris[i], p_code_challenges[i], p_nows[i], p_nows[i] + p_family_life,
        p_access_hashes[i], p_nows[i] + p_access_life, p_refresh_hashes[i], p_nows[i] + p_refresh_life
      ) as done;
    if not found then
      return query
        select i, family.user_id, family.session_id, code.nonce, token.scopes, family.auth_time, family.amr
        from access_tokens as token
        join grants as family on family.id = token.grant_id
        join authorization_codes as code on code.id = family.code_id
        where token.token_hash = p_access_hashes[i] and family.revoked_at is null;
    end if;
  end loop;
end
$$;

-- Scopes come as one text each, because arrays of Postgres have no ragged edges.
create function rotate_refresh_tokens(
  p_token_hashes bytea[], p_app_ids bigint[], p_scopes text[], p_nows timestamptz[],
  p_access_hashes bytea[], p_refresh_hashes bytea[], p_access_life interval, p_refresh_life interval
) returns table (
  item integer, grant_id bigint, user_id bigint, session_id bigint, nonce text, scopes text[], auth_time timestamptz,
  amr text[]
) language plpgsql as $$
begin
  if cardinality(p_token_hashes) > 1 then
    perform from oauth_apps where id = any (p_app_ids) order by id for key share;
    perform from grants
    where id in (select t.grant_id from refresh_tokens as t where t.token_hash = any (p_token_hashes))
    order by id for key share;
    perform from refresh_tokens where token_hash = any (p_token_hashes) order by id for no key update;
  end if;
  for i in 1 .. cardinality(p_token_hashes) loop
    return query
      select i, done.* from rotate_refresh_token(
        p_token_hashes[i], p_app_ids[i], string_to_array(p_scopes[i], ' '), p_nows[i],
        p_access_hashes[i], p_nows[i] + p_access_life, p_refresh_hashes[i], p_nows[i] + p_refresh_life
      ) as done;
    if not found then
      return query
        select i, family.id, family.user_id, family.session_id, null::text, token.scopes, family.auth_time, family.amr
        from access_tokens as token
        join grants as family on family.id = token.grant_id
        where token.token_hash = p_access_hashes[i] and family.revoked_at is null;
    end if;
  end loop;
end
$$;

create function live_access_tokens(p_token_hashes bytea[], p_nows timestamptz[])
  returns table (item integer, user_id bigint, scopes text[], redirect_uris text[]) language plpgsql stable as $$
begin
  for i in 1 .. cardinality(p_token_hashes) loop
    return query select i, live.* from live_access_token(p_token_hashes[i], p_nows[i]) as live;
  end loop;
end
$$;

-- Applications in force and their secrets, as clients are authenticated by. When a secret ends, its reader's clock says.
create function clients_with_secrets(p_client_ids text[]) returns table (
  id bigint, client_id text, redirect_uris text[], allow_groups text[], deny_groups text[],
  id_token_signed_response_alg text, token_endpoint_auth_method text,
  secret_id bigint, secret_hash bytea, last_used_at timestamptz, expires_at timestamptz
) language plpgsql stable as $$
begin
  return query
    select app.id, app.client_id, app.redirect_uris, app.allow_groups, app.deny_groups,
      app.id_token_signed_response_alg, app.token_endpoint_auth_method,
      secret.id, secret.secret_hash, secret.last_used_at, secret.expires_at
    from oauth_apps as app
    join app_secrets as secret on secret.app_id = app.id
    where app.client_id = any (p_client_ids) and app.suspended_at is null;
end
$$;
