-- What the gateway's two versions need of an application: the merchant's public key beside our own pair, and a
-- switch for each version, which is of use only where the version's key is there too.

alter table payment_app_keys
  drop constraint payment_app_keys_kind,
  add constraint payment_app_keys_kind
    check (kind in ('token', 'merchant_key', 'platform_private_key', 'merchant_public_key'));

alter table payment_apps
  add column v1_enabled boolean not null default true,
  add column v2_enabled boolean not null default true;
