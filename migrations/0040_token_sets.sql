-- The acts of the token endpoint as statements over sets, no longer a loop over single acts: what an ordinary batch costs
-- is one statement for its locks of each kind, and one for all its rows. Plans are made once for each connection and go
-- from row to row by indexes, so none that was made while tables were small reads whole ones later. Each row comes with
-- its member, because a join behind the function would be planned anew at every call.

-- A code and a refresh token are written twice, when made and when spent; with room in the page no index is.
alter table authorization_codes set (fillfactor = 50);
alter table refresh_tokens set (fillfactor = 60);

drop function exchange_codes(
  bytea[], bigint[], text[], text[], timestamptz[], bytea[], bytea[], interval, interval, interval
);
drop function exchange_code(
  bytea, bigint, text, text, timestamptz, timestamptz, bytea, timestamptz, bytea, timestamptz
);
drop function rotate_refresh_tokens(
  bytea[], bigint[], text[], timestamptz[], bytea[], bytea[], interval, interval
);
drop function rotate_refresh_token(bytea, bigint, text[], timestamptz, bytea, timestamptz, bytea, timestamptz);
drop function live_access_tokens(bytea[], timestamptz[]);
drop function live_access_token(bytea, timestamptz);

-- Spends codes and begins their families. No row for one that is not good for its request; then nothing is spent. Rows
-- are locked from the outside in: application, session, then code, each kind by id, which is the order in which deleting
-- one of the outer ones reaches the inner. When a sign-out was first, the code's session is null by the time its row is
-- locked. Of two requests with one code the update takes either, and only one.
create function exchange_codes(
  p_code_hashes bytea[], p_app_ids bigint[], p_redirect_uris text[], p_code_challenges text[], p_nows timestamptz[],
  p_access_hashes bytea[], p_refresh_hashes bytea[], p_family_life interval, p_access_life interval,
  p_refresh_life interval
) returns table (
  item integer, session_id bigint, nonce text, scopes text[], auth_time timestamptz, amr text[], member users
) language plpgsql rows 10
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_claimed integer;
begin
  if cardinality(p_code_hashes) > 1 then
    perform from oauth_apps where id = any (p_app_ids) order by id for key share;
  end if;
  perform from sessions
  where id in (select c.session_id from authorization_codes as c where c.code_hash = any (p_code_hashes))
  order by id for key share;
  if cardinality(p_code_hashes) > 1 then
    perform from authorization_codes where code_hash = any (p_code_hashes) order by id for no key update;
  end if;

  return query
    with spent as (
      update authorization_codes as code set used_at = asked.at
      from unnest(
        p_code_hashes, p_app_ids, p_redirect_uris, p_code_challenges, p_nows, p_access_hashes, p_refresh_hashes
      ) with ordinality as asked (code_hash, app_id, redirect_uri, code_challenge, at, access_hash, refresh_hash, item),
        users
      where code.code_hash = asked.code_hash and code.app_id = asked.app_id
        and code.used_at is null and code.expires_at > asked.at
        and (code.redirect_uri = asked.redirect_uri or (asked.redirect_uri is null and not code.redirect_uri_sent))
        and code.code_challenge is not distinct from asked.code_challenge
        and users.id = code.user_id and is_welcome(users, asked.at)
      returning nextval('grants_id_seq') as grant_id, asked.item, asked.at, asked.access_hash, asked.refresh_hash,
        code.id, code.app_id, code.user_id, code.session_id, code.nonce, code.scopes, code.auth_time, code.amr, users
    ),
    family as (
      insert into grants (id, code_id, app_id, user_id, session_id, scopes, auth_time, amr, expires_at)
      overriding system value
      select grant_id, id, app_id, user_id, session_id, scopes, auth_time, amr, at + p_family_life from spent
    ),
    access as (
      insert into access_tokens (token_hash, grant_id, scopes, expires_at)
      select access_hash, grant_id, scopes, at + p_access_life from spent
    ),
    refresh as (
      insert into refresh_tokens (token_hash, grant_id, expires_at)
      select refresh_hash, grant_id, at + p_refresh_life from spent
    )
    select item::integer, session_id, nonce, scopes, auth_time, amr, users from spent;
  get diagnostics v_claimed = row_count;
  if v_claimed = cardinality(p_code_hashes) then return; end if;

  -- A claim that is run again, because its connection was lost at the commit, finds the tokens that it made. What was
  -- claimed just now is told twice, alike.
  return query
    select asked.item::integer, family.session_id, code.nonce, token.scopes, family.auth_time, family.amr, users
    from unnest(p_access_hashes) with ordinality as asked (access_hash, item)
    join access_tokens as token on token.token_hash = asked.access_hash
    join grants as family on family.id = token.grant_id
    join authorization_codes as code on code.id = family.code_id
    join users on users.id = family.user_id
    where family.revoked_at is null;
