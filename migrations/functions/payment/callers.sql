-- The application of each request of a program, with the keys in force, many at once.

-- For the HMAC API: applications by their Payment IDs, with the tokens that requests may be signed with, the current one first.
create or replace function payment_apps_with_tokens(p_payment_ids text[], p_now timestamptz) returns table (
  payment_id text, id bigint, book text, status text, applicant_id bigint, allowed_addresses text[],
  key_id bigint, value_encrypted bytea, last_used_at timestamptz, is_former_owners boolean
) language plpgsql stable as $$
begin
  return query
    select app.payment_id, app.id, app.book,
      app_status(app.status, owner.is_banned, owner.suspended_till, p_now), app.applicant_id,
      app.allowed_addresses::text[], key.id, key.value_encrypted, key.last_used_at, key.is_former_owners
    from payment_apps as app
    join users as owner on owner.id = app.applicant_id
    join payment_app_keys as key on key.app_id = app.id
    where app.payment_id = any (p_payment_ids) and key.kind = 'token' and key.book = app.book
      and (key.valid_to is null or key.valid_to > p_now)
    order by key.id desc;
end
$$;

-- For the gateway: the application of each request, by whichever of its three names the request has. Of the keys it answers only
-- the Merchant KEY itself. The others are long, and the callers keep them.
create or replace function gateway_apps(p_app_ids bigint[], p_pids bigint[], p_payment_ids text[], p_now timestamptz) returns table (
  item integer, id bigint, book text, payment_id text, pid bigint, applicant_id bigint, status text, exchange_rate numeric,
  allowed_addresses text[], v1_enabled boolean, v2_enabled boolean,
  merchant_key_id bigint, merchant_key bytea, platform_private_key_id bigint, merchant_public_key_id bigint,
  merchant_key_is_former boolean, merchant_public_key_is_former boolean
) language plpgsql stable as $$
begin
  return query
    select asked.item::integer, app.id, app.book, app.payment_id, app.pid, app.applicant_id,
      app_status(app.status, owner.is_banned, owner.suspended_till, p_now), app.exchange_rate,
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
