-- Access keys: an application's programs get tokens with them (OAuth 2.0, client_credentials).
-- functions/payment/access-keys.sql has the acts.
create table access_keys (
  id bigint generated always as identity primary key,
  app_id bigint not null,
  book text not null,
  -- The client_id.
  public_id text not null,
  -- SHA-256 of the secret, which is random and long enough to need no salt.
  secret_hash bytea not null,
  name text not null,
  scopes text[] not null,
  -- Addresses and networks that may get and use tokens, besides the application's own list. Empty: any.
  allowed_addresses inet[] not null default '{}',
  created_by bigint not null references users,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz,
  constraint access_keys_public_id_key unique (public_id),
  constraint access_keys_app foreign key (app_id, book) references payment_apps (id, book),
  -- A key shows which book it belongs to.
  constraint access_keys_public_id_shape check (
    public_id ~ '^ak_[a-z0-9]{20}$' and (book = 'test') = (public_id like 'ak\_test%')
  ),
  constraint access_keys_secret_hash check (octet_length(secret_hash) = 32),
  constraint access_keys_name check (char_length(name) between 1 and 40),
  constraint access_keys_scopes check (
    cardinality(scopes) > 0 and scopes <@ array['orders:read', 'orders:write', 'transfers', 'payouts', 'mandates']
  ),
  constraint access_keys_allowed_addresses check (cardinality(allowed_addresses) <= 50),
  constraint access_keys_expiry check (expires_at > created_at and expires_at <= created_at + interval '366 days')
);
create index access_keys_of_app on access_keys (app_id, id);
-- Those that may still expire, for the alert before.
create index access_keys_expiring on access_keys (expires_at) where revoked_at is null;

create table access_key_tokens (
  -- SHA-256 of the token.
  token_hash bytea primary key,
  key_id bigint not null references access_keys,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint access_key_tokens_hash check (octet_length(token_hash) = 32)
);
create index access_key_tokens_of_key on access_key_tokens (key_id, expires_at);
create index access_key_tokens_expiry on access_key_tokens (expires_at);
