-- Whose orders a member finds again, and by which picture a shop is known.

-- Who has opened an order to pay it, and when first: an order has no buyer before it is paid.
create table order_views (
  user_id bigint not null references users on delete cascade,
  order_id bigint not null references orders,
  viewed_at timestamptz not null,
  created_at timestamptz not null default now(),
  primary key (user_id, order_id)
);
create index order_views_of_order on order_views (order_id);

alter table payment_apps
  -- The https address of a square picture.
  add column logo_url text;
