-- Live sessions by the hashes of their cookies, many at once; their use is noted when it was last noted before
-- p_unseen_since. A row that somebody else is noting just now is left to them, so that nobody waits.
create function use_sessions(p_token_hashes bytea[], p_now timestamptz, p_unseen_since timestamptz)
  returns table (item integer, id bigint, user_id bigint, auth_time timestamptz, amr text[]) language plpgsql as $$
begin
  update sessions as session set last_seen_at = p_now
  where session.id in (
    select s.id from sessions as s
    where s.token_hash = any (p_token_hashes) and s.expires_at > p_now
      and (s.last_seen_at is null or s.last_seen_at < p_unseen_since)
    for update skip locked
  );
  return query
    select asked.item::integer, s.id, s.user_id, s.auth_time, s.amr
    from unnest(p_token_hashes) with ordinality as asked (token_hash, item)
    join sessions as s on s.token_hash = asked.token_hash
    where s.expires_at > p_now;
end
$$;
