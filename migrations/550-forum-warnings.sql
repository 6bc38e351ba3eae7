-- What the administrators' page of the forum says of the last hour and of the last day.

-- When the forum last answered 429.
alter table forum_api add column limited_at timestamptz;

-- Webhooks by the hour of their arrival: those that concern a member here, and the useless ones.
create table forum_event_hours (
  hour timestamptz primary key,
  noted integer not null default 0,
  ignored integer not null default 0,
  created_at timestamptz not null default now(),
  constraint forum_event_hours_counts check (noted >= 0 and ignored >= 0)
);

-- The whole passes of the list of suspended members. A suspension just after one began is known at the end of the next one.
create table forum_suspension_passes (
  finished_at timestamptz primary key,
  started_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint forum_suspension_passes_order check (finished_at >= started_at)
);
