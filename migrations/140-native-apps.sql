-- Any program on a device can answer to a private-use scheme (RFC 8252, section 7.1), and only a public application proves by PKCE
-- that a code is its own. Addresses hold no spaces.
alter table oauth_apps add constraint oauth_apps_private_use_public check (
  token_endpoint_auth_method = 'none'
  or array_to_string(redirect_uris || post_logout_redirect_uris, ' ') !~* '(^| )(?!https?:)'
);
