-- The forum's lists, read by page: who is suspended, who is staff, who is in which group. A list states of many members at once what
-- a single read states of one, so a round of 200,000 members takes hundreds of requests.

-- One row for each list. A pass reads it once, page by page, and `next_page` is where it goes on, in this process or another.
create table forum_sources (
  name text primary key,
  -- The custom group of the list, for exactly the lists `group:ID`.
  group_id bigint,
  -- The forum's name of the group whose members are listed. Null until the list of groups has stated it.
  group_name text,
  every_minutes integer not null,
  pass integer not null default 0,
  -- The pages read, and the next one. 0: no pass runs.
  next_page integer not null default 0,
  pages integer not null default 0,
  rows integer not null default 0,
  -- Of the rows: our accounts, and those whose stored facts differed.
  accounts integer not null default 0,
  differences integer not null default 0,
  -- Of the last complete pass: the members with the fact who were on no page.
  absent integer not null default 0,
  started_at timestamptz,
  finished_at timestamptz,
  last_seconds integer,
  claimed_until timestamptz,
  retry_at timestamptz,
  tries smallint not null default 0,
  failure text,
  created_at timestamptz not null default now(),
  constraint forum_sources_group_id_key unique (group_id),
  constraint forum_sources_group check ((group_id is not null) = (name = 'group:' || coalesce(group_id, 0))),
  constraint forum_sources_every_positive check (every_minutes > 0),
  constraint forum_sources_counts check (
    pass >= 0 and next_page >= 0 and pages >= 0 and rows >= 0 and accounts >= 0 and differences >= 0 and absent >= 0 and tries >= 0
  ),
  constraint forum_sources_started check (next_page = 0 or started_at is not null)
);

-- Our accounts on each page of the pass that runs. After it, who is on none has lost the fact. They stay while a list that
-- shrank is looked at again.
create table forum_source_pages (
  source text not null references forum_sources on delete cascade,
  page integer not null,
  pass integer not null,
  user_ids bigint[] not null,
  created_at timestamptz not null default now(),
  primary key (source, page),
  constraint forum_source_pages_accounts_max check (cardinality(user_ids) <= 1000)
);

insert into forum_sources (name, every_minutes) values
  ('suspended', 10), ('staff', 10), ('silenced', 60), ('groups', 60), ('names', 1440),
  ('trust_level_1', 60), ('trust_level_2', 60), ('trust_level_3', 60), ('trust_level_4', 60), ('scores', 1440);

-- A member whom the forum deleted is on no list, and that is no news.
alter table forum_members add column deleted_at timestamptz;
update forum_members set deleted_at = checked_at
  where is_banned and suspended_till is null and checked_at is not null and next_check_at > checked_at + interval '29 days';

-- How long the last pause of all requests was, in seconds. The next one is twice as long. An answer sets it to 0.
alter table forum_api add column pause_seconds integer not null default 0;
alter table forum_api add constraint forum_api_pause_seconds check (pause_seconds between 0 and 600);

-- The setting is now the total of sign-ins and the worker.
update site_settings set value = least(value::integer * 2, 1200)::text where name = 'forum_requests_per_minute';

-- For lists that state who is no longer suspended or silenced, and for the first scores of new members.
create index forum_members_suspended on forum_members (user_id) where suspended_by is not null;
create index forum_members_silenced on forum_members (silenced_till) where silenced_till is not null;
create index forum_members_created on forum_members (created_at);
