-- How a merchant finds an order of some day among very many.

-- The first order of an application that was created at this moment or later, looked for as in a book: ids rise with
-- the time of creation, but for what the clocks of several processes differ. Null when the application has no orders;
-- beyond the last one when all are older.
create function first_order_since(p_app_id bigint, p_at timestamptz) returns bigint language plpgsql stable as $$
declare
  v_low bigint;
  v_high bigint;
  v_middle bigint;
  v_found record;
begin
  select id into v_low from orders where app_id = p_app_id order by id limit 1;
  select id + 1 into v_high from orders where app_id = p_app_id order by id desc limit 1;
  -- Whatever is below v_low is older; whatever is from v_high on is not.
  while v_low < v_high loop
    v_middle := v_low + (v_high - v_low) / 2;
    select id, created_at into strict v_found from orders
    where app_id = p_app_id and id >= v_middle order by id limit 1;
    if v_found.created_at < p_at then v_low := v_found.id + 1; else v_high := v_middle; end if;
  end loop;
  return v_low;
end
$$;
