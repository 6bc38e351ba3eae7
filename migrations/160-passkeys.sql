-- Passkeys (WebAuthn Level 3), by which members sign in or confirm that it is them.

-- The user handle that a member's passkeys hold. It is made with the first one, and says nothing about the account.
alter table users add column passkey_handle bytea constraint users_passkey_handle_length check (octet_length(passkey_handle) = 32);
create unique index users_passkey_handle on users (passkey_handle) where passkey_handle is not null;
alter table users add constraint users_anonymised_passkeys check (anonymised_at is null or passkey_handle is null);

create table passkeys (
  id bigint generated always as identity primary key,
  user_id bigint not null references users on delete cascade,
  credential_id bytea not null,
  -- In COSE (RFC 9052).
  public_key bytea not null,
  -- The authenticator's counter of signatures. A copy of a passkey shows by a counter that did not grow.
  sign_count bigint not null,
  -- How the browser reaches the authenticator, as the browser told it.
  transports text[] not null,
  -- The host of PUBLIC_URL at the registration. Browsers offer the passkey there only.
  rp_id text not null,
  -- Whether the passkey can be synced between devices, which never changes, and whether it is now.
  is_backup_eligible boolean not null,
  is_backed_up boolean not null,
  -- Whether the authenticator has verified the member once, by a PIN or a fingerprint (uvInitialized of WebAuthn).
  is_user_verified boolean not null,
  -- Null where the browser did not tell.
  is_discoverable boolean,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  constraint passkeys_credential_id_key unique (credential_id),
  constraint passkeys_credential_id_length check (octet_length(credential_id) between 1 and 1023),
  constraint passkeys_public_key_length check (octet_length(public_key) between 1 and 4096),
  constraint passkeys_sign_count_range check (sign_count between 0 and 4294967295),
  constraint passkeys_transports_count check (cardinality(transports) <= 10),
  constraint passkeys_backup check (is_backup_eligible or not is_backed_up),
  constraint passkeys_name_length check (char_length(name) between 1 and 60)
);
create index passkeys_user on passkeys (user_id);

-- Challenges of WebAuthn that were answered. A row refuses the same answer a second time.
create table spent_challenges (
  challenge_hash bytea primary key,
  spent_at timestamptz not null
);
create index spent_challenges_time on spent_challenges (spent_at);

-- A member may turn two-step verification on with passkeys alone.
alter table second_factors alter column secret_encrypted drop not null;
alter table second_factors alter column last_step set default 0;

-- How often the member signed in again in this session. It tells a new sign-in from the one before.
alter table sessions add column renewals integer not null default 0;

-- Its result changes.
drop function if exists use_sessions(bytea[], timestamptz, timestamptz);
