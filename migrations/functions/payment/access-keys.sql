-- Access keys of payment applications, and the tokens that programs get with them.

-- Stores a token, unless the key has ended meanwhile. Answers whether it did. A key has 20 tokens: the oldest ends for a new one.
-- The lock of the key puts its tokens and its revocation in one order, so no token outlives the revocation.
create or replace function issue_access_token(
  p_key_id bigint, p_token_hash bytea, p_scopes text[], p_now timestamptz, p_expires_at timestamptz
) returns boolean language plpgsql as $$
declare
  c_tokens_max constant integer := 20;
begin
  perform from access_keys where id = p_key_id and revoked_at is null and expires_at > p_now for no key update;
  if not found then return false; end if;
  delete from access_key_tokens where token_hash in (
    select token_hash from access_key_tokens where key_id = p_key_id
    order by key_id desc, expires_at desc, created_at desc offset c_tokens_max - 1
  );
  insert into access_key_tokens (token_hash, key_id, scopes, created_at, expires_at)
  values (p_token_hash, p_key_id, p_scopes, p_now, p_expires_at);
  update access_keys set last_used_at = p_now where id = p_key_id;
  return true;
end
$$;

-- Ends keys and their tokens, and answers the keys that it ended. A later request with such a token finds nothing.
create or replace function revoke_access_keys(p_ids bigint[], p_now timestamptz) returns setof access_keys
  language plpgsql as $$
begin
  perform from access_keys where id = any (p_ids) order by id for no key update;
  delete from access_key_tokens where key_id = any (p_ids);
  return query
    update access_keys set revoked_at = p_now where id = any (p_ids) and revoked_at is null returning *;
end
$$;

-- The applications that tokens speak for, many at once, with what limits each token. A token or key that has ended has no row.
create or replace function access_key_callers(p_token_hashes bytea[], p_now timestamptz) returns table (
  token_hash bytea, key_id bigint, scopes text[], key_addresses text[], last_used_at timestamptz,
  id bigint, book text, status text, applicant_id bigint, allowed_addresses text[]
) language plpgsql stable as $$
begin
  return query
    select asked.token_hash, key.id, token.scopes, key.allowed_addresses::text[], key.last_used_at,
      app.id, app.book, app_status(app.status, owner.is_banned, owner.suspended_till, p_now), app.applicant_id,
      app.allowed_addresses::text[]
    from unnest(p_token_hashes) as asked (token_hash)
    join access_key_tokens as token on token.token_hash = asked.token_hash
    join access_keys as key on key.id = token.key_id
    join payment_apps as app on app.id = key.app_id
    join users as owner on owner.id = app.applicant_id
    where token.expires_at > p_now and key.expires_at > p_now and key.revoked_at is null;
end
$$;
