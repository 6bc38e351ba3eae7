-- What an application has said about how it speaks the protocol, by the names of OpenID Connect Registration.

alter table oauth_apps
  add column post_logout_redirect_uris text[] not null default '{}',
  add column id_token_signed_response_alg text not null default 'RS256',
  -- `none` is a public application: it has no secret, and proves by PKCE that a code is its own.
  add column token_endpoint_auth_method text not null default 'client_secret_basic',
  add constraint oauth_apps_post_logout_redirect_uris_count check (cardinality(post_logout_redirect_uris) <= 20),
  add constraint oauth_apps_id_token_signed_response_alg check (id_token_signed_response_alg in ('RS256', 'ES256')),
  add constraint oauth_apps_token_endpoint_auth_method
    check (token_endpoint_auth_method in ('client_secret_basic', 'client_secret_post', 'none'));
