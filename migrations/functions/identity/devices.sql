-- The polls of devices (RFC 8628). The outcome of a poll is an error code of OAuth, or `allowed` with the member, whose groups
-- the caller judges before it redeems the code.

create or replace function poll_device_code(p_device_code_hash bytea, p_app_id bigint, p_at timestamptz)
  returns table (outcome text, member users) language plpgsql rows 1 as $$
declare
  v_code device_codes;
  v_member users;
begin
  select * into v_code from device_codes
  where device_code_hash = p_device_code_hash and app_id = p_app_id for no key update;
  select * into v_member from users where id = v_code.user_id;
  if not exists (
    select from oauth_apps where id = p_app_id and 'urn:ietf:params:oauth:grant-type:device_code' = any (grant_types)
  ) then
    outcome := 'unauthorized_client';
  elsif v_code.id is null or v_code.redeemed_at is not null then
    outcome := 'invalid_grant';
  elsif v_code.denied_at is not null then
    outcome := 'access_denied';
  elsif v_code.expires_at <= p_at then
    outcome := 'expired_token';
  elsif v_code.allowed_at is not null then
    outcome := 'allowed';
    member := v_member;
  else
    outcome := 'authorization_pending';
    if v_code.last_polled_at > p_at - make_interval(secs => v_code.poll_interval) then
      outcome := 'slow_down';
      v_code.poll_interval := least(v_code.poll_interval + 5, 60);
    end if;
    update device_codes set last_polled_at = p_at, poll_interval = v_code.poll_interval where id = v_code.id;
  end if;
  return next;
end
$$;

-- Begins the family of an allowed code, once. There is no row when the code was redeemed, denied or deleted meanwhile. Rows are
-- locked as in exchange_codes: application, session, then code.
create or replace function redeem_device_code(
  p_device_code_hash bytea, p_app_id bigint, p_at timestamptz, p_access_hash bytea, p_refresh_hash bytea,
  p_family_life interval, p_access_life interval, p_refresh_life interval
) returns table (session_id bigint, scopes text[], auth_time timestamptz, amr text[], member users)
language plpgsql rows 1 as $$
#variable_conflict use_column
declare
  v_code device_codes;
  v_grant_id bigint;
begin
  perform from oauth_apps where id = p_app_id for key share;
  perform from sessions
  where id = (select c.session_id from device_codes as c where c.device_code_hash = p_device_code_hash) for key share;
  select * into v_code from device_codes
  where device_code_hash = p_device_code_hash and app_id = p_app_id for no key update;

  if v_code.redeemed_at is null then
    with family as (
      insert into grants (
        app_id, user_id, session_id, scopes, auth_time, amr, expires_at, is_on_device, resource_app_id
      )
      select v_code.app_id, users.id, v_code.session_id, v_code.scopes, v_code.auth_time, v_code.amr, p_at + p_family_life,
        true, v_code.resource_app_id
      from users
      where users.id = v_code.user_id and v_code.allowed_at is not null and v_code.expires_at > p_at
        and not is_banned_or_suspended(users.is_banned, users.suspended_till, p_at)
      returning id, scopes
    ),
    access as (
      insert into access_tokens (token_hash, grant_id, scopes, expires_at)
      select p_access_hash, id, scopes, p_at + p_access_life from family
    ),
    refresh as (
      insert into refresh_tokens (token_hash, grant_id, expires_at)
      select p_refresh_hash, id, p_at + p_refresh_life from family
    )
    select id into v_grant_id from family;
    update device_codes set redeemed_at = p_at, grant_id = v_grant_id where id = v_code.id and v_grant_id is not null;
  end if;

  -- A statement that is repeated, because its connection was lost at the commit, finds the tokens that it made.
  return query
    select family.session_id, family.scopes, family.auth_time, family.amr, users
    from access_tokens as token
    join grants as family on family.id = token.grant_id
    join users on users.id = family.user_id
    where token.token_hash = p_access_hash and family.revoked_at is null;
end
$$;
