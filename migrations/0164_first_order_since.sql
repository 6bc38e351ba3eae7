-- By ranges of pairs, which only the index of these pairs has in its order: asked for one application's orders by id,
-- Postgres walked those of all others in between, millions at each step for a shop that sells little on a busy site.

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
  -- Whatever is below v_low is older; whatever is from v_high on is not.
  while v_low < v_high loop
    v_middle := v_low + (v_high - v_low) / 2;
    select id, created_at into strict v_found from orders
    where (app_id, id) >= (p_app_id, v_middle) and (app_id, id) < (p_app_id, c_end) order by app_id, id limit 1;
    if v_found.created_at < p_at then v_low := v_found.id + 1; else v_high := v_middle; end if;
  end loop;
  return v_low;
end
$$;
