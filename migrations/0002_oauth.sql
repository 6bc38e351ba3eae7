-- OAuth 2.0 / OpenID Connect: the registry of applications, and what they have been given.
-- Secrets, codes and tokens are 256 random bits, so their SHA-256 is enough to check them by.

create table oauth_apps (
  id bigint generated always as identity primary key,
  client_id text not null,
  owner_id bigint not null references users,
  name text not null,
  description text not null default '',
  redirect_uris text[] not null,
  allow_groups text[] not null default '{}',
  deny_groups text[] not null default '{}',
  created_at timestamptz not null default now(),
  constraint oauth_apps_client_id_key unique (client_id),
  constraint oauth_apps_name_length check (char_length(name) between 1 and 60),
  constraint oauth_apps_description_length check (char_length(description) <= 500),
  constraint oauth_apps_redirect_uris_count check (cardinality(redirect_uris) between 1 and 20)
);
create index oauth_apps_owner on oauth_apps (owner_id, id);

create table app_secrets (
  id bigint generated always as identity primary key,
  app_id bigint not null references oauth_apps on delete cascade,
  secret_hash bytea not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  constraint app_secrets_secret_hash_key unique (secret_hash)
);
create index app_secrets_app on app_secrets (app_id);

create table consents (
  user_id bigint not null references users on delete cascade,
  app_id bigint not null references oauth_apps on delete cascade,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (user_id, app_id)
);

create table authorization_codes (
  id bigint generated always as identity primary key,
  code_hash bytea not null,
  app_id bigint not null references oauth_apps on delete cascade,
  user_id bigint not null references users on delete cascade,
  session_id bigint references sessions on delete set null,
  redirect_uri text not null,
  -- RFC 6749 4.1.3: the token request must repeat redirect_uri only if the authorization request carried it.
  redirect_uri_sent boolean not null,
  scopes text[] not null,
  nonce text,
  code_challenge text,
  auth_time timestamptz not null,
  amr text[] not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null default now(),
  constraint authorization_codes_code_hash_key unique (code_hash)
);
create index authorization_codes_expiry on authorization_codes (expires_at);

-- One grant is one family of tokens. A code begets at most one: the unique code_id says so.
create table grants (
  id bigint generated always as identity primary key,
  code_id bigint references authorization_codes on delete set null,
  app_id bigint not null references oauth_apps on delete cascade,
  user_id bigint not null references users on delete cascade,
  session_id bigint references sessions on delete set null,
  scopes text[] not null,
  auth_time timestamptz not null,
  amr text[] not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  created_at timestamptz not null default now(),
  constraint grants_code_id_key unique (code_id)
);
create index grants_user_app on grants (user_id, app_id);

create table access_tokens (
  id bigint generated always as identity primary key,
  token_hash bytea not null,
  grant_id bigint not null references grants on delete cascade,
  scopes text[] not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint access_tokens_token_hash_key unique (token_hash)
);
create index access_tokens_grant on access_tokens (grant_id);
create index access_tokens_expiry on access_tokens (expires_at);

create table refresh_tokens (
  id bigint generated always as identity primary key,
  token_hash bytea not null,
  grant_id bigint not null references grants on delete cascade,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null default now(),
  constraint refresh_tokens_token_hash_key unique (token_hash)
);
create index refresh_tokens_grant on refresh_tokens (grant_id);
create index refresh_tokens_expiry on refresh_tokens (expires_at);

create table signing_keys (
  id bigint generated always as identity primary key,
  kid text not null,
  alg text not null,
  public_jwk jsonb not null,
  private_encrypted bytea not null,
  signs_from timestamptz not null,
  published_until timestamptz,
  created_at timestamptz not null default now(),
  constraint signing_keys_kid_key unique (kid),
  constraint signing_keys_alg check (alg in ('RS256', 'ES256')),
  constraint signing_keys_public_only check (not public_jwk ?| array['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'])
);
