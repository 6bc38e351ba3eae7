-- Holds the day's row from the first look at it. Setting an application's terms deletes the row: in between, a count would
-- have gone to nothing, and the next item of the same batch would have summed up anew, without those before it.
create or replace function count_for_day(
  p_act text, p_app_id bigint, p_book text, p_amount bigint, p_max bigint, p_now timestamptz
) returns bigint language plpgsql as $$
declare
  v_day constant date := p_now at time zone 'Asia/Shanghai';
  v_from constant timestamptz := v_day::timestamp at time zone 'Asia/Shanghai';
  v_to constant timestamptz := (v_day + 1)::timestamp at time zone 'Asia/Shanghai';
  v_used bigint;
begin
  select points into v_used from payment_app_days
  where app_id = p_app_id and book = p_book and act = p_act and day = v_day
  for update;
  if not found then
    if p_act = 'payments' then
      select coalesce(sum(amount), 0) into v_used from orders
      where app_id = p_app_id and book = p_book and paid_at >= v_from and paid_at < v_to;
    else
      select coalesce(sum(amount), 0) into v_used from transfers
      where app_id = p_app_id and book = p_book and paid_at >= v_from and paid_at < v_to;
    end if;
    insert into payment_app_days (app_id, book, act, day, points)
    values (p_app_id, p_book, p_act, v_day, v_used);
  end if;
  if v_used + p_amount > p_max then return v_used; end if;
  update payment_app_days set points = points + p_amount
  where app_id = p_app_id and book = p_book and act = p_act and day = v_day;
  return null;
end
$$;
