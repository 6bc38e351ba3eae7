-- What the address of UPDATE_NOTICE_URL last answered. asked_at lets one of all processes ask once a day.
create table update_notice (
  is_only boolean primary key default true check (is_only),
  asked_at timestamptz not null,
  heard_at timestamptz,
  changelog text check (octet_length(changelog) <= 1048576),
  -- The last version of the changelog, so that the overview reads no more of it.
  newest text,
  fault text
);
