-- The pictures that administrators uploaded as the site's logo. The setting site_logo holds the address of the one in force.
create table site_logos (
  -- The hash of the picture, which is part of its address.
  name text primary key check (name ~ '^[0-9a-f]{16}$'),
  picture bytea not null check (octet_length(picture) between 1 and 1200000),
  created_at timestamptz not null
);
