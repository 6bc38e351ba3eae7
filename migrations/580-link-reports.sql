-- What members report of a link to the staff. A member reports a link once.
create table link_reports (
  id bigint generated always as identity primary key,
  link_id bigint not null references links,
  user_id bigint not null references users,
  text text not null,
  -- Both, once an administrator has judged the report.
  settled_at timestamptz,
  settled_by bigint references users,
  created_at timestamptz not null default now(),
  constraint link_reports_once unique (link_id, user_id),
  constraint link_reports_text check (char_length(text) between 10 and 500),
  constraint link_reports_settled check (num_nonnulls(settled_at, settled_by) in (0, 2))
);
create index link_reports_open on link_reports (link_id, id) where settled_at is null;
create index link_reports_of_member on link_reports (user_id, id);
create index link_reports_age on link_reports (created_at);
