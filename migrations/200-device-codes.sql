-- Sign-in on a device without a browser (RFC 8628). The device shows a code, and a member allows it on another device.

-- The grants that an application may send to the token endpoint (RFC 7591, section 2). The first two belong to every one.
alter table oauth_apps add column grant_types text[] not null default '{authorization_code,refresh_token}';
alter table oauth_apps add constraint oauth_apps_grant_types check (
  grant_types @> '{authorization_code,refresh_token}'
  and grant_types <@ '{authorization_code,refresh_token,urn:ietf:params:oauth:grant-type:device_code}'
);

-- Such a family did not begin in a browser, and its member did not see where the tokens went.
alter table grants add column is_on_device boolean not null default false;

create table device_codes (
  id bigint generated always as identity primary key,
  device_code_hash bytea not null,
  -- Under APP_SECRET, because a short code can be found from its hash.
  user_code_tag text not null,
  app_id bigint not null references oauth_apps on delete cascade,
  scopes text[] not null,
  -- Where the request came from. The member sees it before allowing anything.
  ip inet not null,
  agent text,
  -- Seconds between two polls. It grows with each poll that comes too soon.
  poll_interval integer not null default 5,
  last_polled_at timestamptz,
  -- The member who decided, with the sign-in that allows.
  user_id bigint references users on delete cascade,
  session_id bigint references sessions on delete set null,
  auth_time timestamptz,
  amr text[],
  allowed_at timestamptz,
  denied_at timestamptz,
  -- The family that it began. A deleted family stays marked by redeemed_at.
  grant_id bigint references grants on delete set null,
  redeemed_at timestamptz,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  constraint device_codes_device_code_hash_key unique (device_code_hash),
  constraint device_codes_user_code_tag_key unique (user_code_tag),
  constraint device_codes_poll_interval check (poll_interval between 5 and 60),
  constraint device_codes_one_decision check (allowed_at is null or denied_at is null),
  constraint device_codes_allowed_whole check (allowed_at is null or num_nulls(user_id, auth_time, amr) = 0),
  constraint device_codes_redeemed_allowed check (redeemed_at is null or allowed_at is not null)
);
create index device_codes_expiry on device_codes (expires_at);
-- For the number of codes that wait, and for the end of a member, a session or a family.
create index device_codes_app on device_codes (app_id, expires_at);
create index device_codes_user on device_codes (user_id) where user_id is not null;
create index device_codes_session on device_codes (session_id) where session_id is not null;
create index device_codes_grant on device_codes (grant_id) where grant_id is not null;

-- Its result changes.
drop function if exists live_access_tokens(bytea[], timestamptz[]);
