-- People, their groups and their sessions. Credentials are stored as hashes only.

create table users (
  id bigint generated always as identity primary key,
  username text not null,
  name text,
  email text,
  email_verified boolean not null default false,
  avatar_url text,
  trust_level smallint not null default 0,
  is_admin boolean not null default false,
  is_moderator boolean not null default false,
  suspended_till timestamptz,
  is_banned boolean not null default false,
  -- PHC string of argon2id; null for an account that signs in through the forum.
  password_hash text,
  must_change_password boolean not null default false,
  -- The forum's own user id (DiscourseConnect external_id).
  forum_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint users_username_shape check (username ~ '^[^[:space:][:cntrl:]]{1,60}$'),
  constraint users_trust_level_range check (trust_level between 0 and 4),
  constraint users_forum_id_key unique (forum_id),
  constraint users_one_way_in check (forum_id is null or password_hash is null)
);
create unique index users_username_key on users (lower(username));

create table user_groups (
  user_id bigint not null references users on delete cascade,
  name text not null,
  created_at timestamptz not null default now(),
  constraint user_groups_name_shape check (name ~ '^[^[:space:][:cntrl:]]{1,100}$')
);
create unique index user_groups_key on user_groups (user_id, lower(name));

create table sessions (
  id bigint generated always as identity primary key,
  token_hash bytea not null,
  user_id bigint not null references users on delete cascade,
  auth_time timestamptz not null,
  amr text[] not null,
  ip text not null,
  agent text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint sessions_token_hash_key unique (token_hash)
);
create index sessions_user on sessions (user_id);
create index sessions_expiry on sessions (expires_at);

-- One row a try, written before the password is looked at, so that tries made at once count each other.
create table sign_in_attempts (
  id bigint generated always as identity primary key,
  account text not null,
  address text not null,
  attempted_at timestamptz not null,
  succeeded boolean not null default false,
  created_at timestamptz not null default now()
);
create index sign_in_attempts_account on sign_in_attempts (account, attempted_at);
create index sign_in_attempts_address on sign_in_attempts (address, attempted_at);

-- Single-use nonces of the DiscourseConnect handshake, bound to the browser that started it.
create table forum_nonces (
  nonce_hash bytea primary key,
  browser_hash bytea not null,
  return_to text not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null default now()
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end
$$;

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
create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();

-- Compiling small statements costs more than it gives. A setting of the role, because pgbouncer in transaction
-- mode passes no start-up options.
do $$
begin
  execute format('alter role current_user in database %I set jit = off', current_database());
exception when insufficient_privilege then
  raise notice 'jit stays on: this role may not change its own settings';
end
$$;
