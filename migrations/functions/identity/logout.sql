-- Back-channel logout: acts write deliveries, and any number of processes claim and settle them.

-- Ends sessions. Applications with an address and a family that began in such a session are told, unless p_is_told is false. Their
-- families without offline_access end too (Back-Channel Logout 1.0, section 2.7).
--
-- The applications are locked last, and a locked one is skipped: only its deletion locks it so, and it must not wait for codes that
-- wait for it. A family that is revoked while its consent remains was signed out by its application, which is told again.
create or replace function end_sessions(p_session_ids bigint[], p_now timestamptz, p_is_told boolean) returns void language plpgsql as $$
declare
  v_app_ids bigint[];
  v_user_ids bigint[];
  v_sids text[];
  v_ending bigint[];
begin
  perform from sessions where id = any (p_session_ids) order by id for update;
  if p_is_told then
    select array_agg(told.app_id), array_agg(told.user_id), array_agg(told.sid) into v_app_ids, v_user_ids, v_sids
    from (
      select distinct family.app_id, family.user_id, session.sid
      from sessions as session
      join grants as family on family.session_id = session.id
      join oauth_apps as app on app.id = family.app_id
      where session.id = any (p_session_ids) and app.backchannel_logout_uri is not null and app.suspended_at is null
        and (family.revoked_at is null or exists (
          select from consents as c where c.user_id = family.user_id and c.app_id = family.app_id
        ))
    ) as told;
    select array_agg(family.id) into v_ending
    from grants as family
    where family.session_id = any (p_session_ids) and family.app_id = any (v_app_ids)
      and family.revoked_at is null and not 'offline_access' = any (family.scopes);
  end if;
  delete from sessions where id = any (p_session_ids);
  update grants set revoked_at = p_now where id = any (v_ending) and revoked_at is null;
  insert into logout_deliveries (app_id, user_id, sid, is_bulk, next_attempt_at, created_at)
  select told.app_id, told.user_id, told.sid, false, p_now, p_now
  from unnest(v_app_ids, v_user_ids, v_sids) as told (app_id, user_id, sid)
  where told.app_id in (
    select app.id from oauth_apps as app where app.id = any (v_app_ids) order by app.id for key share skip locked
  );
end
$$;

-- Tells applications that all sessions of a member end: p_app_id, whose consent the member took back, or without it all with a
-- consent or a family. Families that this act has revoked count.
create or replace function tell_of_member(p_user_id bigint, p_app_id bigint, p_now timestamptz) returns void language plpgsql as $$
begin
  insert into logout_deliveries (app_id, user_id, sid, is_bulk, next_attempt_at, created_at)
  select told.id, p_user_id, null, p_app_id is null, p_now, p_now
  from (
    select app.id from oauth_apps as app
    where app.id in (
      select p_app_id where p_app_id is not null
      union select c.app_id from consents as c where c.user_id = p_user_id and p_app_id is null
      union select family.app_id from grants as family
      where family.user_id = p_user_id and p_app_id is null and family.expires_at > p_now
        and (family.revoked_at is null or family.revoked_at >= p_now)
    ) and app.backchannel_logout_uri is not null and app.suspended_at is null
    order by app.id for key share of app skip locked
  ) as told;
end
$$;

-- Records attempts. An attempt whose claim is no longer in force counts only if it delivered. Safe to repeat.
create or replace function settle_logouts(p_attempts jsonb) returns void language plpgsql as $$
begin
  with ended as materialized (
    select * from jsonb_to_recordset(p_attempts) as x (
      id bigint, claim integer, ended_at timestamptz, outcome text, response_status integer, next_attempt_at timestamptz
    )
  )
  update logout_deliveries as d
  set attempts = d.attempts + 1, attempted_at = x.ended_at, outcome = x.outcome, response_status = x.response_status,
    next_attempt_at = x.next_attempt_at, claimed_until = null, interruptions = 0,
    ended_at = case when x.next_attempt_at is null then x.ended_at end
  from ended as x
  -- By key, as settle_notifications. A delivery that has not ended has a next attempt.
  where d.id = any (array(select id from ended)) and d.id = x.id and d.next_attempt_at is not null
    and (x.outcome = 'delivered' or (d.claims = x.claim and d.claimed_until is not null));
end
$$;

-- The host of an address. The attempts at one host are limited, whatever the port.
create or replace function logout_host(p_uri text) returns text language sql immutable
return lower(substring(p_uri from '^https?://(\[[^\]]*\]|[^/?:]*)'));

