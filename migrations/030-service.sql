-- Settings and limits of the whole site.

create table site_settings (
  name text primary key,
  value text not null,
  updated_by bigint references users,
  updated_at timestamptz not null default now(),
  created_at timestamptz not null default now()
);

create table site_settings_history (
  id bigint generated always as identity primary key,
  name text not null,
  value text not null,
  changed_by bigint references users,
  created_at timestamptz not null default now()
);

-- Requests of all processes together: one row for each scope, key and window. The table is unlogged, so the counts begin
-- at zero after a crash of Postgres.
create unlogged table limit_counters (
  scope text not null,
  key text not null,
  ends_at timestamptz not null,
  count bigint not null,
  created_at timestamptz not null default now(),
  constraint limit_counters_key primary key (scope, key, ends_at)
);
create index limit_counters_end on limit_counters (ends_at);
