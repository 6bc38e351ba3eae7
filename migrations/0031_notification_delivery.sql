-- Delivering notifications: claims that survive a dead process, bounds on how much one host or one application may
-- take of everybody's time, and a record of every attempt.

-- The host of an http(s) address, in lower case, without user, port and final dots; empty when there is none.
create function url_host(p_url text) returns text language sql immutable parallel safe as $$
  select coalesce(
    rtrim(lower((regexp_match(p_url, '^[a-z]+://(?:[^/?#]*@)?(\[[^]/?#]*\]|[^:/?#]*)', 'i'))[1]), '.'), ''
  )
$$;

alter table notifications
  -- What is told. Other kinds of events may follow, each to an address of its own.
  add column kind text not null default 'gateway',
  -- Facts of the order, kept here to claim by. See notification_route.
  add column app_id bigint references payment_apps,
  add column host text collate "C",
  -- How often it was claimed: the number of the claim in force, and of the attempt made under it.
  add column claims integer not null default 0,
  -- Claims in a row whose process never said how the attempt went.
  add column interruptions smallint not null default 0,
  drop constraint notifications_order_id_key,
  add constraint notifications_order_id_key unique (order_id, kind),
  add constraint notifications_kind check (kind in ('gateway')),
  add constraint notifications_claim check (claimed_until is null or status = 'due');

update notifications as n
set app_id = o.app_id, host = url_host(o.notify_url)
from orders as o where o.id = n.order_id;

alter table notifications
  alter column app_id set not null,
  alter column host set not null;

-- Where a notification goes is a fact of its order, so whoever writes one need not know.
create function notification_route() returns trigger language plpgsql as $$
begin
  select o.app_id, url_host(o.notify_url) into new.app_id, new.host from orders as o where o.id = new.order_id;
  return new;
end
$$;
create trigger notifications_route before insert on notifications
  for each row execute function notification_route();

drop index notifications_next;
create index notifications_lanes on notifications (host, app_id, next_attempt_at) where status = 'due';
create index notifications_claimed on notifications (host, app_id) where claimed_until is not null;
create index notifications_of_app on notifications (app_id, id);
create index notifications_failed on notifications (id) where status = 'failed';

alter table notification_attempts
  -- Unknown for an attempt whose process never said how it went, and for one that never left.
  alter column url drop not null,
  alter column duration_ms drop not null,
  add column claim integer not null,
  -- What the outcome's words leave open: an error's code, the target of a redirect.
  add column detail text,
  add constraint notification_attempts_claim_key unique (notification_id, claim),
  add constraint notification_attempts_outcome check (outcome in (
    'delivered', 'wrong_body', 'too_large', 'bad_status', 'redirect', 'bad_address', 'blocked', 'dns', 'refused',
    'unreachable', 'tls', 'timeout', 'cut', 'malformed', 'withdrawn', 'internal', 'interrupted'
  )),
  add constraint notification_attempts_body check (char_length(response_body) <= 2048),
  add constraint notification_attempts_detail check (char_length(detail) <= 300);
drop index notification_attempts_of;

-- Writes down how attempts went, and what follows from it. An attempt whose claim is no longer in force is recorded
-- and changes nothing, unless it delivered: what a merchant has acknowledged stays acknowledged. Safe to repeat.
create function settle_notifications(p_attempts jsonb) returns void language plpgsql as $$
begin
  insert into notification_attempts as a (
    notification_id, claim, url, started_at, duration_ms, outcome, detail, response_status, response_body
  )
  select id, claim, url, started_at, duration_ms, outcome, detail, response_status, response_body
  from jsonb_to_recordset(p_attempts) as x (
    id bigint, claim integer, url text, started_at timestamptz, duration_ms integer, outcome text, detail text,
    response_status integer, response_body text
  )
  -- Taken for interrupted meanwhile: now we know better.
  on conflict on constraint notification_attempts_claim_key do update set
    url = excluded.url, duration_ms = excluded.duration_ms, outcome = excluded.outcome, detail = excluded.detail,
    response_status = excluded.response_status, response_body = excluded.response_body
    where a.outcome = 'interrupted';

  update notifications as n
  set status = case
        when x.outcome = 'delivered' then 'delivered' when x.next_attempt_at is null then 'failed' else 'due'
      end,
      attempts = n.attempts + 1, next_attempt_at = x.next_attempt_at, claimed_until = null, interruptions = 0,
      updated_at = x.ended_at
  from jsonb_to_recordset(p_attempts) as x (
    id bigint, claim integer, outcome text, ended_at timestamptz, next_attempt_at timestamptz
  )
  where n.id = x.id and n.status = 'due'
    and (x.outcome = 'delivered' or (n.claims = x.claim and n.claimed_until is not null));
