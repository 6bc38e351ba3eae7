-- What people see of an application before they trust it, and what staff has said about it; when a session was last used.

alter table oauth_apps
  add column homepage text,
  add column logo_url text,
  -- Suspended: nobody is sent to it, it gets no tokens, and those it has stop working until it is reinstated.
  add column suspended_at timestamptz,
  add column suspended_by bigint references users,
  add column suspended_reason text,
  -- The mark of the staff. It is lost when what was looked at changes.
  add column reviewed_at timestamptz,
  add column reviewed_by bigint references users,
  add constraint oauth_apps_homepage_https check (homepage ~ '^https://' and char_length(homepage) <= 500),
  add constraint oauth_apps_logo_url_https check (logo_url ~ '^https://' and char_length(logo_url) <= 500),
  add constraint oauth_apps_suspended_whole check (num_nulls(suspended_at, suspended_by, suspended_reason) in (0, 3)),
  add constraint oauth_apps_reviewed_whole check (num_nulls(reviewed_at, reviewed_by) in (0, 2));

-- How many members have allowed an application.
create index consents_app on consents (app_id);

-- To within minutes: written only when it is older than that. Null: not since it began.
alter table sessions add column last_seen_at timestamptz;

create index audit_log_action on audit_log (action, id);
