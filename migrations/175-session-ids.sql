-- The public id of a session: the claim `sid` of ID tokens and logout tokens. It is random, so a change of APP_SECRET does not
-- change it, and it stays while the session is renewed. Sessions without one keep the id that is derived from APP_SECRET.
alter table sessions add column sid text;
alter table sessions add constraint sessions_sid_shape check (sid ~ '^[A-Za-z0-9_-]{22}$');
