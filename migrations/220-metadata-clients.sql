-- Clients that publish their own registration (draft-ietf-oauth-client-id-metadata-document-02). The client_id is the address of a
-- document with the metadata. Nobody owns such a client: the first member who allows it stores it.

alter table oauth_apps alter column owner_id drop not null;
alter table oauth_apps add column document_url text;
-- The name and the addresses that the document gives. The column redirect_uris has the addresses that the client may use.
alter table oauth_apps add column document jsonb;
alter table oauth_apps add column fetched_at timestamptz;
-- Until then the document is not fetched again.
alter table oauth_apps add column fresh_until timestamptz;
alter table oauth_apps add constraint oauth_apps_owner_or_document check (num_nonnulls(owner_id, document_url) = 1);
alter table oauth_apps add constraint oauth_apps_document_whole
  check (num_nulls(document_url, document, fetched_at, fresh_until) in (0, 4));
-- Generated client_ids never look like an address.
alter table oauth_apps add constraint oauth_apps_document_url check (
  case when document_url is null then client_id !~* '^https?:'
  else document_url = client_id and client_id ~ '^https://[^/?#@]+/[^?#]*$' and char_length(client_id) <= 300 end
);
-- Such a client is public, open to everyone, and never reviewed, listed or told of the end of a session.
alter table oauth_apps add constraint oauth_apps_document_plain check (
  document_url is null or (
    token_endpoint_auth_method = 'none' and grant_types = '{authorization_code,refresh_token}'
    and cardinality(allow_groups || deny_groups || post_logout_redirect_uris) = 0
    and num_nonnulls(reviewed_at, registered_by_app_id, backchannel_logout_uri, resource_uri, logo_url) = 0
    and confirmed_at is not null and not is_listed
  )
);
-- Its name is its host, which the document cannot choose.
alter table oauth_apps drop constraint oauth_apps_name_length;
alter table oauth_apps add constraint oauth_apps_name_length
  check (char_length(name) between 1 and case when document_url is null then 60 else 300 end);
-- Unused ones end after 90 days.
create index oauth_apps_fetched on oauth_apps (fetched_at) where document_url is not null;

-- A hash of the name and the addresses that the member has allowed. When they change, the member is asked again.
alter table consents add column document_version bytea;

-- Its result changes.
drop function if exists live_access_tokens(bytea[], timestamptz[]);
