-- Tokens for another application's service (RFC 8707). That application reads them by introspection, and they work nowhere else.

-- The address of an application's service. Only a confidential application can introspect the tokens for it.
alter table oauth_apps add column resource_uri text;
alter table oauth_apps add constraint oauth_apps_resource_uri_key unique (resource_uri);
alter table oauth_apps add constraint oauth_apps_resource_uri check (
  resource_uri is null
  or (char_length(resource_uri) <= 300 and resource_uri !~ '#' and token_endpoint_auth_method <> 'none')
);

alter table authorization_codes add column resource_app_id bigint references oauth_apps on delete cascade;
alter table device_codes add column resource_app_id bigint references oauth_apps on delete cascade;
alter table grants add column resource_app_id bigint references oauth_apps on delete cascade;
-- For the deletion of the application.
create index authorization_codes_resource on authorization_codes (resource_app_id) where resource_app_id is not null;
create index device_codes_resource on device_codes (resource_app_id) where resource_app_id is not null;
create index grants_resource on grants (resource_app_id) where resource_app_id is not null;

-- The applications at whose services the member has allowed this one to use its tokens.
alter table consents add column resource_app_ids bigint[] not null default '{}';
