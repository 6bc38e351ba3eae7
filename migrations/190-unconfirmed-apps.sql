-- Any access token registers applications (interface.md 1.3). Their owners confirm those that another application registered.

-- The application whose access token registered this one.
alter table oauth_apps add column registered_by_app_id bigint references oauth_apps on delete set null;
-- Null until the owner confirms it.
alter table oauth_apps add column confirmed_at timestamptz default now();
update oauth_apps set confirmed_at = created_at;
create index oauth_apps_registered_by on oauth_apps (registered_by_app_id) where registered_by_app_id is not null;
-- A member has few of them, and unused ones end after 30 days.
create index oauth_apps_unconfirmed on oauth_apps (created_at) where confirmed_at is null;

-- An alert is about a payment application or about a sign-in application.
alter table alerts alter column app_id drop not null;
alter table alerts add column oauth_app_id bigint references oauth_apps on delete cascade;
alter table alerts add constraint alerts_subject check (num_nonnulls(app_id, oauth_app_id) = 1);
alter table alerts add constraint alerts_oauth_cause_key unique (oauth_app_id, user_id, kind, cause);

-- Its result changes.
drop function if exists live_access_tokens(bytea[], timestamptz[]);
