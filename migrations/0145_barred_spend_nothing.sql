-- A banned or suspended member is barred from spending too: their wallet pays nothing out, and their applications are as
-- if suspended. What comes in goes on, and so does what is given back out of their wallet.

create function is_barred(p_is_banned boolean, p_suspended_till timestamptz, p_now timestamptz) returns boolean
  language sql immutable parallel safe
return coalesce(p_is_banned or p_suspended_till > p_now, false);

-- The state that counts of an application, by its own and by its owner's.
create function app_standing(p_status text, p_is_banned boolean, p_suspended_till timestamptz, p_now timestamptz)
  returns text language sql immutable parallel safe
return case
  when p_status = 'approved' and is_barred(p_is_banned, p_suspended_till, p_now) then 'suspended'
  else p_status
end;

create or replace function payment_apps_with_tokens(p_payment_ids text[], p_now timestamptz) returns table (
  payment_id text, id bigint, book text, status text, allowed_addresses text[],
  key_id bigint, value_encrypted bytea, last_used_at timestamptz
) language plpgsql stable
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
begin
  return query
    select app.payment_id, app.id, app.book,
      app_standing(app.status, owner.is_banned, owner.suspended_till, p_now), app.allowed_addresses::text[],
      key.id, key.value_encrypted, key.last_used_at
    from payment_apps as app
    join users as owner on owner.id = app.applicant_id
    join payment_app_keys as key on key.app_id = app.id
    where app.payment_id = any (p_payment_ids) and key.kind = 'token' and key.book = app.book
      and (key.valid_to is null or key.valid_to > p_now)
    order by key.id desc;
end
$$;

drop function gateway_apps;
-- The application of each request of the gateway, many in one statement, by whichever of its three names it is asked for,
-- with the keys in force. Of these only the Merchant KEY itself: the others are long, and kept ready by those who ask.
create function gateway_apps(p_app_ids bigint[], p_pids bigint[], p_payment_ids text[], p_now timestamptz) returns table (
  item integer, id bigint, book text, payment_id text, pid bigint, applicant_id bigint, status text, exchange_rate numeric,
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
    select asked.item::integer, app.id, app.book, app.payment_id, app.pid, app.applicant_id,
      app_standing(app.status, owner.is_banned, owner.suspended_till, p_now), app.exchange_rate,
      app.allowed_addresses::text[], app.v1_enabled, app.v2_enabled, k.id, k.value_encrypted, p.id, m.id
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

create or replace function pg_temp.replace_once(p_function text, p_old text, p_new text) returns void language plpgsql as $$
declare
  v_definition constant text := (select pg_get_functiondef(oid) from pg_proc where proname = p_function);
begin
  if (length(v_definition) - length(replace(v_definition, p_old, ''))) / length(p_old) is distinct from 1 then
    raise exception 'what is to be replaced is not there once in %', p_function;
  end if;
  execute replace(v_definition, p_old, p_new);
end
$$;

-- Read after the wallets are locked, like whatever else may refuse: a payment that waited there sees who was barred since.
select pg_temp.replace_once('pay_orders', 'app.status as app_status, app.fee_rate',
  $$app_standing(app.status, payee.is_banned, payee.suspended_till, i.now) as app_status,
      is_barred(member.is_banned, member.suspended_till, i.now) as payer_is_barred, app.fee_rate$$);
select pg_temp.replace_once('pay_orders', 'left join lateral (
      select id from ledger_accounts where user_id = i.payer_id',
  $$left join lateral (
      select is_banned, suspended_till from users where id = app.applicant_id offset 0
    ) as payee on true
    left join lateral (
      select is_banned, suspended_till from users where id = i.payer_id offset 0
    ) as member on true
    left join lateral (
      select id from ledger_accounts where user_id = i.payer_id$$);
select pg_temp.replace_once('pay_orders', 'when v_frozen[v_from] then', 'when v_frozen[v_from] or asked.payer_is_barred then');

select pg_temp.replace_once('post_transfers', 'app.status as app_status',
  'app_standing(app.status, sender.is_banned, sender.suspended_till, i.now) as app_status');
select pg_temp.replace_once('post_transfers', 'select id, username, trust_level from users',
  'select id, username, trust_level, is_banned, suspended_till from users');

drop function pg_temp.replace_once(text, text, text);
