-- OpenID Connect Back-Channel Logout 1.0: applications learn when the session of a member ends, and members whom staff excludes.

-- Columns of OpenID Connect Registration have its names. Without an address the application is not told.
alter table oauth_apps add column backchannel_logout_uri text;
alter table oauth_apps add column backchannel_logout_session_required boolean not null default false;
alter table oauth_apps add constraint oauth_apps_backchannel_logout_uri check (
  backchannel_logout_uri ~ '^https?://[^#@]+$' and char_length(backchannel_logout_uri) <= 2000
);

-- The outbox of logout tokens. The act that ends a session writes its rows, in the same transaction. They are no records of
-- money: a row is one message with its last attempt, and ends 30 days after it.
create table logout_deliveries (
  id bigint generated always as identity primary key,
  app_id bigint not null references oauth_apps on delete cascade,
  user_id bigint not null references users on delete cascade,
  -- The public id of the session that ended. Null for all sessions of the member.
  sid text,
  -- True for acts of staff and the forum, of which thousands may come at once. The acts of members do not wait for them.
  is_bulk boolean not null,
  attempts smallint not null default 0,
  -- Null at the end.
  next_attempt_at timestamptz,
  claimed_until timestamptz,
  -- How often the row was claimed: the number of the claim in force.
  claims integer not null default 0,
  -- Claims in a row whose process never reported the attempt.
  interruptions smallint not null default 0,
  -- Of the last attempt.
  attempted_at timestamptz,
  outcome text,
  response_status integer,
  ended_at timestamptz,
  created_at timestamptz not null default now(),
  constraint logout_deliveries_one_state check (num_nonnulls(next_attempt_at, ended_at) = 1),
  constraint logout_deliveries_claim check (claimed_until is null or ended_at is null),
  constraint logout_deliveries_attempted check (num_nulls(attempted_at, outcome) in (0, 2)),
  constraint logout_deliveries_ended check (ended_at is null or outcome is not null),
  constraint logout_deliveries_outcome check (outcome in (
    'delivered', 'bad_status', 'redirect', 'bad_address', 'blocked', 'dns', 'refused', 'unreachable', 'tls', 'timeout', 'cut',
    'malformed', 'withdrawn', 'internal', 'interrupted'
  ))
);
create index logout_deliveries_lanes on logout_deliveries (app_id, is_bulk, next_attempt_at) where ended_at is null;
create index logout_deliveries_claimed on logout_deliveries (app_id) where claimed_until is not null;
create index logout_deliveries_of_app on logout_deliveries (app_id, id);
create index logout_deliveries_of_user on logout_deliveries (user_id, id);
create index logout_deliveries_ended on logout_deliveries (ended_at) where ended_at is not null;
