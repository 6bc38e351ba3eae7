-- Reads of every request of a member. They are functions because Postgres keeps the plans of functions with the connection. As
-- plain statements they took longer to plan than to run.

create or replace function custom_groups(p_user_id bigint) returns text[] language plpgsql stable as $$
begin
  return (
    select coalesce(array_agg(g.name order by lower(g.name)), '{}') from user_groups as g where g.user_id = p_user_id
  );
end
$$;

-- Until when the forum has silenced a member.
create or replace function silenced_till(p_user_id bigint) returns timestamptz language plpgsql stable as $$
begin
  return (select m.silenced_till from forum_members as m where m.user_id = p_user_id);
end
$$;

-- Live sessions by the hashes of their cookies, many at once, each with its member. It notes the use of a session when the last
-- note is older than p_unseen_since. It skips a row that another statement is noting, so no request waits.
create or replace function use_sessions(
  p_token_hashes bytea[], p_now timestamptz, p_unseen_since timestamptz, p_rp_id text
) returns table (
  item integer, id bigint, auth_time timestamptz, amr text[], renewals integer, has_second_factor boolean,
  has_passkey boolean, unread_alerts integer, member users
) language plpgsql rows 10 as $$
#variable_conflict use_column
declare
  v_unseen bigint[];
begin
  -- Nearly always there is none, and a look costs less than an update of no row.
  select array_agg(s.id) into v_unseen
  from unnest(p_token_hashes) as asked (token_hash)
  cross join lateral (
    select id from sessions
    where token_hash = asked.token_hash and expires_at > p_now and (last_seen_at is null or last_seen_at < p_unseen_since)
    offset 0
  ) as s;
  if v_unseen is not null then
    -- The commit does not wait for the disk. A crash may lose the note, and the next request notes it again.
    perform set_config('synchronous_commit', 'off', true);
    update sessions set last_seen_at = p_now
    where id = any (array(
      select id from sessions
      where id = any (v_unseen) and (last_seen_at is null or last_seen_at < p_unseen_since)
      for update skip locked
    ));
  end if;
  return query
    select asked.item::integer, s.id, s.auth_time, s.amr, s.renewals,
      -- An account that moved to the forum may have an old factor, which no longer counts.
      (u.member).password_hash is not null and exists (
        select from second_factors where user_id = s.user_id offset 0
      ),
      exists (select from passkeys where user_id = s.user_id and rp_id = p_rp_id and is_user_verified offset 0),
      (select count(*)::integer from alerts where user_id = s.user_id and read_at is null),
      u.member
    from unnest(p_token_hashes) with ordinality as asked (token_hash, item)
    cross join lateral (
      select id, user_id, auth_time, amr, renewals from sessions
      where token_hash = asked.token_hash and expires_at > p_now
      offset 0
    ) as s
    cross join lateral (select users as member from users where id = s.user_id offset 0) as u;
end
$$;
