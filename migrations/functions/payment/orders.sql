-- Placing and finding orders, for many requests at once.

-- Whether an order begins again when its shop asks for it: only one that can no longer be paid, for the same amount, or of the
-- gateway for the same money.
create or replace function begins_again(
  p_status text, p_expires_at timestamptz, p_amount bigint, p_money text, p_asked_amount bigint, p_asked_money text,
  p_now timestamptz
) returns boolean language sql immutable parallel safe
return p_status in ('unpaid', 'expired') and p_expires_at <= p_now
  and coalesce(p_money::numeric = p_asked_money::numeric, p_amount = p_asked_amount);

-- Inserts the orders that their applications do not have yet, and answers how many. An order of the gateway without a notify_url
-- gets the application's. The application may set an earlier end than the site. The application of tips gets none.
create or replace function insert_orders(p_asked asked_order[]) returns bigint language plpgsql as $$
declare
  v_new bigint;
begin
  insert into orders (
    app_id, book, door, order_id, transaction_id, description, amount, expires_at, created_at, updated_at,
    trade_no, protocol, pid_sent, money, rate, type, param, notify_url, return_url, token_id
  )
  select asked.app_id, app.book, asked.door, asked.order_id, asked.transaction_id, asked.description, asked.amount,
    least(asked.expires_at, asked.now + app.order_minutes * interval '1 minute'), asked.now, asked.now,
    asked.trade_no, asked.protocol, asked.pid_sent, asked.money, asked.rate, asked.type, asked.param,
    case when asked.door = 'gateway' then coalesce(asked.notify_url, app.notify_url) end, asked.return_url, asked.token_id
  from unnest(p_asked) with ordinality as asked
  cross join lateral (
    select book, notify_url, order_minutes from payment_apps where id = asked.app_id and not is_tips offset 0
  ) as app
  -- In the order of keys, so that two batches never wait for each other's new rows in a circle.
  order by asked.app_id, asked.door, asked.order_id, asked.ordinality
  on conflict on constraint orders_order_id_key do nothing;
  get diagnostics v_new = row_count;
  return v_new;
end
$$;

-- The expired orders that are asked for again with the same amount, each with the window of the first such request.
create or replace function orders_to_begin_again(p_asked asked_order[])
  returns table (id bigint, expires_at timestamptz, now timestamptz) language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
    select distinct on (o.id) o.id, least(asked.expires_at, asked.now + app.order_minutes * interval '1 minute'), asked.now
    from unnest(p_asked) with ordinality as asked
    cross join lateral (select book, order_minutes from payment_apps where id = asked.app_id offset 0) as app
    cross join lateral (
      select id, status, expires_at, amount, money from orders
      where app_id = asked.app_id and book = app.book and door = asked.door and order_id = asked.order_id
      offset 0
    ) as o
    where begins_again(o.status, o.expires_at, o.amount, o.money, asked.amount, asked.money, asked.now)
    order by o.id, asked.ordinality;
end
$$;

-- Opens these orders for their windows. With p_skips it waits for no locked order, and answers with those that it has left out.
create or replace function begin_again(p_asked asked_order[], p_skips boolean) returns bigint[] language plpgsql as $$
declare
  v_again bigint[];
  v_locked_ids bigint[];
begin
  select array_agg(again.id) into v_again from orders_to_begin_again(p_asked) as again;
  if v_again is null then return null; end if;
  -- Locked by id, as payments lock them.
  if p_skips then
    select array_agg(free.id) into v_locked_ids
    from (select id from orders where id = any (v_again) order by id for no key update skip locked) as free;
  else
    select array_agg(waited.id) into v_locked_ids
    from (select id from orders where id = any (v_again) order by id for no key update) as waited;
  end if;
  -- Asked once more under the lock: an order may have been paid, or begun again, meanwhile.
  update orders as existing
  set status = 'unpaid', expires_at = again.expires_at, updated_at = again.now
  from orders_to_begin_again(p_asked) as again
  where existing.id = again.id and existing.id = any (v_locked_ids);
  return array(select id from unnest(v_again) as id where not coalesce(id = any (v_locked_ids), false));
end
$$;

-- Places orders: each new, or the one that has its door's order_id already, and answers in the order given. An existing order stays
-- as it is. Only if it has expired, and the request asks for the same amount (of the gateway: the same money), its time begins
-- again. Of two equal requests in one batch, the first is placed and both are answered with it. The request of each new order is
-- kept, if there is one. With p_skips it waits for no order that begins again and that another transaction has locked: `locked`
-- names the row, and nothing was done for the item. Only for p_waits_for it waits, first of all. An item of the application of tips is
-- answered with null.
create or replace function receive_orders(p_asked asked_order[], p_skips boolean default false, p_waits_for text default null)
  returns table (item integer, placed orders, locked text) language plpgsql as $$
declare
  v_left_out_ids bigint[];