-- Claims due deliveries for a process until p_now + p_lease. After that time another process may claim them. All processes
-- together claim at most p_host_max for one host, so one claim runs at a time. A lane is an application and a kind of act. Lanes
-- with the fewest claims under way come first. Acts in bulk leave one place at each host, and take p_bulk_max at most.
create or replace function claim_logouts(
  p_now timestamptz, p_lease interval, p_max integer, p_bulk_max integer, p_host_max integer
) returns table (id bigint, claims integer, attempts smallint, interruptions smallint) language plpgsql as $$
#variable_conflict use_column
begin
  -- Any constant that nothing else locks. Migrations and notifications have others.
  perform pg_advisory_xact_lock(7305128843);
  return query
  with recursive
  lanes (app_id, is_bulk) as (
    (
      select d.app_id, d.is_bulk from logout_deliveries as d
      where d.ended_at is null order by d.app_id, d.is_bulk limit 1
    )
    union all
    select next.app_id, next.is_bulk
    from lanes cross join lateral (
      select d.app_id, d.is_bulk from logout_deliveries as d
      where d.ended_at is null and (d.app_id, d.is_bulk) > (lanes.app_id, lanes.is_bulk)
      order by d.app_id, d.is_bulk limit 1
    ) as next
  ),
  under_way as materialized (
    select d.app_id, d.is_bulk, coalesce(logout_host(app.backchannel_logout_uri), '') as host
    from logout_deliveries as d join oauth_apps as app on app.id = d.app_id
    where d.claimed_until > p_now
  ),
  load as (
    select lanes.app_id, lanes.is_bulk, coalesce(logout_host(app.backchannel_logout_uri), '') as host,
      p_host_max - lanes.is_bulk::integer as lane_max
    from lanes join oauth_apps as app on app.id = lanes.app_id
  ),
  counted as (
    select load.*,
      (select count(*) from under_way as b where b.host = load.host) as of_host,
      (select count(*) from under_way as b where b.app_id = load.app_id and b.is_bulk = load.is_bulk) as of_lane
    from load
  ),
  waiting as (
    select c.host, c.is_bulk, c.of_host, c.lane_max, d.id, d.next_attempt_at,
      c.of_lane + row_number() over (partition by c.app_id, c.is_bulk order by d.next_attempt_at, d.id) as lane_rank
    from counted as c
    cross join lateral (
      select due.id, due.next_attempt_at from logout_deliveries as due
      where due.ended_at is null and due.app_id = c.app_id and due.is_bulk = c.is_bulk
        and due.next_attempt_at <= p_now and (due.claimed_until is null or due.claimed_until <= p_now)
      order by due.next_attempt_at
      limit greatest(c.lane_max - c.of_host, 0)
    ) as d
  ),
  at_host as (
    select w.*, w.of_host
      + row_number() over (partition by w.host order by w.lane_rank, w.is_bulk, w.next_attempt_at, w.id) as host_rank
    from waiting as w
  ),
  ranked as (
    select h.id, h.host_rank, h.is_bulk, h.next_attempt_at,
      row_number() over (partition by h.is_bulk order by h.host_rank, h.next_attempt_at, h.id) as kind_rank
    from at_host as h
    where h.host_rank <= h.lane_max
  ),
  chosen as (
    select r.id from ranked as r
    where not r.is_bulk or r.kind_rank <= p_bulk_max
    order by r.host_rank, r.is_bulk, r.next_attempt_at
    limit p_max
  ),
  taken as (
    select still.id, still.claimed_until
    from chosen cross join lateral (
      select d.id, d.claimed_until from logout_deliveries as d
      where d.id = chosen.id and d.ended_at is null and d.next_attempt_at <= p_now
        and (d.claimed_until is null or d.claimed_until <= p_now)
      for update skip locked
    ) as still
  )
  update logout_deliveries as d
  set claimed_until = p_now + p_lease, claims = d.claims + 1,
      interruptions = d.interruptions + (taken.claimed_until is not null)::integer
  from taken where d.id = taken.id
  returning d.id, d.claims, d.attempts, d.interruptions;
end
$$;

-- One round of a process: it records its attempts and claims the next ones, in one commit.
create or replace function settle_and_claim_logouts(
  p_attempts jsonb, p_now timestamptz, p_lease interval, p_max integer, p_bulk_max integer, p_host_max integer
) returns table (id bigint, claims integer, attempts smallint, interruptions smallint) language plpgsql as $$
begin
  if jsonb_array_length(p_attempts) > 0 then perform settle_logouts(p_attempts); end if;
  if p_max > 0 then
    return query select * from claim_logouts(p_now, p_lease, p_max, p_bulk_max, p_host_max);
  end if;
end
$$;
