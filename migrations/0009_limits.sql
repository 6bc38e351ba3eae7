-- What is asked for too often, and what was refused. Of all processes together.

-- One row for each scope, key and window. Unlogged: after a crash of the server the counts begin anew.
create unlogged table limit_counters (
  scope text not null,
  key text not null,
  ends_at timestamptz not null,
  count bigint not null,
  created_at timestamptz not null default now(),
  constraint limit_counters_key primary key (scope, key, ends_at)
);
create index limit_counters_end on limit_counters (ends_at);

-- Until then a try counts as undecided; null once its proof has been looked at.
alter table sign_in_attempts add column undecided_until timestamptz;
create index sign_in_attempts_time on sign_in_attempts (attempted_at);

-- Decisions of security, for whoever looks into an attack. Never a secret, nor what was typed in place of one.
create table security_events (
  id bigint generated always as identity primary key,
  kind text not null,
  user_id bigint references users on delete set null,
  client_id text,
  address text not null,
  detail jsonb not null default '{}',
  at timestamptz not null,
  created_at timestamptz not null default now()
);
create index security_events_address on security_events (address, kind, at);
create index security_events_user on security_events (user_id, at) where user_id is not null;
create index security_events_time on security_events (at);