begin
  if p_waits_for is not null then perform await_row(p_waits_for); end if;
  if insert_orders(p_asked) < cardinality(p_asked) then v_left_out_ids := begin_again(p_asked, p_skips); end if;

  return query
    with known as materialized (
      select asked.ordinality::integer as item, o.facts, asked.transaction_id, asked.received, asked.now
      from unnest(p_asked) with ordinality as asked
      cross join lateral (select book from payment_apps where id = asked.app_id offset 0) as app
      left join lateral (
        select orders as facts from orders
        where app_id = asked.app_id and book = app.book and door = asked.door and order_id = asked.order_id
        offset 0
      ) as o on true
    ),
    kept as (
      insert into order_requests (order_id, request, received_at)
      select (known.facts).id, known.received, known.now
      from known
      -- An order that was placed before has another transaction_id than the one made for this request.
      where known.transaction_id = (known.facts).transaction_id and known.received is not null
    )
    select known.item, known.facts, case when (known.facts).id = any (v_left_out_ids) then 'order ' || (known.facts).id end
    from known;
end
$$;

-- Expires unpaid orders whose time is over, the oldest first and p_max at most, and answers how many. It skips an order that
-- another transaction has locked, such as a payment. The clock refuses an expired order anyway, whatever its status says.
create or replace function expire_orders(p_now timestamptz, p_max integer) returns integer language plpgsql as $$
declare
  v_ids bigint[];
begin
  with expired as (
    update orders set status = 'expired', updated_at = p_now
    where id in (
      select id from orders where status = 'unpaid' and expires_at <= p_now
      order by expires_at limit p_max for no key update skip locked
    )
    returning id
  )
  select array_agg(id) into v_ids from expired;
  if v_ids is null then return 0; end if;
  perform write_order_events('order.expired', v_ids);
  return cardinality(v_ids);
end
$$;

-- Orders of the HMAC API by their transaction_ids, each for the application that it must belong to.
create or replace function find_orders(p_app_ids bigint[], p_transaction_ids text[])
  returns table (item integer, found orders) language plpgsql stable as $$
begin
  return query
    select asked.item::integer, o.facts
    from unnest(p_app_ids, p_transaction_ids) with ordinality as asked (app_id, transaction_id, item)
    cross join lateral (
      select orders as facts from orders where transaction_id = asked.transaction_id offset 0
    ) as o
    -- Not inside, where an index of the application's orders would seem as good while the table is small.
    where (o.facts).app_id = asked.app_id and (o.facts).door = 'hmac';
end
$$;

-- Trades of the gateway, many at once, each for the application that it must belong to: by trade_no if that is given, otherwise by
-- out_trade_no.
create or replace function find_trades(p_app_ids bigint[], p_books text[], p_trade_nos text[], p_out_trade_nos text[])
  returns table (
    item integer, id bigint, trade_no text, order_id text, transaction_id text, type text, pid_sent text,
    created_at timestamptz, paid_at timestamptz, description text, money text, rate numeric, status text, param text,
    refunded_amount bigint, buyer text
  ) language plpgsql stable as $$
begin
  return query
    select asked.item::integer, o.id, o.trade_no, o.order_id, o.transaction_id, o.type, o.pid_sent,
      o.created_at, o.paid_at, o.description, o.money, o.rate, o.status, o.param,
      o.refunded_amount, (select payer.username from users as payer where payer.id = o.payer_id)
    from unnest(p_app_ids, p_books, p_trade_nos, p_out_trade_nos) with ordinality
      as asked (app_id, book, trade_no, out_trade_no, item)
    cross join lateral (
      select named.* from orders as named where named.trade_no = asked.trade_no
      union all
      select named.* from orders as named
      where asked.trade_no is null and named.order_id = asked.out_trade_no
        and named.app_id = asked.app_id and named.book = asked.book and named.door = 'gateway'
      offset 0
    ) as o
    where o.app_id = asked.app_id and o.book = asked.book and o.door = 'gateway';
end
$$;

-- The first order of an application that was created at p_at or later, by binary search: ids rise with the time of creation,
-- except for the differences between the clocks of several processes. Null when the application has no orders. Beyond the last
-- one when all are older. It asks for ranges of pairs, which only the index of these pairs has in its order. Asked for one
-- application's orders by id alone, Postgres walks those of all applications in between.
create or replace function first_order_since(p_app_id bigint, p_at timestamptz) returns bigint language plpgsql stable as $$
declare
  c_end constant bigint := 9223372036854775807;
  v_low bigint;
  v_high bigint;
  v_middle bigint;
  v_found record;
begin
  select id into v_low from orders
  where (app_id, id) > (p_app_id, 0) and (app_id, id) < (p_app_id, c_end) order by app_id, id limit 1;
  select id + 1 into v_high from orders
  where (app_id, id) > (p_app_id, 0) and (app_id, id) < (p_app_id, c_end) order by app_id desc, id desc limit 1;
  -- Every order below v_low is older than p_at. No order from v_high on is.
  while v_low < v_high loop
    v_middle := v_low + (v_high - v_low) / 2;
    select id, created_at into strict v_found from orders
    where (app_id, id) >= (p_app_id, v_middle) and (app_id, id) < (p_app_id, c_end) order by app_id, id limit 1;
    if v_found.created_at < p_at then v_low := v_found.id + 1; else v_high := v_middle; end if;
  end loop;
  return v_low;
end
$$;
