-- Orders placed and looked up for many requests in one statement; and plans made once.

-- For a few elements of an array Postgres thinks a plan of its own worth making at every call; it costs more than it
-- saves. The plans that a function keeps are those of any call.
alter function pay_orders set plan_cache_mode = force_generic_plan;
alter function post_transfers set plan_cache_mode = force_generic_plan;
alter function adjust_points set plan_cache_mode = force_generic_plan;
alter function refund_order set plan_cache_mode = force_generic_plan;
alter function reverse_transfer set plan_cache_mode = force_generic_plan;
alter function payment_apps_with_tokens set plan_cache_mode = force_generic_plan;
alter function use_sessions set plan_cache_mode = force_generic_plan;

-- Places orders: each new, or the one that has its door's order_id already. That one stays as it is; only if its time
-- is over and it asks for the same amount (of the gateway: the same money) does its time begin again. Of two in one
-- batch that are the same, the first is placed and both are answered with it.
create function place_orders(p_orders jsonb) returns table (item integer, placed orders) language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
begin
  -- By id, as payments lock them, so that neither waits for the other in a circle.
  perform from orders as o
  where (o.app_id, o.book, o.door, o.order_id) in (
    select asked.app_id, 'live', asked.door, asked.order_id
    from jsonb_to_recordset(p_orders) as asked (app_id bigint, door text, order_id text)
  )
  order by o.id for update;

  insert into orders as existing (
    app_id, door, order_id, transaction_id, description, amount, expires_at, created_at, updated_at,
    trade_no, protocol, pid_sent, money, rate, type, param, notify_url, return_url
  )
  select distinct on (asked.app_id, asked.door, asked.order_id)
    asked.app_id, asked.door, asked.order_id, asked.transaction_id, asked.description, asked.amount, asked.expires_at,
    asked.now, asked.now,
    asked.trade_no, asked.protocol, asked.pid_sent, asked.money, asked.rate, asked.type, asked.param,
    asked.notify_url, asked.return_url
  from jsonb_to_recordset(p_orders) as asked (
    item integer, app_id bigint, door text, order_id text, transaction_id text, description text, amount bigint,
    expires_at timestamptz, now timestamptz,
    trade_no text, protocol text, pid_sent text, money text, rate numeric, type text, param text, notify_url text,
    return_url text
  )
  order by asked.app_id, asked.door, asked.order_id, asked.item
  on conflict on constraint orders_order_id_key do update
  set status = 'unpaid', expires_at = excluded.expires_at, updated_at = excluded.updated_at
  -- Only an order that nobody can pay any more is opened again.
  where existing.status in ('unpaid', 'expired') and existing.expires_at <= excluded.created_at
    and coalesce(existing.money::numeric = excluded.money::numeric, existing.amount = excluded.amount);

  return query
    select asked.item, o
    from jsonb_to_recordset(p_orders) as asked (item integer, app_id bigint, door text, order_id text)
    join orders as o on o.app_id = asked.app_id and o.book = 'live' and o.door = asked.door
      and o.order_id = asked.order_id;
end
$$;

-- Orders of the HMAC door by their transaction_ids, each asked for by the application that it must belong to.
create function find_orders(p_app_ids bigint[], p_transaction_ids text[])
  returns table (item integer, found orders) language plpgsql stable
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
begin
  return query
    select asked.item::integer, o
    from unnest(p_app_ids, p_transaction_ids) with ordinality as asked (app_id, transaction_id, item)
    join orders as o on o.transaction_id = asked.transaction_id
    where o.app_id = asked.app_id and o.door = 'hmac';
end
$$;

-- The tokens in force of these applications, of each the current one first.
create function live_tokens(p_app_ids bigint[], p_now timestamptz)
  returns table (app_id bigint, value_encrypted bytea, last_used_at timestamptz) language plpgsql stable
  set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    select key.app_id, key.value_encrypted, key.last_used_at
    from payment_app_keys as key
    where key.app_id = any (p_app_ids) and key.kind = 'token' and key.book = 'live'
      and (key.valid_to is null or key.valid_to > p_now)
    order by key.id desc;
end
$$;
