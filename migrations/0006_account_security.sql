-- Local accounts that can be kept: a second factor, one-time links by mail, and the mail itself. Everything here
-- belongs to accounts with a password of their own; members of the forum have all this at the forum.

alter table users
  -- The language of the last sign-in, for mail that somebody else causes.
  add column language text,
  add constraint users_language_known check (language in ('en', 'zh-CN'));

-- RFC 6238. last_step is the 30 s step of the last accepted code; only later ones are accepted, each once.
create table second_factors (
  user_id bigint primary key references users on delete cascade,
  secret_encrypted bytea not null,
  last_step bigint not null,
  created_at timestamptz not null default now()
);

-- 80 random bits each, so a plain hash is enough. They go with the factor that they stand in for.
create table recovery_codes (
  id bigint generated always as identity primary key,
  user_id bigint not null references second_factors on delete cascade,
  code_hash bytea not null,
  used_at timestamptz,
  created_at timestamptz not null default now(),
  constraint recovery_codes_key unique (user_id, code_hash)
);

-- Sign-ins whose first proof was right and whose second is awaited. They open nothing but the second page.
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

-- Single-use links sent by mail. `email` is the address a link was sent to, and so what opening it proves.
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
  constraint account_links_purpose_known check (purpose in ('recover_password', 'confirm_email'))
);
create index account_links_user on account_links (user_id, purpose);

-- "I forgot my password", as it was asked. The page only writes this down, whoever is named; the worker looks up who it is.
create table recovery_requests (
  id bigint generated always as identity primary key,
  name text not null,
  language text not null,
  ip text not null,
  requested_at timestamptz not null,
  created_at timestamptz not null default now()
);

-- The outbox: written with the act that causes the mail, sent by the worker. The text may hold a one-time link, so it
-- is encrypted, and erased once the mail is sent or given up.
create table outgoing_mails (
  id bigint generated always as identity primary key,
  user_id bigint references users on delete set null,
  recipient text not null,
  kind text not null,
  subject text not null,
  text_encrypted bytea,
  -- Not worth sending later: a link in it will have expired.
  useless_at timestamptz,
  attempts smallint not null default 0,
  -- While a process sends it: when another may take over. Null at the end.
  next_attempt_at timestamptz,
  sent_at timestamptz,
  given_up_at timestamptz,
  last_error text,
  created_at timestamptz not null default now(),
  constraint outgoing_mails_one_state check (num_nonnulls(next_attempt_at, sent_at, given_up_at) = 1),
  constraint outgoing_mails_text_while_needed check ((text_encrypted is null) = (next_attempt_at is null))
);
create index outgoing_mails_due on outgoing_mails (next_attempt_at) where next_attempt_at is not null;
