-- Payment links: a public page that sells one thing. A sale is an order of the door `link`. functions/payment/links.sql has the rules.
alter table orders drop constraint orders_door;
alter table orders add constraint orders_door check (door in ('hmac', 'gateway', 'link')) not valid;
alter table orders validate constraint orders_door;

create table links (
  id bigint generated always as identity primary key,
  app_id bigint not null,
  book text not null,
  -- The public name, which is never chosen, changed or given again.
  slug text not null,
  -- `stopped` is an administrator's act. Not yet, sold out and over are not stored: the clock and the sales decide.
  state text not null default 'draft',
  title text not null,
  description text not null,
  -- What the receipt says to the buyer.
  thanks text not null,
  -- Whole points: the price of a unit, or the bounds of a price that the buyer chooses.
  amount bigint,
  amount_min bigint,
  amount_max bigint,
  suggestions bigint[] not null,
  quantity_max integer not null,
  -- Units ever sold, in all and to one member. Null: as many as wanted.
  stock integer,
  member_max integer,
  sells_from timestamptz,
  sells_until timestamptz,
  -- Judged of the buyer: the trust level, and any one of the custom groups.
  min_level integer not null,
  allow_groups text[] not null,
  -- What a buyer gets. The last row of link_deliveries holds the text or the address.
  delivery text not null,
  shows_stock boolean not null,
  stopped_at timestamptz,
  stopped_by bigint references users,
  -- The team reads it.
  stopped_reason text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint links_slug_key unique (slug),
  constraint links_slug_shape check (slug ~ '^[a-z0-9]{10}$'),
  constraint links_app foreign key (app_id, book) references payment_apps (id, book),
  constraint links_state check (state in ('draft', 'on_sale', 'paused', 'ended', 'stopped')),
  constraint links_texts check (
    char_length(title) between 1 and 80 and char_length(description) <= 2000 and char_length(thanks) <= 500
  ),
  constraint links_one_price check (num_nonnulls(amount, amount_min) = 1 and (amount_min is null) = (amount_max is null)),
  constraint links_amount check (amount >= 1 and amount <= 9007199254740991 / quantity_max),
  constraint links_free_amount check (
    amount_min is null or (amount_min between 1 and amount_max and amount_max <= 9007199254740991 and quantity_max = 1)
  ),
  constraint links_suggestions check (
    cardinality(suggestions) <= case when amount is null then 3 else 0 end
    and amount_min <= all (suggestions) and amount_max >= all (suggestions)
  ),
  constraint links_quantity_max check (quantity_max between 1 and 100),
  constraint links_stock check (stock between 1 and 1000000),
  constraint links_member_max check (member_max between 1 and 1000),
  constraint links_times check (sells_until > sells_from),
  constraint links_min_level check (min_level between 0 and 4),
  constraint links_allow_groups check (cardinality(allow_groups) <= 10),
  constraint links_delivery check (delivery in ('none', 'text', 'url', 'codes')),
  constraint links_stopped check (
    num_nonnulls(stopped_at, stopped_by, stopped_reason) = case when state = 'stopped' then 3 else 0 end
  ),
  constraint links_stopped_reason check (char_length(stopped_reason) between 1 and 500)
);
create index links_of_app on links (app_id, id);

-- The texts and addresses that a link has delivered, one row a version. A sale names the version that it sold, so a later version
-- changes no receipt.
create table link_deliveries (
  id bigint generated always as identity primary key,
  link_id bigint not null references links,
  kind text not null,
  value_encrypted bytea not null,
  created_at timestamptz not null default now(),
  constraint link_deliveries_of_link unique (link_id, id),
  constraint link_deliveries_kind check (kind in ('text', 'url'))
);

-- What an order of the door `link` sells. The payment writes the limits of that moment and the running sums: the units sold so
-- far, in all and to this member, this sale included. So the last sale holds the sums, and no sale over a limit can be stored.
create table link_orders (
  order_id bigint primary key references orders,
  link_id bigint not null references links,
  -- The only member who may see and pay the order.
  for_user_id bigint not null references users,
  units integer not null,
  unit_amount bigint not null,
  delivery_id bigint,
  stock_max integer,
  member_max integer,
  sold_total bigint,
  member_total bigint,
  created_at timestamptz not null default now(),
  constraint link_orders_of_link unique (order_id, link_id),
  constraint link_orders_delivery foreign key (link_id, delivery_id) references link_deliveries (link_id, id),
  constraint link_orders_units check (units between 1 and 100 and unit_amount >= 1),
  constraint link_orders_sold check (
    num_nonnulls(sold_total, member_total) in (0, 2)
    and (sold_total is not null or num_nonnulls(delivery_id, stock_max, member_max) = 0)
  ),
  constraint link_orders_sums check (sold_total >= member_total and member_total >= units),
  constraint link_orders_stock check (sold_total <= stock_max),
  constraint link_orders_member_max check (member_total <= member_max)
);
create unique index link_orders_sold_total on link_orders (link_id, sold_total) where sold_total is not null;
create unique index link_orders_member_total on link_orders (link_id, for_user_id, member_total) where member_total is not null;
create index link_orders_of_member on link_orders (for_user_id, link_id, order_id);

-- The codes of a link, each for one unit. A taken code stays with its order. An unsold one can be withdrawn.
create table link_codes (
  id bigint generated always as identity primary key,
  link_id bigint not null references links,
  value_encrypted bytea not null,
  -- An HMAC of link and code: the same code is added once.
  fingerprint bytea not null,
  order_id bigint,
  unit integer,
  taken_at timestamptz,
  withdrawn_at timestamptz,
  created_at timestamptz not null default now(),
  constraint link_codes_fingerprint_key unique (link_id, fingerprint),
  constraint link_codes_unit_key unique (order_id, unit),
  constraint link_codes_sale foreign key (order_id, link_id) references link_orders (order_id, link_id),
  constraint link_codes_taken check (num_nonnulls(order_id, unit, taken_at) in (0, 3) and unit between 1 and 100),
  constraint link_codes_unsold_withdrawn check (withdrawn_at is null or order_id is null)
);
create index link_codes_free on link_codes (link_id, id) where order_id is null and withdrawn_at is null;

-- Its rows gain the door.
drop function if exists payment_facts(asked_payment[]);
