-- Bounds the refreshes of a grant, and the spent refresh tokens that are kept of it. The place of a token in its family is
-- a number, so the statement that spends a token can judge both without counting rows.

alter table refresh_tokens add column generation integer not null default 0;
update refresh_tokens as token set generation = placed.generation
from (
  select id, row_number() over (partition by grant_id order by id) - 1 as generation from refresh_tokens
) as placed
where placed.id = token.id and placed.generation > 0;

-- A family is one chain: a token has at most one successor.
alter table refresh_tokens add constraint refresh_tokens_one_chain unique (grant_id, generation);
drop index refresh_tokens_grant;

-- A family may be refreshed p_limit times, and once more for each minute of its age. 0 is no limit.
create function may_refresh(p_generation integer, p_family_start timestamptz, p_at timestamptz, p_limit integer)
  returns boolean language sql immutable as $$
    select p_limit = 0 or p_generation < p_limit + extract(epoch from p_at - p_family_start) / 60
  $$;

drop function rotate_refresh_tokens(
  bytea[], bigint[], text[], timestamptz[], bytea[], bytea[], interval, interval
);

-- Spends refresh tokens. A family's tokens never outlive it; fewer scopes narrow this access token only. Scopes come as
-- one text each, because arrays of Postgres have no ragged edges. The newest p_spent_kept spent tokens of a family remain:
-- a replay is recognised by them.
create function rotate_refresh_tokens(
  p_token_hashes bytea[], p_app_ids bigint[], p_scopes text[], p_nows timestamptz[],
  p_access_hashes bytea[], p_refresh_hashes bytea[], p_access_life interval, p_refresh_life interval,
  p_family_life interval, p_limit integer, p_spent_kept integer
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
        and may_refresh(token.generation, family.expires_at - p_family_life, asked.at, p_limit)
        and (asked.scopes is null or family.scopes @> string_to_array(asked.scopes, ' '))
        and users.id = family.user_id and is_welcome(users, asked.at)
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
    -- Waits for nobody: the deletion of an application locks tokens from the oldest on. The next refresh takes what is left.
    forgotten as (
      delete from refresh_tokens where ctid = any(array(
        select old.ctid from spent
        join refresh_tokens as old on old.grant_id = spent.id and old.generation <= spent.generation - p_spent_kept
        for update of old skip locked
      ))
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
