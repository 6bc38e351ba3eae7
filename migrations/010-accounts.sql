-- Members, their groups, their sessions and their ways to sign in. The database stores credentials as hashes only.

-- Postgres would compile small statements at a cost above their gain. The setting belongs to the role, because pgbouncer
-- in transaction mode passes no start-up options.
do $$
begin
  execute format('alter role current_user in database %I set jit = off', current_database());
exception when insufficient_privilege then
  raise notice 'jit stays on: this role may not change its own settings';
end
$$;

create table users (
  id bigint generated always as identity primary key,
  username text not null,
  name text,
  email text,
  email_verified boolean not null default false,
  avatar_url text,
  -- The language of the last sign-in, for mail that another member causes.
  language text,
  -- True when the member chose the language. Then every browser of the member shows it.
  language_chosen boolean not null default false,
  trust_level smallint not null default 0,
  is_admin boolean not null default false,
  is_moderator boolean not null default false,
  suspended_till timestamptz,
  is_banned boolean not null default false,
  -- A PHC string of argon2id. Null for a member who signs in through the forum.
  password_hash text,
  must_change_password boolean not null default false,
  -- The member's id at the forum (external_id of DiscourseConnect).
  forum_id bigint,
  -- When the account was anonymised. The row and its id stay, because the books refer to them.
  anonymised_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint users_username_shape check (username ~ '^[^[:space:][:cntrl:]]{1,60}$'),
  constraint users_language_known check (language in ('en', 'zh-CN')),
  constraint users_trust_level_range check (trust_level between 0 and 4),
  constraint users_forum_id_key unique (forum_id),
  constraint users_one_way_in check (forum_id is null or password_hash is null),
  -- Only an anonymised account has such a name, so no other member takes it first.
  constraint users_neutral_name check (
    case when anonymised_at is null then lower(username) !~ '^deleted-[0-9]+$' else username = 'deleted-' || id end
  ),
  -- An anonymised account keeps no personal data and no credentials. It is banned, so every check refuses it.
  constraint users_anonymised check (
    anonymised_at is null
    or is_banned and num_nonnulls(name, email, avatar_url, password_hash, forum_id, language, suspended_till) = 0
      and not (email_verified or is_admin or is_moderator or must_change_password or language_chosen)
      and trust_level = 0
  )
);
create unique index users_username_key on users (lower(username));
-- A member who forgot the password may know only the address.
create index users_email on users (lower(email)) where email is not null;
-- For the number of new members of each day.
create index users_created on users (created_at);

-- Hashes of the names that anonymised accounts had. No other member can take such a name, and so receive points or messages
-- meant for its former bearer.
create table former_usernames (
  name_hash bytea primary key,
  created_at timestamptz not null default now()
);

create table user_groups (
  user_id bigint not null references users on delete cascade,
  name text not null,
  -- The next answer of the forum replaces these rows. It leaves the others alone.
  from_forum boolean not null default false,
  forum_group_id bigint,
  created_at timestamptz not null default now(),
  constraint user_groups_name_shape check (name ~ '^[^[:space:][:cntrl:]]{1,100}$')
);
create unique index user_groups_key on user_groups (user_id, lower(name));
create index user_groups_forum on user_groups (forum_group_id) where forum_group_id is not null;

create table sessions (
  id bigint generated always as identity primary key,
  token_hash bytea not null,
  user_id bigint not null references users on delete cascade,
  auth_time timestamptz not null,
  amr text[] not null,
  ip text not null,
  agent text not null,
  expires_at timestamptz not null,
  -- Exact to a few minutes: a newer time is written only when this one is older than that. Null until the first use.
  last_seen_at timestamptz,
  created_at timestamptz not null default now(),
  constraint sessions_token_hash_key unique (token_hash)
);
create index sessions_user on sessions (user_id);
create index sessions_expiry on sessions (expires_at);

-- One row for each attempt, written before the password is checked, so that concurrent attempts count each other.
create table sign_in_attempts (
  id bigint generated always as identity primary key,
  account text not null,
  address text not null,
  attempted_at timestamptz not null,
  -- The attempt counts as undecided until then. Null once its proof was checked.
  undecided_until timestamptz,
  succeeded boolean not null default false,
  created_at timestamptz not null default now()
);
create index sign_in_attempts_account on sign_in_attempts (account, attempted_at);
create index sign_in_attempts_address on sign_in_attempts (address, attempted_at);
create index sign_in_attempts_time on sign_in_attempts (attempted_at);

-- The tables from here to outgoing_mails serve accounts with a password. Members of the forum have all this at the forum.

