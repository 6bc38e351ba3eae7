-- What members have paid to an application before a moment, since its first payment. So the takings between two moments are the
-- difference of two rows, however many payments lie between. The worker adds a row for each five minutes with a payment, once they
-- are settled. See src/payment/merchant/takings.ts.
create table payment_app_takings (
  app_id bigint not null references payment_apps,
  until timestamptz not null,
  payments bigint not null,
  -- By payers, and the merchant's part of them.
  points numeric not null,
  merchant_points numeric not null,
  created_at timestamptz not null default now(),
  constraint payment_app_takings_key primary key (app_id, until),
  constraint payment_app_takings_until check (extract(epoch from until) % 300 = 0),
  constraint payment_app_takings_sums check (payments >= 1 and merchant_points between 0 and points)
);
