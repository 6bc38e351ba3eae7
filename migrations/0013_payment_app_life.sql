-- What an owner and an administrator may set on a payment application after it was made.

alter table payment_apps
  add column homepage text,
  -- Addresses and ranges that may call the API; empty means any.
  add column allowed_addresses inet[] not null default '{}',
  add constraint payment_apps_allowed_addresses_count check (cardinality(allowed_addresses) <= 50);
