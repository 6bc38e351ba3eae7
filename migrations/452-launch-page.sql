-- The last sign-in of a member to an application is one row of this index, however often the member signs in.
drop index grants_user_app;
create index grants_user_app on grants (user_id, app_id, id);
-- The launch page shares the reads of the home page, which use oauth_apps_offered.
drop index oauth_apps_listed;
