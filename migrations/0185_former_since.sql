-- A key that a former owner knows tells what there was until the application changed hands, and nothing since then. The
-- former owner's address for events ends with the hand-over, and so do its secrets.

alter table payment_app_keys add column former_since timestamptz;
-- A key may have been known through several hand-overs: the first one counts.
update payment_app_keys as key set former_since = coalesce(
  (
    select min(entry.created_at)
    from audit_log as entry join payment_apps as app on app.payment_id = entry.subject
    where app.id = key.app_id and entry.action = 'payment_app.hand_over' and entry.created_at >= key.created_at
  ),
  key.created_at
)
where is_former_owners;
alter table payment_app_keys
  add constraint payment_app_keys_former check (is_former_owners = (former_since is not null));

create or replace function settle_new_owner() returns trigger language plpgsql as $$
begin
  delete from payment_app_members where app_id = new.id;
  delete from payment_app_offers where app_id = new.id;
  update payment_apps
  set low_balance_points = null, low_balance_at = null, events_url = null, events_gone_at = null
  where id = new.id;
  update payment_app_keys set is_former_owners = true, former_since = coalesce(former_since, new.updated_at)
  where app_id = new.id and kind in ('token', 'merchant_key', 'merchant_public_key');
  update payment_app_keys set valid_to = new.updated_at
  where app_id = new.id and kind = 'event_secret' and (valid_to is null or valid_to > new.updated_at);
  -- Events that nobody was told yet are given up, as when their owner switches them off.
  update notifications
  set status = 'failed', next_attempt_at = null, claimed_until = null, updated_at = new.updated_at
  where app_id = new.id and kind <> 'gateway' and status = 'due';
  return null;
end
$$;

-- Applications that changed hands before: whoever has set the address since then keeps it.
with handed as (
  select app.id, max(entry.created_at) as at
  from payment_apps as app join audit_log as entry on entry.subject = app.payment_id
  where entry.action = 'payment_app.hand_over' and app.events_url is not null
  group by app.id
),
ended as (
  update payment_apps as app set events_url = null, events_gone_at = null
  from handed
  where app.id = handed.id and not exists (
    select from audit_log as entry
    where entry.subject = app.payment_id and entry.action = 'payment_app.set_events_url' and entry.created_at > handed.at
  )
  returning app.id
),
given_up as (
  update notifications set status = 'failed', next_attempt_at = null, claimed_until = null
  where app_id in (select id from ended) and kind <> 'gateway' and status = 'due'
)
update payment_app_keys set valid_to = now()
where app_id in (select id from ended) and kind = 'event_secret' and (valid_to is null or valid_to > now());
