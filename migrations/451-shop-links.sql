-- A sign-in application and a payment application of one owner that members meet as one shop: they have one name and one logo.
-- functions/shops/links.sql holds the rules.
create table shop_links (
  oauth_app_id bigint primary key references oauth_apps on delete cascade,
  payment_app_id bigint not null references payment_apps on delete cascade,
  created_at timestamptz not null default now(),
  constraint shop_links_payment_app_id_key unique (payment_app_id)
);
