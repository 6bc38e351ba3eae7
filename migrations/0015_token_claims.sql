-- Turning a code or a refresh token into new tokens: each one act, in one round trip. They are functions because
-- Postgres then keeps their plans with the connection; as one statement, planning took four times as long as the act.

-- Banned and suspended members get nothing.
create function is_welcome(p_user users, p_now timestamptz) returns boolean
  language sql immutable as $$
    select not p_user.is_banned and (p_user.suspended_till is null or p_user.suspended_till <= p_now)
  $$;

-- Spends a code and begins its family. No row when the code is not good for this request; then nothing is spent.
create function exchange_code(
  p_code_hash bytea, p_app_id bigint, p_redirect_uri text, p_code_challenge text, p_now timestamptz,
  p_family_end timestamptz, p_access_hash bytea, p_access_end timestamptz, p_refresh_hash bytea,
  p_refresh_end timestamptz
) returns table (
  user_id bigint, session_id bigint, nonce text, scopes text[], auth_time timestamptz, amr text[]
) language plpgsql rows 1 as $$
declare
  v_code authorization_codes;
  v_grant_id bigint;
begin
  -- The session is locked before the code, which is the order of a sign-out (its cascade reaches the code last), so
  -- the two cannot deadlock. When the sign-out was first, the code's session is null by the time its row is locked.
  perform from sessions
  where id = (select c.session_id from authorization_codes as c where c.code_hash = p_code_hash)
  for key share;

  update authorization_codes as code set used_at = p_now
  from users
  where code.code_hash = p_code_hash and code.app_id = p_app_id
    and code.used_at is null and code.expires_at > p_now
    and (code.redirect_uri = p_redirect_uri or (p_redirect_uri is null and not code.redirect_uri_sent))
    and code.code_challenge is not distinct from p_code_challenge
    and users.id = code.user_id and is_welcome(users, p_now)
  returning code.* into v_code;
  if not found then return; end if;

  insert into grants (code_id, app_id, user_id, session_id, scopes, auth_time, amr, expires_at)
  values (v_code.id, v_code.app_id, v_code.user_id, v_code.session_id, v_code.scopes, v_code.auth_time, v_code.amr,
    p_family_end)
  returning id into v_grant_id;
  insert into access_tokens (token_hash, grant_id, scopes, expires_at)
  values (p_access_hash, v_grant_id, v_code.scopes, p_access_end);
  insert into refresh_tokens (token_hash, grant_id, expires_at)
  values (p_refresh_hash, v_grant_id, p_refresh_end);

  return query select v_code.user_id, v_code.session_id, v_code.nonce, v_code.scopes, v_code.auth_time, v_code.amr;
end
$$;

-- Spends a refresh token. A family's tokens never outlive it; fewer scopes narrow this access token only.
create function rotate_refresh_token(
  p_token_hash bytea, p_app_id bigint, p_scopes text[], p_now timestamptz,
  p_access_hash bytea, p_access_end timestamptz, p_refresh_hash bytea, p_refresh_end timestamptz
) returns table (
  grant_id bigint, user_id bigint, session_id bigint, nonce text, scopes text[], auth_time timestamptz, amr text[]
) language plpgsql rows 1 as $$
declare
  v_family grants;
  v_scopes text[];
begin
  update refresh_tokens as token set used_at = p_now
  from grants, users
  where token.token_hash = p_token_hash and token.used_at is null and token.expires_at > p_now
    and grants.id = token.grant_id and grants.app_id = p_app_id
    and grants.revoked_at is null and grants.expires_at > p_now
    and (p_scopes is null or grants.scopes @> p_scopes)
    and users.id = grants.user_id and is_welcome(users, p_now)
  returning grants.* into v_family;
  if not found then return; end if;

  v_scopes := coalesce(p_scopes, v_family.scopes);
  insert into access_tokens (token_hash, grant_id, scopes, expires_at)
  values (p_access_hash, v_family.id, v_scopes, p_access_end);
  insert into refresh_tokens (token_hash, grant_id, expires_at)
  values (p_refresh_hash, v_family.id, least(p_refresh_end, v_family.expires_at));

  return query select v_family.id, v_family.user_id, v_family.session_id, null::text, v_scopes, v_family.auth_time,
    v_family.amr;
end
$$;
