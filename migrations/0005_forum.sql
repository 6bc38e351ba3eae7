-- The forum as a source of accounts: what was last learned about each member, and when to ask again.

-- One row for each account that signs in through the forum (users.forum_id). What the rest of the program reads
-- stands in users and user_groups; here is what only the exchange with the forum needs.
create table forum_members (
  user_id bigint primary key references users on delete cascade,
  -- The name at the forum when last heard of; users.username differs from it while another account holds it.
  username text not null,
  silenced_till timestamptz,
  -- What the forum said about suspension, so that a ban from our own console is told apart from it.
  suspended_till timestamptz,
  is_banned boolean not null default false,
  -- When the forum's API last answered about this member; null: never. This is the staleness of everything here.
  checked_at timestamptz,
  -- Why it did not answer last time, and when to try again after an answer that could not be used.
  failure text,
  retry_at timestamptz,
  -- Somebody or something said that this member has changed.
  hinted_at timestamptz,
  next_check_at timestamptz not null,
  -- Held by the process that is asking just now.
  claimed_until timestamptz,
  -- When the points bridge looks at this member's score next.
  score_due_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index forum_members_hinted on forum_members (hinted_at) where hinted_at is not null;
create index forum_members_due on forum_members (next_check_at);
create index forum_members_score_due on forum_members (score_due_at);

-- Custom groups by their id at the forum. A name belongs to one group at a time.
create table forum_groups (
  id bigint primary key,
  name text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index forum_groups_name_key on forum_groups (lower(name));

-- Rows that came from the forum are replaced by what it says next; others are none of its business.
alter table user_groups add column from_forum boolean not null default false;
alter table user_groups add column forum_group_id bigint;
create index user_groups_forum on user_groups (forum_group_id) where forum_group_id is not null;

-- Webhooks already received. The forum sends an event again when it saw no good answer.
create table forum_events (
  event_id text primary key,
  event text not null,
  received_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint forum_events_event_id_length check (char_length(event_id) between 1 and 100)
);
create index forum_events_received on forum_events (received_at);

create index forum_nonces_expiry on forum_nonces (expires_at);

-- One row: the times of the last minute's requests to the forum's API, of all processes together, and until when
-- nobody asks because it does not answer.
create table forum_api (
  is_only boolean primary key default true,
  requests timestamptz[] not null default '{}',
  paused_until timestamptz,
  created_at timestamptz not null default now(),
  constraint forum_api_one_row check (is_only)
);
insert into forum_api default values;

-- The points bridge: how much of a member's score has been turned into points.
create table forum_scores (
  user_id bigint primary key references users on delete cascade,
  -- The score when last seen.
  score bigint not null,
  -- Points granted for score that the forum has taken back since: later gains pay this off first.
  debt bigint not null default 0,
  -- The day (UTC) of the last import: one a day.
  imported_on text not null,
  -- A grant that was decided; null once the ledger holds it.
  pending_amount bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint forum_scores_imported_on check (imported_on ~ '^\d{4}-\d\d-\d\d$'),
  constraint forum_scores_debt_not_negative check (debt >= 0),
  constraint forum_scores_pending_positive check (pending_amount > 0)
);
create index forum_scores_pending on forum_scores (user_id) where pending_amount is not null;
