-- How Postgres plans the functions of the frequent acts. `create or replace function` drops a function's settings, so this file is
-- applied again after any other file of functions.
--
-- plan_cache_mode: for a few elements of an array Postgres makes a new plan at every call, which costs more than it saves. A
-- generic plan is made once for each connection.
-- enable_seqscan, enable_hashjoin, enable_mergejoin: a plan that is made while a table is small reads the whole table, and a
-- connection would keep it while the table grows. These functions use indexes from the first day. For the same reason their
-- statements put each look-up behind `offset 0`, which keeps Postgres from joining it in another way.
do $$
declare
  c_one_plan constant text[] := array[
    'clients_with_secrets',
    'settle_notifications', 'claim_notifications', 'notified_orders', 'settle_logouts', 'claim_logouts'
  ];
  c_by_index constant text[] := array[
    'use_sessions', 'open_wallets', 'shop_returns', 'pay_orders', 'post_transfers', 'refund_order', 'reverse_transfer', 'judge_points', 'post_points', 'refuse_unbalanced',
    'judge_transfers', 'start_payouts', 'post_payout_lines', 'run_payout', 'cancel_payouts',
    'receive_orders', 'place_link_order', 'place_tip', 'find_orders', 'find_trades', 'expire_orders', 'write_order_events',
    'write_transfer_events', 'write_charge_events', 'write_refusal_events', 'write_mandate_event', 'write_payout_event', 'points_of_day', 'transferred_between', 'charge_mandates', 'mandate_facts', 'payment_apps_with_tokens', 'gateway_apps', 'access_key_callers',
    'exchange_codes', 'rotate_refresh_tokens', 'live_access_tokens', 'end_sessions', 'tell_of_member'
  ];
  v_name text;
begin
  foreach v_name in array c_one_plan || c_by_index loop
    execute format('alter function %I reset all', v_name);
    execute format('alter function %I set plan_cache_mode = force_generic_plan', v_name);
  end loop;
  foreach v_name in array c_by_index loop
    execute format('alter function %I set enable_seqscan = off', v_name);
    execute format('alter function %I set enable_hashjoin = off', v_name);
    execute format('alter function %I set enable_mergejoin = off', v_name);
  end loop;
  -- Settled rows come from one look at the primary key. Joined row by row, another index with the id would seem as good.
  foreach v_name in array array['settle_notifications', 'settle_logouts'] loop
    execute format('alter function %I set enable_seqscan = off', v_name);
    execute format('alter function %I set enable_bitmapscan = off', v_name);
    execute format('alter function %I set enable_nestloop = off', v_name);
  end loop;
  -- Due rows change faster than the statistics of their table. The lanes of a claim come from an index in its order.
  alter function claim_notifications set enable_seqscan = off;
  alter function claim_notifications set enable_bitmapscan = off;
  alter function notified_orders set enable_seqscan = off;
  alter function claim_logouts set enable_seqscan = off;
  alter function claim_logouts set enable_bitmapscan = off;
  -- Its transfers come from the index in their order. Another index that begins with the application would read all of them.
  alter function transferred_between set enable_bitmapscan = off;
  alter function transferred_between set enable_sort = off;
  alter function transferred_between set enable_incremental_sort = off;
  -- They read the first row that fits in the order of an index, as a step of halving does. Sorting a small table instead reads all
  -- rows of the owner, and a connection keeps that plan while the table grows.
  foreach v_name in array array['first_order_since', 'first_transfer_since', 'first_entry_since', 'has_refundable_order'] loop
    execute format('alter function %I set enable_seqscan = off', v_name);
    execute format('alter function %I set enable_bitmapscan = off', v_name);
    execute format('alter function %I set enable_sort = off', v_name);
    execute format('alter function %I set enable_incremental_sort = off', v_name);
  end loop;
end
$$;
