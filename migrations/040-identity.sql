-- OAuth 2.0 and OpenID Connect: the registered applications with their codes and tokens. Secrets, codes and tokens have 256
-- random bits, so SHA-256 is enough to check them.

-- The skeleton of a name. Reviewers see the applications whose skeletons are equal. It drops case, width, accents, spaces and
-- punctuation, and folds the letters and digits that most often replace others. Pages never show it, and it refuses nothing.
-- Indexes use it, so it belongs to the tables: a change of it changes stored data.
create function name_skeleton(p_name text) returns text language sql immutable strict parallel safe as $$
  select coalesce(nullif(
    replace(replace(
      regexp_replace(
        lower(translate(
          -- The same letters in every locale. The second lower() takes those that only the locale knows.
          lower(normalize(p_name, nfkd) collate "C"),
          'аАвВеЕкКмМнНоОрРсСтТуУхХіІјЈѕЅԁԛԝ' || 'αΑβΒεΕηΗιΙκΚμΜνΝοΟρΡτΤυΥχΧ' || '01i|ı5$@',
          'aabbeekkmmhhooppccttyyxxlljjssdqw' || 'aabbeehhllkkmmvnooppttyyxx' || 'ollllssa'
        ) collate "default"),
        '[\u0300-\u036f\s!-/:-@\[-`{-~\u00a0-\u00bf\u2000-\u206f\u3000-\u303f\ufe00-\ufe0f]', '', 'g'
      ),
      'rn', 'm'), 'vv', 'w'),
    ''), p_name)
$$;

-- The life of a signing key: made, published, signing from signs_from, replaced, published until published_until, retired. A
-- retired key keeps its public half, for ID tokens that come back as hints.
create table signing_keys (
  id bigint generated always as identity primary key,
  kid text not null,
  alg text not null,
  public_jwk jsonb not null,
  private_encrypted bytea,
  signs_from timestamptz not null,
  published_until timestamptz,
  -- A withdrawn key may be in wrong hands. It signs nothing and is not published, and its signatures do not count, not even in
  -- a hint. The row stays, so no other key gets its kid.
  withdrawn_at timestamptz,
  created_at timestamptz not null default now(),
  constraint signing_keys_kid_key unique (kid),
  constraint signing_keys_alg check (alg in ('RS256', 'ES256')),
  constraint signing_keys_public_only check (not public_jwk ?| array['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']),
  constraint signing_keys_private_while_signing check (private_encrypted is not null or published_until is not null),
  constraint signing_keys_published_while_signing check (published_until > signs_from),
  constraint signing_keys_withdrawn
    check (withdrawn_at is null or (private_encrypted is null and published_until is not null))
);
-- One key of each algorithm is the newest. The process that makes its successor sets its published_until.
create unique index signing_keys_newest on signing_keys (alg) where published_until is null;

-- The registered OAuth applications. Columns that OpenID Connect Registration names have its names.
create table oauth_apps (
  id bigint generated always as identity primary key,
  client_id text not null,
  owner_id bigint not null references users,
  name text not null,
  description text not null default '',
  homepage text,
  logo_url text,
  redirect_uris text[] not null,
  post_logout_redirect_uris text[] not null default '{}',
  id_token_signed_response_alg text not null default 'RS256',
  -- `none` is a public application. It has no secret, and proves by PKCE that a code is its own.
  token_endpoint_auth_method text not null default 'client_secret_basic',
  allow_groups text[] not null default '{}',
  deny_groups text[] not null default '{}',
  -- While an application is suspended, no member is sent to it, it gets no tokens, and its tokens do not work.
  suspended_at timestamptz,
  suspended_by bigint references users,
  suspended_reason text,
  -- The mark that the staff has reviewed it. A change of a reviewed field removes the mark.
  reviewed_at timestamptz,
  reviewed_by bigint references users,
  created_at timestamptz not null default now(),
  constraint oauth_apps_client_id_key unique (client_id),
  constraint oauth_apps_name_length check (char_length(name) between 1 and 60),
  constraint oauth_apps_description_length check (char_length(description) <= 500),
  constraint oauth_apps_homepage_https check (homepage ~ '^https://' and char_length(homepage) <= 500),
  constraint oauth_apps_logo_url_https check (logo_url ~ '^https://' and char_length(logo_url) <= 500),
  constraint oauth_apps_redirect_uris_count check (cardinality(redirect_uris) between 1 and 20),
  constraint oauth_apps_post_logout_redirect_uris_count check (cardinality(post_logout_redirect_uris) <= 20),
  constraint oauth_apps_id_token_signed_response_alg check (id_token_signed_response_alg in ('RS256', 'ES256')),
  constraint oauth_apps_token_endpoint_auth_method
    check (token_endpoint_auth_method in ('client_secret_basic', 'client_secret_post', 'none')),
  constraint oauth_apps_suspended_whole check (num_nulls(suspended_at, suspended_by, suspended_reason) in (0, 3)),
  constraint oauth_apps_reviewed_whole check (num_nulls(reviewed_at, reviewed_by) in (0, 2))
);
create index oauth_apps_owner on oauth_apps (owner_id, id);
create index oauth_apps_name_skeleton on oauth_apps (name_skeleton(name));

create table app_secrets (
  id bigint generated always as identity primary key,
  app_id bigint not null references oauth_apps on delete cascade,
  secret_hash bytea not null,
  last_used_at timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  constraint app_secrets_secret_hash_key unique (secret_hash)
);
create index app_secrets_app on app_secrets (app_id);
create index app_secrets_ending on app_secrets (expires_at) where expires_at is not null;

create table consents (
  user_id bigint not null references users on delete cascade,
  app_id bigint not null references oauth_apps on delete cascade,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (user_id, app_id)
);
-- For the number of members who allowed an application.
create index consents_app on consents (app_id);

create table authorization_codes (
  id bigint generated always as identity primary key,
  code_hash bytea not null,
  app_id bigint not null references oauth_apps on delete cascade,
  user_id bigint not null references users on delete cascade,
  session_id bigint references sessions on delete set null,
  redirect_uri text not null,
  -- RFC 6749, section 4.1.3: the token request repeats redirect_uri only if the authorization request carried it.
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
  -- A code is written twice, when it is made and when it is spent. With room on its page the second write touches no index.
) with (fillfactor = 50);
create index authorization_codes_expiry on authorization_codes (expires_at);
-- The end of a session releases the codes and grants that began in it. Without an index it would read both tables.
create index authorization_codes_session on authorization_codes (session_id) where session_id is not null;

-- A grant is one family of tokens. A code begins at most one family, by the unique code_id.
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
create index grants_session on grants (session_id) where session_id is not null;
create index grants_expiry on grants (expires_at);

create table refresh_tokens (
  id bigint generated always as identity primary key,
  token_hash bytea not null,
  grant_id bigint not null references grants on delete cascade,
  -- The token's place in its family. The token that came with the code is 0. One number bounds the refreshes of a grant and the
  -- spent tokens that are kept, without counting rows.
  generation integer not null default 0,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null default now(),
  constraint refresh_tokens_token_hash_key unique (token_hash),
  -- A family is one chain: a token has at most one successor.
  constraint refresh_tokens_one_chain unique (grant_id, generation)
  -- As for authorization_codes.
) with (fillfactor = 60);
create index refresh_tokens_expiry on refresh_tokens (expires_at);

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
