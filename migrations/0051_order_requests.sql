-- The request that created an order, as its merchant may read it again: without secrets and signatures, and bounded.

create table order_requests (
  order_id bigint not null,
  -- method, path, ip, parameters (pairs of name and value, null for what is hidden), left_out
  request jsonb not null,
  received_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint order_requests_pkey primary key (order_id),
  constraint order_requests_order foreign key (order_id) references orders,
  constraint order_requests_size check (octet_length(request::text) <= 65536)
);
create trigger order_requests_append_only before update or delete or truncate on order_requests
  for each statement execute function refuse_change();

-- Places orders as place_orders does, and keeps of each new one the request that it came by, if there is one.
create function receive_orders(p_orders jsonb) returns table (item integer, placed orders) language plpgsql
  set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    with known as materialized (select * from place_orders(p_orders)),
    kept as (
      insert into order_requests (order_id, request, received_at)
      select (known.placed).id, asked.received, asked.now
      from known
      join jsonb_to_recordset(p_orders) as asked (item integer, transaction_id text, now timestamptz, received jsonb)
        on asked.item = known.item
      -- One that was placed before has another transaction_id than this request was given.
      where asked.transaction_id = (known.placed).transaction_id and asked.received is not null
    )
    select known.item, known.placed from known;
end
$$;
