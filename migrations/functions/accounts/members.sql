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

-- Live sessions by the hashes of their cookies, many at once. It notes the use of a session when the last note is older than
-- p_unseen_since. It skips a row that another statement is noting, so no request waits.
create or replace function use_sessions(p_token_hashes bytea[], p_now timestamptz, p_unseen_since timestamptz)
  returns table (item integer, id bigint, user_id bigint, auth_time timestamptz, amr text[], renewals integer)
  language plpgsql as $$
begin
  update sessions as session set last_seen_at = p_now
  where session.id in (
    select s.id from sessions as s
    where s.token_hash = any (p_token_hashes) and s.expires_at > p_now
      and (s.last_seen_at is null or s.last_seen_at < p_unseen_since)
    for update skip locked
  );
  return query
    select asked.item::integer, s.id, s.user_id, s.auth_time, s.amr, s.renewals
    from unnest(p_token_hashes) with ordinality as asked (token_hash, item)
    join sessions as s on s.token_hash = asked.token_hash
    where s.expires_at > p_now;
end
$$;
