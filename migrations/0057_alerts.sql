-- What members are told of their payment applications without having asked: on the page and by mail.

create table alerts (
  id bigint generated always as identity primary key,
  user_id bigint not null references users,
  app_id bigint not null references payment_apps,
  kind text not null,
  -- What it is about. One cause is told to one member once, whichever process finds it first.
  cause text not null,
  facts jsonb not null,
  raised_at timestamptz not null,
  read_at timestamptz,
  created_at timestamptz not null default now(),
  constraint alerts_cause_key unique (user_id, app_id, kind, cause)
);
create index alerts_of_user on alerts (user_id, id);
create index alerts_unread on alerts (user_id) where read_at is null;

-- Told to an owner whose wallet pays transfers; null is not at all. The moment it was told is kept until the wallet
-- has recovered, so that one shortage is one cause.
alter table payment_apps
  add column low_balance_points bigint,
  add column low_balance_at timestamptz,
  add constraint payment_apps_low_balance_range check (low_balance_points between 1 and 9007199254740991);
create index payment_apps_low_balance on payment_apps (id) where low_balance_points is not null;

-- Notifications that somebody may have to be told about: only what has failed at least once is in it.
create index notifications_troubled on notifications (updated_at) where status <> 'delivered' and attempts > 0;
create index payment_app_keys_ending on payment_app_keys (valid_to) where valid_to is not null;

-- The threshold was the former owner's choice, about another wallet.
create or replace function settle_new_owner() returns trigger language plpgsql as $$
begin
  delete from payment_app_members where app_id = new.id and user_id = new.applicant_id;
  delete from payment_app_offers where app_id = new.id;
  update payment_apps set low_balance_points = null, low_balance_at = null where id = new.id;
  return null;
end
$$;
