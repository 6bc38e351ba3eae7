-- Any application may have private-use addresses. Another program on the device can receive a code there (RFC 8252, section 8.1), and
-- only PKCE proves whose the code is. So such a code has a challenge.
alter table oauth_apps drop constraint oauth_apps_private_use_public;
alter table authorization_codes add constraint authorization_codes_private_use_pkce check (
  redirect_uri ~* '^https?:' or code_challenge is not null
);
