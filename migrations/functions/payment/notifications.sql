-- Delivery of the outbox: claims that survive a dead process, limits for each host and each application, and a record of every
-- attempt.

-- Records attempts and their consequences. An attempt whose claim is no longer in force is recorded and changes nothing, unless
-- it delivered: an acknowledgement of a merchant counts. Safe to repeat.
create or replace function settle_notifications(p_attempts jsonb) returns void language plpgsql as $$
begin
  insert into notification_attempts as a (
    notification_id, claim, url, started_at, duration_ms, outcome, detail, response_status, response_body, step_ms
  )
  select id, claim, url, started_at, duration_ms, outcome, detail, response_status, response_body, step_ms
  from jsonb_to_recordset(p_attempts) as x (
    id bigint, claim integer, url text, started_at timestamptz, duration_ms integer, outcome text, detail text,
    response_status integer, response_body text, step_ms jsonb
  )
  -- Another process recorded this attempt as interrupted. Now its outcome is known.
  on conflict on constraint notification_attempts_claim_key do update set
    url = excluded.url, duration_ms = excluded.duration_ms, outcome = excluded.outcome, detail = excluded.detail,
    response_status = excluded.response_status, response_body = excluded.response_body,
    step_ms = excluded.step_ms
    where a.outcome = 'interrupted';

  with ended as materialized (
    select * from jsonb_to_recordset(p_attempts) as x (
      id bigint, claim integer, outcome text, ended_at timestamptz, next_attempt_at timestamptz
    )
  )
  update notifications as n
  set status = case
        when x.outcome = 'delivered' then 'delivered' when x.next_attempt_at is null then 'failed' else 'due'
      end,
      attempts = n.attempts + 1, next_attempt_at = x.next_attempt_at, claimed_until = null, interruptions = 0,
      updated_at = x.ended_at
  from ended as x
  -- The list of ids makes Postgres look up these rows by their key, whatever it knows of the table. A due row has a next attempt;
  -- asked for its status, Postgres could read all due rows.
  where n.id = any (array(select id from ended)) and n.id = x.id and n.next_attempt_at is not null
    and (x.outcome = 'delivered' or (n.claims = x.claim and n.claimed_until is not null));
end
$$;

-- Claims due notifications for a process until p_now + p_lease. After that time another process may claim them. All processes
-- together claim at most p_host_max for one host and p_app_max for one application, so one claim runs at a time. Hosts and
-- applications with the fewest claims under way come first: a slow host delays no other, and so does an application with many
-- hosts.
--
-- A process claims when attempts end, and mostly finds one or two notifications. Most of its cost is the start of its statements, so
-- they have few steps. A claim that finds nothing ends after the first.
create or replace function claim_notifications(
  p_now timestamptz, p_lease interval, p_max integer, p_host_max integer, p_app_max integer, out claimed claimed_notification[]
) language plpgsql as $$
declare
  v_has_interrupted boolean;
begin
  -- Any constant that nothing else locks. Migrations have another.
  perform pg_advisory_xact_lock(7305128842);

  with recursive
  -- A lane is a host and an application. The index leads from one lane to the next, however many rows a lane has.
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
  load as (
    select one.host, one.app_id, count(one.claim) as of_lane,
      sum(count(one.claim)::integer) over (partition by one.host) as of_host,
      sum(count(one.claim)::integer) over (partition by one.app_id) as of_app
    from (
      select lanes.host, lanes.app_id, null::bigint as claim from lanes
      union all
      select n.host, n.app_id, n.id from notifications as n where n.claimed_until > p_now
    ) as one
    group by one.host, one.app_id
  ),
  waiting as (
    select load.*, n.id, n.next_attempt_at,
      load.of_lane
        + row_number() over (partition by load.host, load.app_id order by n.next_attempt_at, n.id) as lane_rank
    from load
    cross join lateral (
      select due.id, due.next_attempt_at from notifications as due
      where due.status = 'due' and due.host = load.host and due.app_id = load.app_id
        and due.next_attempt_at <= p_now and (due.claimed_until is null or due.claimed_until <= p_now)
      order by due.next_attempt_at
      limit greatest(least(p_host_max - load.of_host, p_app_max - load.of_app), 0)
    ) as n
    where load.host <> all (array(select p.host from paused_hosts as p))
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
  )
  select
    array_agg(
      row(
        free.id, free.order_id, free.kind, free.attempts, free.claims + 1,
        free.interruptions + (free.claimed_until is not null)::integer
      )::claimed_notification
    ),
    bool_or(free.claimed_until is not null)
  into claimed, v_has_interrupted
  from chosen cross join lateral (
    select n.id, n.order_id, n.kind, n.attempts, n.claims, n.interruptions, n.claimed_until from notifications as n
    where n.id = chosen.id and n.status = 'due' and n.next_attempt_at <= p_now
      and (n.claimed_until is null or n.claimed_until <= p_now)
    for update skip locked
  ) as free;
  if claimed is null then return; end if;

  if v_has_interrupted then
    insert into notification_attempts (notification_id, claim, started_at, outcome)
    select n.id, n.claims, n.claimed_until - p_lease, 'interrupted'
    from unnest(claimed) as c join notifications as n on n.id = c.id
    where n.claimed_until is not null
    on conflict do nothing;
  end if;
  update notifications as n
  set claimed_until = p_now + p_lease, claims = c.claims, interruptions = c.interruptions, updated_at = p_now
  from unnest(claimed) as c where n.id = c.id;
end
$$;

-- One round of a process: it records its attempts and claims the next ones, in one commit.
create or replace function settle_and_claim_notifications(
  p_attempts jsonb, p_now timestamptz, p_lease interval, p_max integer, p_host_max integer, p_app_max integer
) returns claimed_notification[] language plpgsql as $$
begin
  if jsonb_array_length(p_attempts) > 0 then perform settle_notifications(p_attempts); end if;
  if p_max > 0 then return claim_notifications(p_now, p_lease, p_max, p_host_max, p_app_max); end if;
  return null;
end
$$;

-- Claimed notifications, those of the gateway with their orders. A refunded order is left out. The function is volatile, so that it
-- also sees orders that were paid while the claim waited for another one.
create or replace function notified_orders(p_claimed claimed_notification[], p_now timestamptz)
  returns table (claimed claimed_notification, paid_order shop_return) language plpgsql volatile as $$
begin
  if p_claimed is null then return; end if;
  return query
    select c, r.shop_return
    from unnest(p_claimed) as c
    left join shop_returns(
      array(
        select o.transaction_id from unnest(p_claimed) as n join orders as o on o.id = n.order_id where n.kind = 'gateway'
      ), p_now
    ) as r on c.kind = 'gateway' and (r.shop_return).id = c.order_id;
end
$$;
