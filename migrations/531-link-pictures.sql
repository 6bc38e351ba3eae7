-- The pictures of a link: the one that its team uploads, and the preview for forums, which is drawn when the link is saved.
create table link_pictures (
  link_id bigint not null references links,
  kind text not null,
  -- The hash of the picture, which is part of its address.
  name text not null,
  picture bytea not null,
  -- Of a preview: the price and the picture that it shows. The page names no preview that shows others.
  drawn_of text,
  created_at timestamptz not null default now(),
  primary key (link_id, kind),
  constraint link_pictures_kind check (kind in ('picture', 'preview') and (kind = 'preview') = (drawn_of is not null)),
  constraint link_pictures_name check (name ~ '^[0-9a-f]{32}$'),
  constraint link_pictures_picture check (octet_length(picture) between 1 and 1200000)
);
