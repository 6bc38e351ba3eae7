-- The forum as the source of members: what Tessera last learned about each member, and when to ask again.

-- Single-use nonces of the DiscourseConnect handshake, each bound to the browser that began it.
create table forum_nonces (
  nonce_hash bytea primary key,
  browser_hash bytea not null,
  return_to text not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null default now()
);
create index forum_nonces_expiry on forum_nonces (expires_at);

-- One row for each member who signs in through the forum (users.forum_id). The rest of the program reads users and
-- user_groups. This table holds what only the exchange with the forum needs.
create table forum_members (
  user_id bigint primary key references users on delete cascade,
  -- The last known name at the forum. users.username differs from it while another account holds that name.
  username text not null,
  silenced_till timestamptz,
  -- The forum's word on suspension and ban. They tell the forum's bans from those of our own administrators.
  suspended_till timestamptz,
  is_banned boolean not null default false,
  -- When the forum's API last answered about this member, so how old this row is. Null: never.
  checked_at timestamptz,
  -- Why the last request failed, and when to try again after an answer that could not be used.
  failure text,
  retry_at timestamptz,
  -- When a sign-in or a webhook last suggested that this member has changed.
  hinted_at timestamptz,
  next_check_at timestamptz not null,
  -- Until this time one process asks about this member.
  claimed_until timestamptz,
  -- When the points bridge next reads this member's score.
  score_due_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index forum_members_hinted on forum_members (hinted_at) where hinted_at is not null;
create index forum_members_due on forum_members (next_check_at);
create index forum_members_score_due on forum_members (score_due_at);

-- Custom groups by their id at the forum. One group has a name at a time.
create table forum_groups (
  id bigint primary key,
  name text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index forum_groups_name_key on forum_groups (lower(name));

-- Webhooks that were received. The forum sends an event again after an answer that it does not accept.
create table forum_events (
  event_id text primary key,
  event text not null,
  received_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint forum_events_event_id_length check (char_length(event_id) between 1 and 100)
);
create index forum_events_received on forum_events (received_at);

-- One row: the times of the last minute's requests to the forum's API, of all processes together, and until when no
-- process asks because the API does not answer.
create table forum_api (
  is_only boolean primary key default true,
  requests timestamptz[] not null default '{}',
  -- Sign-ins have a budget of their own, so neither they nor the background can use up the other's.
  sign_in_requests timestamptz[] not null default '{}',
  paused_until timestamptz,
  created_at timestamptz not null default now(),
  constraint forum_api_one_row check (is_only)
);
insert into forum_api default values;

-- The points bridge: how much of a member's score became points.
create table forum_scores (
  user_id bigint primary key references users on delete cascade,
  -- The score when last seen.
  score bigint not null,
  -- Points granted for score that the forum took back since. Later gains pay this off first.
  debt bigint not null default 0,
  -- The day (UTC) of the last import. There is one import a day.
  imported_on text not null,
  -- A grant that was decided. Null once the ledger holds it.
  pending_amount bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint forum_scores_imported_on check (imported_on ~ '^\d{4}-\d\d-\d\d$'),
  constraint forum_scores_debt_not_negative check (debt >= 0),
  constraint forum_scores_pending_positive check (pending_amount > 0)
);
create index forum_scores_pending on forum_scores (user_id) where pending_amount is not null;
