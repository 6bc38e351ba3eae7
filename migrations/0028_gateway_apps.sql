-- The application of each request of the gateway, many in one statement, by whichever of its three names it is asked for,
-- with the keys in force. Of these only the Merchant KEY itself: the others are long, and kept ready by those who ask.
create function gateway_apps(p_app_ids bigint[], p_pids bigint[], p_payment_ids text[]) returns table (
  item integer, id bigint, payment_id text, pid bigint, applicant_id bigint, status text, exchange_rate numeric,
  allowed_addresses text[], v1_enabled boolean, v2_enabled boolean,
  merchant_key_id bigint, merchant_key bytea, platform_private_key_id bigint, merchant_public_key_id bigint
) language plpgsql stable
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
begin
  return query
    select asked.item::integer, app.id, app.payment_id, app.pid, app.applicant_id, app.status, app.exchange_rate,
      app.allowed_addresses::text[], app.v1_enabled, app.v2_enabled, k.id, k.value_encrypted, p.id, m.id
    from unnest(p_app_ids, p_pids, p_payment_ids) with ordinality as asked (app_id, pid, payment_id, item)
    join payment_apps as app on app.id = coalesce(
      asked.app_id,
      (select named.id from payment_apps as named where named.pid = asked.pid),
      (select named.id from payment_apps as named where named.payment_id = asked.payment_id)
    )
    left join payment_app_keys as k
      on k.app_id = app.id and k.book = 'live' and k.kind = 'merchant_key' and k.valid_to is null
    left join payment_app_keys as p
      on p.app_id = app.id and p.book = 'live' and p.kind = 'platform_private_key' and p.valid_to is null
    left join payment_app_keys as m
      on m.app_id = app.id and m.book = 'live' and m.kind = 'merchant_public_key' and m.valid_to is null;
end
$$;
