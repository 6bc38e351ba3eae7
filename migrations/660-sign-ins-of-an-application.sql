-- The sign-ins of an application, for its owner. Its grants are found when it is deleted, too.
create index grants_app on grants (app_id, expires_at);
