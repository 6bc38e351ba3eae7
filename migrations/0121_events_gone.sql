-- When an application's address for events answered that it is gone for good, until its owner names one again: by
-- Standard Webhooks nothing more is sent there.
alter table payment_apps
  add column events_gone_at timestamptz,
  add constraint payment_apps_events_gone check (events_gone_at is null or events_url is null);
