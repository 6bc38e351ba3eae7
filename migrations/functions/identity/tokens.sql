-- The acts of the token endpoint, for many requests at once. A batch needs one statement for its locks of each kind and one for
-- its rows. Each row comes with its member, because a join behind the function would be planned at every call.

-- Spends codes and begins their families. There is no row for a code that is not good for its request, and nothing is spent.
-- Rows are locked from the outside in: application, session, then code, each kind by id. A deletion of an outer row reaches the
-- inner ones in the same order. When a sign-out came first, the code's session is null by the time its row is locked. Of two
-- requests with one code, the update takes one.
create or replace function exchange_codes(
  p_code_hashes bytea[], p_app_ids bigint[], p_redirect_uris text[], p_code_challenges text[], p_nows timestamptz[],
  p_access_hashes bytea[], p_refresh_hashes bytea[], p_family_life interval, p_access_life interval,
  p_refresh_life interval
) returns table (
  item integer, session_id bigint, nonce text, scopes text[], auth_time timestamptz, amr text[], member users
) language plpgsql rows 10 as $$
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
      where code.code_hash = asked.code_hash
        -- RFC 6749, section 4.1.3: the code was issued to the client that sends it.
        and code.app_id = asked.app_id
        -- RFC 6749, section 4.1.2: a code is short-lived and works once.
        and code.used_at is null and code.expires_at > asked.at
        -- RFC 6749, section 4.1.3: the same redirect_uri, unless the authorization request had none.
        and (code.redirect_uri = asked.redirect_uri or (asked.redirect_uri is null and not code.redirect_uri_sent))
        -- RFC 7636, section 4.6: the challenge made from the verifier is that of the authorization request. RFC 9700, section
        -- 2.1.1: a verifier without a challenge is refused, too.
        and code.code_challenge is not distinct from asked.code_challenge
        -- Ours: a banned or suspended member gets no tokens.
        and users.id = code.user_id and not is_banned_or_suspended(users.is_banned, users.suspended_till, asked.at)
      returning nextval('grants_id_seq') as grant_id, asked.item, asked.at, asked.access_hash, asked.refresh_hash,
        code.id, code.app_id, code.user_id, code.session_id, code.nonce, code.scopes, code.auth_time, code.amr,
        code.resource_app_id, code.mandate_id, users
    ),
    family as (
      insert into grants (
        id, code_id, app_id, user_id, session_id, scopes, auth_time, amr, expires_at, resource_app_id, mandate_id
      )
      overriding system value
      select grant_id, id, app_id, user_id, session_id, scopes, auth_time, amr, at + p_family_life, resource_app_id,
        mandate_id
      from spent
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

  -- A statement that is repeated, because its connection was lost at the commit, finds the tokens that it made. Codes that were
  -- spent just now come twice, with equal rows.
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

-- A family may be refreshed p_limit times, and once more for each minute of its age. 0 is no limit.
create or replace function may_refresh(p_generation integer, p_family_start timestamptz, p_at timestamptz, p_limit integer)
  returns boolean language sql immutable as $$
    select p_limit = 0 or p_generation < p_limit + extract(epoch from p_at - p_family_start) / 60
  $$;

-- Whether a request that finds its refresh token spent may get the same answer again.
create or replace function is_repeated_rotation(p_token refresh_tokens, p_at timestamptz, p_grace interval) returns boolean
  language sql immutable as $$
    select p_grace > interval '0' and p_token.used_at > p_at - p_grace
  $$;

-- Spends refresh tokens. There is no row for a token that is not good for its request, and nothing is spent. The tokens of a
-- family never outlive it. Fewer scopes narrow this access token only. The scopes of a request come as one text, because the
-- rows of a Postgres array have equal lengths. The newest p_spent_kept spent tokens of a family remain, to recognise a replay.
-- The successor of a token is derived from it, by the present APP_SECRET (p_refresh_hashes) or by the other one that is known
-- during a change (p_other_hashes). The result tells which it is. So requests that come at once with one token, or again after
-- a lost answer, agree, and only the first rotates it. The others get new access tokens, p_repeats_max of them, within p_grace of
-- the rotation and while the successor is unused.
create or replace function rotate_refresh_tokens(
  p_token_hashes bytea[], p_app_ids bigint[], p_scopes text[], p_nows timestamptz[], p_access_hashes bytea[],
  p_refresh_hashes bytea[], p_other_hashes bytea[], p_access_life interval,
  p_refresh_life interval, p_family_life interval, p_limit integer, p_spent_kept integer, p_grace interval,
  p_repeats_max integer
) returns table (
  item integer, grant_id bigint, session_id bigint, nonce text, scopes text[], auth_time timestamptz, amr text[],
  successor_hash bytea, member users
) language plpgsql rows 10 as $$
#variable_conflict use_column
declare
  v_done integer;
  v_count integer;
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
      where token.token_hash = asked.token_hash
        -- RFC 9700, section 4.14.2: rotation. A refresh token works once.
        and token.used_at is null
        -- RFC 6749, section 5.2: neither the token nor its grant has expired or was revoked.
        and token.expires_at > asked.at
        and family.id = token.grant_id and family.revoked_at is null and family.expires_at > asked.at
        -- RFC 6749, section 6: the token was issued to the client that sends it.
        and family.app_id = asked.app_id
        -- RFC 6749, section 6: no scope beyond those that the member granted.
        and (asked.scopes is null or family.scopes @> string_to_array(asked.scopes, ' '))
        -- Ours: the limit of refreshes, and no tokens for a banned or suspended member.
        and may_refresh(token.generation, family.expires_at - p_family_life, asked.at, p_limit)
        and users.id = family.user_id and not is_banned_or_suspended(users.is_banned, users.suspended_till, asked.at)
      returning asked.item, asked.at, asked.access_hash, asked.refresh_hash,
        coalesce(string_to_array(asked.scopes, ' '), family.scopes) as scopes, token.generation,
        family.id, family.session_id, family.auth_time, family.amr, family.expires_at, users
    ),
    access as (
      insert into access_tokens (token_hash, grant_id, scopes, expires_at)
      select access_hash, id, scopes, at + p_access_life from spent
    ),
    refresh as (
      insert into refresh_tokens (token_hash, grant_id, expires_at, generation)
      select refresh_hash, id, least(at + p_refresh_life, expires_at), generation + 1 from spent
    ),
    -- It skips locked tokens, because the deletion of an application locks them from the oldest on. The next refresh deletes
    -- the rest.
    forgotten as (
      delete from refresh_tokens where ctid = any(array(
        select old.ctid from spent
        join refresh_tokens as old on old.grant_id = spent.id and old.generation <= spent.generation - p_spent_kept
        for update of old skip locked
      ))
    )
    select item::integer, id, session_id, null::text, scopes, auth_time, amr, refresh_hash, users from spent;
  get diagnostics v_done = row_count;
  if v_done = cardinality(p_token_hashes) then return; end if;

  -- Locked, so that processes count the repeats one after another. The next statement sees what they have committed.
  perform from refresh_tokens where token_hash = any (p_token_hashes) order by id for no key update;
  return query
    with repeated as (
      select asked.item, asked.at, asked.access_hash, family.id, family.session_id, family.auth_time, family.amr,
        coalesce(string_to_array(asked.scopes, ' '), family.scopes) as scopes, token.id as token_id, users,
        successor.token_hash as successor_hash,
        token.repeats + row_number() over (partition by token.id order by asked.item) as place
      from unnest(
        p_token_hashes, p_app_ids, p_scopes, p_nows, p_access_hashes, p_refresh_hashes, p_other_hashes
      ) with ordinality as asked (token_hash, app_id, scopes, at, access_hash, refresh_hash, other_hash, item)
      join refresh_tokens as token on token.token_hash = asked.token_hash
      join refresh_tokens as successor
        on successor.grant_id = token.grant_id and successor.generation = token.generation + 1
      join grants as family on family.id = token.grant_id
      join users on users.id = family.user_id
      where is_repeated_rotation(token, asked.at, p_grace)
        and successor.used_at is null and successor.expires_at > asked.at
        and successor.token_hash in (asked.refresh_hash, asked.other_hash)
        -- As above.
        and family.revoked_at is null and family.expires_at > asked.at and family.app_id = asked.app_id
        and (asked.scopes is null or family.scopes @> string_to_array(asked.scopes, ' '))
        and not is_banned_or_suspended(users.is_banned, users.suspended_till, asked.at)
        -- This call rotated the token for this item, or a lost answer of it did.
        and not exists (select from access_tokens as own where own.token_hash = asked.access_hash)
    ),
    answered as (select * from repeated where place <= p_repeats_max),
    counted as (
      update refresh_tokens as token set repeats = last.place
      from (select token_id, max(place) as place from answered group by token_id) as last
      where token.id = last.token_id
    ),
    access as (
      insert into access_tokens (token_hash, grant_id, scopes, expires_at)
      select access_hash, id, scopes, at + p_access_life from answered
    )
    select item::integer, id, session_id, null::text, scopes, auth_time, amr, successor_hash, users from answered;
  get diagnostics v_count = row_count;
  if v_done + v_count = cardinality(p_token_hashes) then return; end if;

  -- As in exchange_codes.
  return query
    select asked.item::integer, family.id, family.session_id, null::text, token.scopes, family.auth_time, family.amr,
      successor.token_hash, users
    from unnest(p_access_hashes, p_refresh_hashes, p_other_hashes) with ordinality
      as asked (access_hash, refresh_hash, other_hash, item)
    join access_tokens as token on token.token_hash = asked.access_hash
    join grants as family on family.id = token.grant_id
    join refresh_tokens as successor
      on successor.grant_id = family.id and successor.token_hash in (asked.refresh_hash, asked.other_hash)
    join users on users.id = family.user_id
    where family.revoked_at is null;
end
$$;

-- The members whom access tokens speak for. The token, its family and its application must be in force. A token for another
-- application's service speaks for nobody here.
create or replace function live_access_tokens(p_token_hashes bytea[], p_nows timestamptz[])
  returns table (
    item integer, scopes text[], app_id bigint, app_owner_id bigint, app_name text, redirect_uris text[],
    document_url text, is_on_device boolean, member users
  ) language plpgsql stable rows 10 as $$
begin
  return query
    select asked.item::integer, token.scopes, app.id, app.owner_id, app.name, app.redirect_uris, app.document_url,
      family.is_on_device, users
    from unnest(p_token_hashes, p_nows) with ordinality as asked (token_hash, at, item)
    join access_tokens as token on token.token_hash = asked.token_hash
    join grants as family on family.id = token.grant_id
    join oauth_apps as app on app.id = family.app_id
    join users on users.id = family.user_id
    where token.expires_at > asked.at and family.revoked_at is null and app.suspended_at is null
      and family.resource_app_id is null;
end
$$;
