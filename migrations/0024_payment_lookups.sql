-- What the payment area asks for again and again, for many requests in one statement, and plans that stay right.

-- A connection keeps the plans of its functions. One made while a table is small reads all of it, and would go on so
-- while the table grows, until statistics are gathered again. What moves points goes by indexes from the first day.
alter function pay_orders set enable_seqscan = off;
alter function pay_orders set enable_hashjoin = off;
alter function pay_orders set enable_mergejoin = off;
alter function post_transfers set enable_seqscan = off;
alter function post_transfers set enable_hashjoin = off;
alter function post_transfers set enable_mergejoin = off;
alter function adjust_points set enable_seqscan = off;
alter function adjust_points set enable_hashjoin = off;
alter function adjust_points set enable_mergejoin = off;
alter function refund_order set enable_seqscan = off;
alter function refund_order set enable_hashjoin = off;
alter function refund_order set enable_mergejoin = off;
alter function reverse_transfer set enable_seqscan = off;
alter function reverse_transfer set enable_hashjoin = off;
alter function reverse_transfer set enable_mergejoin = off;

create index payment_app_keys_of_app on payment_app_keys (app_id, kind, id);

-- Applications by their Payment IDs, with the tokens that requests may be signed with, the current one first.
create function payment_apps_with_tokens(p_payment_ids text[], p_now timestamptz) returns table (
  payment_id text, id bigint, status text, allowed_addresses text[],
  key_id bigint, value_encrypted bytea, last_used_at timestamptz
) language plpgsql stable as $$
begin
  return query
    select app.payment_id, app.id, app.status, app.allowed_addresses::text[],
      key.id, key.value_encrypted, key.last_used_at
    from payment_apps as app
    join payment_app_keys as key on key.app_id = app.id
    where app.payment_id = any (p_payment_ids) and key.kind = 'token' and key.book = 'live'
      and (key.valid_to is null or key.valid_to > p_now)
    order by key.id desc;
end
$$;
