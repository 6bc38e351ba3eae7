-- A former owner knows the keys of the gateway too: they sell on, and tell nothing of the new owner's purse. And so it is with
-- the applications that changed hands before anybody wrote down whose keys are whose.

create or replace function settle_new_owner() returns trigger language plpgsql as $$
begin
  delete from payment_app_members where app_id = new.id;
  delete from payment_app_offers where app_id = new.id;
  update payment_apps set low_balance_points = null, low_balance_at = null where id = new.id;
  update payment_app_keys set is_former_owners = true
  where app_id = new.id and kind in ('token', 'merchant_key', 'merchant_public_key');
  return null;
end
$$;

update payment_app_keys as key set is_former_owners = true
from payment_apps as app
join (
  select subject, max(created_at) as at from audit_log where action = 'payment_app.hand_over' group by subject
) as handover on handover.subject = app.payment_id
where key.app_id = app.id and key.kind in ('token', 'merchant_key', 'merchant_public_key') and key.created_at <= handover.at;

drop function gateway_apps;
-- The application of each request of the gateway, many in one statement, by whichever of its three names it is asked for,
-- with the keys in force. Of these only the Merchant KEY itself: the others are long, and kept ready by those who ask.
create function gateway_apps(p_app_ids bigint[], p_pids bigint[], p_payment_ids text[], p_now timestamptz) returns table (
  item integer, id bigint, book text, payment_id text, pid bigint, applicant_id bigint, status text, exchange_rate numeric,
  allowed_addresses text[], v1_enabled boolean, v2_enabled boolean,
  merchant_key_id bigint, merchant_key bytea, platform_private_key_id bigint, merchant_public_key_id bigint,
  merchant_key_is_former boolean, merchant_public_key_is_former boolean
) language plpgsql stable
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
begin
  return query
    select asked.item::integer, app.id, app.book, app.payment_id, app.pid, app.applicant_id,
      app_standing(app.status, owner.is_banned, owner.suspended_till, p_now), app.exchange_rate,
      app.allowed_addresses::text[], app.v1_enabled, app.v2_enabled, k.id, k.value_encrypted, p.id, m.id,
      coalesce(k.is_former_owners, false), coalesce(m.is_former_owners, false)
    from unnest(p_app_ids, p_pids, p_payment_ids) with ordinality as asked (app_id, pid, payment_id, item)
    join payment_apps as app on app.id = coalesce(
      asked.app_id,
      (select named.id from payment_apps as named where named.pid = asked.pid),
      (select named.id from payment_apps as named where named.payment_id = asked.payment_id)
    )
    join users as owner on owner.id = app.applicant_id
    left join payment_app_keys as k
      on k.app_id = app.id and k.book = app.book and k.kind = 'merchant_key' and k.valid_to is null
    left join payment_app_keys as p
      on p.app_id = app.id and p.book = app.book and p.kind = 'platform_private_key' and p.valid_to is null
    left join payment_app_keys as m
      on m.app_id = app.id and m.book = app.book and m.kind = 'merchant_public_key' and m.valid_to is null;
end
$$;