end
$$;

-- Spends refresh tokens. A family's tokens never outlive it; fewer scopes narrow this access token only. Scopes come as
-- one text each, because arrays of Postgres have no ragged edges.
create function rotate_refresh_tokens(
  p_token_hashes bytea[], p_app_ids bigint[], p_scopes text[], p_nows timestamptz[],
  p_access_hashes bytea[], p_refresh_hashes bytea[], p_access_life interval, p_refresh_life interval
) returns table (
  item integer, grant_id bigint, session_id bigint, nonce text, scopes text[], auth_time timestamptz, amr text[],
  member users
) language plpgsql rows 10
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_claimed integer;
begin
  if cardinality(p_token_hashes) > 1 then
    perform from oauth_apps where id = any (p_app_ids) order by id for key share;
    perform from grants
    where id in (select t.grant_id from refresh_tokens as t where t.token_hash = any (p_token_hashes))
    order by id for key share;
    perform from refresh_tokens where token_hash = any (p_token_hashes) order by id for no key update;
  end if;

  return query
    with spent as (
      update refresh_tokens as token set used_at = asked.at
      from unnest(p_token_hashes, p_app_ids, p_scopes, p_nows, p_access_hashes, p_refresh_hashes)
        with ordinality as asked (token_hash, app_id, scopes, at, access_hash, refresh_hash, item),
        grants as family, users
      where token.token_hash = asked.token_hash and token.used_at is null and token.expires_at > asked.at
        and family.id = token.grant_id and family.app_id = asked.app_id
        and family.revoked_at is null and family.expires_at > asked.at
        and (asked.scopes is null or family.scopes @> string_to_array(asked.scopes, ' '))
        and users.id = family.user_id and is_welcome(users, asked.at)
      returning asked.item, asked.at, asked.access_hash, asked.refresh_hash,
        coalesce(string_to_array(asked.scopes, ' '), family.scopes) as scopes,
        family.id, family.session_id, family.auth_time, family.amr, family.expires_at, users
    ),
    access as (
      insert into access_tokens (token_hash, grant_id, scopes, expires_at)
      select access_hash, id, scopes, at + p_access_life from spent
    ),
    refresh as (
      insert into refresh_tokens (token_hash, grant_id, expires_at)
      select refresh_hash, id, least(at + p_refresh_life, expires_at) from spent
    )
    select item::integer, id, session_id, null::text, scopes, auth_time, amr, users from spent;
  get diagnostics v_claimed = row_count;
  if v_claimed = cardinality(p_token_hashes) then return; end if;

  -- As in exchange_codes.
  return query
    select asked.item::integer, family.id, family.session_id, null::text, token.scopes, family.auth_time, family.amr,
      users
    from unnest(p_access_hashes) with ordinality as asked (access_hash, item)
    join access_tokens as token on token.token_hash = asked.access_hash
    join grants as family on family.id = token.grant_id
    join users on users.id = family.user_id
    where family.revoked_at is null;
end
$$;

-- Whom live access tokens speak for. The token, its family and its application must all be in force.
create function live_access_tokens(p_token_hashes bytea[], p_nows timestamptz[])
  returns table (item integer, scopes text[], redirect_uris text[], member users) language plpgsql stable rows 10
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
begin
  return query
    select asked.item::integer, token.scopes, app.redirect_uris, users
    from unnest(p_token_hashes, p_nows) with ordinality as asked (token_hash, at, item)
    join access_tokens as token on token.token_hash = asked.token_hash
    join grants as family on family.id = token.grant_id
    join oauth_apps as app on app.id = family.app_id
    join users on users.id = family.user_id
    where token.expires_at > asked.at and family.revoked_at is null and app.suspended_at is null;
end
$$;

alter function clients_with_secrets set plan_cache_mode = force_generic_plan;
