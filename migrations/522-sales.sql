-- What each application sold by day and by product, for pages that show a year of a shop with a million orders. The worker adds what
-- happened in each hour once it is settled, and a page adds what happened since: src/payment/orders/sales.ts. The rows are derived
-- from the orders. The worker deletes them and counts again when the site's time zone changes.

-- How far the rows below are counted. No row: nothing is.
create table sales_counted (
  is_only boolean primary key default true,
  -- The time zone of the days.
  zone text not null,
  -- Every order created, every payment and every refund before this moment is in the rows, and no later one.
  until timestamptz not null,
  -- No order with a lower id was created at `until` or later.
  orders_from bigint not null,
  constraint sales_counted_is_only check (is_only)
);

-- The orders of an application that were created on a day, whenever they were paid and refunded.
create table payment_app_sales (
  app_id bigint not null references payment_apps,
  day date not null,
  orders bigint not null,
  paid bigint not null,
  -- By payers, and the merchant's part of them.
  points numeric not null,
  merchant_points numeric not null,
  -- The orders of which something was refunded, and the points.
  refunds bigint not null,
  refunded numeric not null,
  primary key (app_id, day),
  constraint payment_app_sales_sums check (
    orders >= 0 and paid >= 0 and refunds >= 0 and merchant_points between 0 and points and refunded >= 0
  )
);

-- The descriptions of paid orders, and the last day on which such an order was created.
create table payment_app_products (
  id bigint generated always as identity primary key,
  app_id bigint not null references payment_apps,
  description text not null,
  last_day date not null,
  constraint payment_app_products_key unique (app_id, description)
);
create index payment_app_products_sold on payment_app_products (app_id, last_day);

-- What a product sold until the end of a day, since its first one: a range of days is the difference of two rows. The refunded points
-- are of the orders of this day alone.
create table payment_app_product_sales (
  product_id bigint not null references payment_app_products on delete cascade,
  day date not null,
  paid bigint not null,
  points numeric not null,
  merchant_points numeric not null,
  refunded numeric not null,
  primary key (product_id, day),
  constraint payment_app_product_sales_sums check (paid >= 1 and merchant_points between 0 and points and refunded >= 0)
) with (fillfactor = 90);

-- What was refunded since a moment.
create index refunds_time on refunds (refunded_at);
