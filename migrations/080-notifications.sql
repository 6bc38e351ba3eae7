-- Messages to merchants: the gateway's notifications, the events of the HMAC API, refused requests, and alerts.

-- The outbox of notifications and events. The act that causes one writes its row, in the same transaction.
create table notifications (
  id bigint generated always as identity primary key,
  -- `gateway` is the gateway's notification of a paid order. The others are events of the HMAC API.
  kind text not null default 'gateway',
  order_id bigint references orders,
  transfer_id bigint references transfers,
  -- Of an event: the id, which stays the same at every attempt, and the row of that moment.
  event_id text,
  occurred_at timestamptz,
  facts jsonb,
  -- Copies, to claim by: the application and the host of the address. See notification_route.
  app_id bigint not null references payment_apps,
  host text collate "C" not null,
  status text not null default 'due',
  attempts smallint not null default 0,
  next_attempt_at timestamptz,
  claimed_until timestamptz,
  -- How often the row was claimed: the number of the claim in force, and of the attempt made under it.
  claims integer not null default 0,
  -- Claims in a row whose process never reported the attempt.
  interruptions smallint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint notifications_kind check (
    kind in ('gateway', 'order.paid', 'order.expired', 'order.refunded', 'transfer.completed')
  ),
  constraint notifications_subject check (
    case when kind = 'transfer.completed' then num_nulls(order_id, transfer_id) = 1 and transfer_id is not null
      else order_id is not null and transfer_id is null end
  ),
  constraint notifications_event check (
    num_nonnulls(event_id, occurred_at, facts) = case when kind = 'gateway' then 0 else 3 end
  ),
  -- An order of the gateway has one notification. An event of one kind may come twice: an order expires again, or is refunded
  -- in parts.
  constraint notifications_order_id_key unique nulls not distinct (order_id, kind, event_id, transfer_id),
  constraint notifications_status check (status in ('due', 'delivered', 'failed')),
  constraint notifications_due check ((status = 'due') = (next_attempt_at is not null)),
  constraint notifications_claim check (claimed_until is null or status = 'due')
);
create index notifications_lanes on notifications (host, app_id, next_attempt_at) where status = 'due';
create index notifications_claimed on notifications (host, app_id) where claimed_until is not null;
create index notifications_of_app on notifications (app_id, id);
create index notifications_of_transfer on notifications (transfer_id) where transfer_id is not null;
create index notifications_failed on notifications (id) where status = 'failed';
-- Candidates for an alert: rows that failed at least once.
create index notifications_troubled on notifications (updated_at) where status <> 'delivered' and attempts > 0;

create table notification_attempts (
  id bigint generated always as identity primary key,
  notification_id bigint not null references notifications,
  claim integer not null,
  -- Unknown, like the duration, when the process never reported the attempt, and when the request was never sent.
  url text,
  started_at timestamptz not null,
  duration_ms integer,
  outcome text not null,
  -- More about the outcome: an error's code, the target of a redirect.
  detail text,
  response_status integer,
  response_body text,
  created_at timestamptz not null default now(),
  constraint notification_attempts_claim_key unique (notification_id, claim),
  constraint notification_attempts_outcome check (outcome in (
    'delivered', 'wrong_body', 'too_large', 'bad_status', 'redirect', 'bad_address', 'blocked', 'dns', 'refused',
    'unreachable', 'tls', 'timeout', 'cut', 'malformed', 'withdrawn', 'internal', 'interrupted'
  )),
  constraint notification_attempts_detail check (char_length(detail) <= 300),
  constraint notification_attempts_body check (char_length(response_body) <= 2048)
);
create index notification_attempts_time on notification_attempts (started_at);

-- Paused hosts. Their due notifications wait, and go out when the host is resumed.
create table paused_hosts (
  host text collate "C" primary key,
  reason text not null,
  paused_by bigint not null references users,
  paused_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint paused_hosts_host_length check (char_length(host) between 1 and 255)
);

-- The last refused requests of each payment application, so that its owner finds the reason. The fields are encrypted like keys,
-- because a caller may have sent a key as a field.
create table refused_requests (
  id bigint generated always as identity primary key,
  app_id bigint not null references payment_apps,
  door text not null,
  -- Without its query.
  path text not null,
  address text not null,
  -- The network of the address, when one caller has many addresses.
  network text not null,
  code text not null,
  message text not null,
  fields_encrypted bytea not null,
  at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint refused_requests_door check (door in ('hmac', 'gateway')),
  constraint refused_requests_sizes check (
    char_length(path) <= 200 and char_length(message) <= 300 and octet_length(fields_encrypted) <= 20000
  )
);
create index refused_requests_of_app on refused_requests (app_id, id);
create index refused_requests_at on refused_requests (at);

-- Alerts to members about their payment applications: on the page and by mail.
create table alerts (
  id bigint generated always as identity primary key,
  user_id bigint not null references users,
  app_id bigint not null references payment_apps,
  kind text not null,
  -- The cause of the alert. A member gets one alert for one cause, even if several processes find it.
  cause text not null,
  facts jsonb not null,
  raised_at timestamptz not null,
  read_at timestamptz,
  created_at timestamptz not null default now(),
  constraint alerts_cause_key unique (user_id, app_id, kind, cause)
);
create index alerts_of_user on alerts (user_id, id);
create index alerts_unread on alerts (user_id) where read_at is null;
create index alerts_time on alerts (raised_at);