-- Sign-ins whose first proof was right and whose second is due. Such a row opens only the second page.
create table pending_sign_ins (
  id bigint generated always as identity primary key,
  token_hash bytea not null,
  user_id bigint not null references users on delete cascade,
  amr text[] not null,
  return_to text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint pending_sign_ins_token_hash_key unique (token_hash)
);
create index pending_sign_ins_user on pending_sign_ins (user_id);
create index pending_sign_ins_expiry on pending_sign_ins (expires_at);

-- RFC 6238. last_step is the 30 s step of the last accepted code. Only later steps are accepted, so each code works once.
create table second_factors (
  user_id bigint primary key references users on delete cascade,
  secret_encrypted bytea not null,
  last_step bigint not null,
  created_at timestamptz not null default now()
);

-- A code has 80 random bits, so a plain hash is enough. The codes end with the factor that they replace.
create table recovery_codes (
  id bigint generated always as identity primary key,
  user_id bigint not null references second_factors on delete cascade,
  code_hash bytea not null,
  used_at timestamptz,
  created_at timestamptz not null default now(),
  constraint recovery_codes_key unique (user_id, code_hash)
);

-- Single-use links. Opening a link proves that its reader owns the address `email`. A sign_in link is made at the command
-- line and goes to no address.
create table account_links (
  id bigint generated always as identity primary key,
  token_hash bytea not null,
  user_id bigint not null references users on delete cascade,
  purpose text not null,
  email text not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null default now(),
  constraint account_links_token_hash_key unique (token_hash),
  constraint account_links_purpose_known check (purpose in ('recover_password', 'confirm_email', 'sign_in'))
);
create index account_links_user on account_links (user_id, purpose);
create index account_links_expiry on account_links (expires_at);

-- Requests of the page “I forgot my password”. The page records every name, known or not. The worker looks it up.
create table recovery_requests (
  id bigint generated always as identity primary key,
  name text not null,
  language text not null,
  ip text not null,
  requested_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index recovery_requests_time on recovery_requests (requested_at);

-- The outbox: the act that causes a mail writes it, and the worker sends it. The text may hold a single-use link, so it is
-- encrypted, and erased once the mail is sent or given up.
create table outgoing_mails (
  id bigint generated always as identity primary key,
  user_id bigint references users on delete set null,
  recipient text not null,
  kind text not null,
  subject text not null,
  text_encrypted bytea,
  -- After this time a link in the mail has expired, so the worker gives the mail up.
  useless_at timestamptz,
  attempts smallint not null default 0,
  -- While one process sends the mail: the time from which another may take over. Null at the end.
  next_attempt_at timestamptz,
  sent_at timestamptz,
  given_up_at timestamptz,
  last_error text,
  created_at timestamptz not null default now(),
  constraint outgoing_mails_one_state check (num_nonnulls(next_attempt_at, sent_at, given_up_at) = 1),
  constraint outgoing_mails_text_while_needed check ((text_encrypted is null) = (next_attempt_at is null))
);
create index outgoing_mails_due on outgoing_mails (next_attempt_at) where next_attempt_at is not null;
create index outgoing_mails_settled on outgoing_mails (coalesce(sent_at, given_up_at))
  where coalesce(sent_at, given_up_at) is not null;
-- For the export and the anonymisation of one member.
create index outgoing_mails_of_user on outgoing_mails (user_id) where user_id is not null;

-- Decisions about security, for the investigation of an attack. No row holds a secret, right or wrong.
create table security_events (
  id bigint generated always as identity primary key,
  kind text not null,
  user_id bigint references users on delete set null,
  client_id text,
  address text not null,
  -- The network that the address stands for: one IPv6 subscriber has too many addresses to count each.
  network text not null,
  detail jsonb not null default '{}',
  at timestamptz not null,
  created_at timestamptz not null default now()
);
create index security_events_network on security_events (network, kind, at);
create index security_events_kind on security_events (kind, at);
create index security_events_user on security_events (user_id, at) where user_id is not null;
create index security_events_time on security_events (at);

-- Who did what to whom: acts of administrators and owners.
create table audit_log (
  id bigint generated always as identity primary key,
  actor_id bigint references users,
  action text not null,
  subject text not null,
  detail jsonb not null default '{}',
  ip text,
  created_at timestamptz not null default now()
);
create index audit_log_subject on audit_log (subject, id);
create index audit_log_action on audit_log (action, id);
create index audit_log_actor on audit_log (actor_id, id);
create index audit_log_created on audit_log (created_at);