end
$$;

-- Claims due notifications for a process until p_now + p_lease; a claim that runs out belongs to whoever comes next.
-- Of all processes together no host has more than p_host_max claims at once and no application more than p_app_max,
-- so one claim is made at a time. Whoever has least under way comes first: by host, so that a slow one delays nobody
-- else, and by application, so that one with many hosts does not either.
create function claim_notifications(
  p_now timestamptz, p_lease interval, p_max integer, p_host_max integer, p_app_max integer
) returns setof notifications language plpgsql as $$
begin
  -- Any constant of ours; migrations have another.
  perform pg_advisory_xact_lock(7305128842);
  return query
  with recursive
  -- From one to the next over the index, so that ten thousand rows of one lane cost no more than one.
  lanes (host, app_id) as (
    (select n.host, n.app_id from notifications as n where n.status = 'due' order by n.host, n.app_id limit 1)
    union all
    select next.host, next.app_id
    from lanes cross join lateral (
      select n.host, n.app_id from notifications as n
      where n.status = 'due' and (n.host, n.app_id) > (lanes.host, lanes.app_id)
      order by n.host, n.app_id limit 1
    ) as next
  ),
  busy as materialized (
    select n.host, n.app_id from notifications as n where n.claimed_until > p_now
  ),
  waiting as (
    select lanes.host, lanes.app_id, load.of_host, load.of_app, n.id, n.next_attempt_at,
      load.of_lane
        + row_number() over (partition by lanes.host, lanes.app_id order by n.next_attempt_at, n.id) as lane_rank
    from lanes
    cross join lateral (
      select count(*) filter (where busy.host = lanes.host) as of_host,
        count(*) filter (where busy.app_id = lanes.app_id) as of_app,
        count(*) filter (where busy.host = lanes.host and busy.app_id = lanes.app_id) as of_lane
      from busy
    ) as load
    cross join lateral (
      select due.id, due.next_attempt_at from notifications as due
      where due.status = 'due' and due.host = lanes.host and due.app_id = lanes.app_id
        and due.next_attempt_at <= p_now and (due.claimed_until is null or due.claimed_until <= p_now)
      order by due.next_attempt_at
      limit greatest(least(p_host_max - load.of_host, p_app_max - load.of_app), 0)
    ) as n
  ),
  at_host as (
    select w.*, w.of_host
      + row_number() over (partition by w.host order by w.lane_rank, w.next_attempt_at, w.id) as host_rank
    from waiting as w
  ),
  ranked as (
    select h.id, h.next_attempt_at, h.host_rank, h.of_app
      + row_number() over (partition by h.app_id order by h.host_rank, h.next_attempt_at, h.id) as app_rank
    from at_host as h
    where h.host_rank <= p_host_max
  ),
  chosen as (
    select r.id from ranked as r
    where r.app_rank <= p_app_max
    order by greatest(r.host_rank, r.app_rank), r.next_attempt_at
    limit p_max
  ),
  taken as (
    select n.id, n.claims, n.claimed_until from notifications as n
    where n.id in (select chosen.id from chosen)
      and n.status = 'due' and n.next_attempt_at <= p_now
      and (n.claimed_until is null or n.claimed_until <= p_now)
    for update skip locked
  ),
  interrupted as (
    insert into notification_attempts (notification_id, claim, started_at, outcome)
    select taken.id, taken.claims, taken.claimed_until - p_lease, 'interrupted'
    from taken where taken.claimed_until is not null
    on conflict do nothing
  )
  update notifications as n
  set claimed_until = p_now + p_lease, claims = n.claims + 1,
      interruptions = n.interruptions + (taken.claimed_until is not null)::integer, updated_at = p_now
  from taken where n.id = taken.id
  returning n.*;
end
$$;

-- One turn of a process: what it has done, and what it does next, under one commit.
create function turn_notifications(
  p_attempts jsonb, p_now timestamptz, p_lease interval, p_max integer, p_host_max integer, p_app_max integer
) returns setof notifications language plpgsql as $$
begin
  if jsonb_array_length(p_attempts) > 0 then perform settle_notifications(p_attempts); end if;
  if p_max > 0 then
    return query select * from claim_notifications(p_now, p_lease, p_max, p_host_max, p_app_max);
  end if;
end
$$;
