-- Sign-ins ask the forum out of a budget of their own: neither they nor the background can use up the other's.
alter table forum_api add column sign_in_requests timestamptz[] not null default '{}';
