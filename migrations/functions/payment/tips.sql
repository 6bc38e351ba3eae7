-- Tips: placing their orders, judging them at the payment, and counting what was given. spec/tips 2.2 and 2.3.

-- The defaults of the settings of tips, which src/core/setting-values.ts has too: paying a tip reads the settings here.
create or replace function tip_standard(p_name text) returns text language sql immutable
return case p_name
  when 'tips' then 'off'
  when 'tip_min_age_days' then '7'
  when 'tip_receive_min_trust_level' then '1'
  when 'tip_received_day_max' then '5000'
  when 'tip_pair_week_max' then '5'
  when 'tip_max_tl0' then '0' when 'tip_max_tl1' then '50' when 'tip_max_tl2' then '200'
  when 'tip_max_tl3' then '500' when 'tip_max_tl4' then '1000'
  when 'tip_day_max_tl0' then '0' when 'tip_day_max_tl1' then '100' when 'tip_day_max_tl2' then '500'
  when 'tip_day_max_tl3' then '2000' when 'tip_day_max_tl4' then '5000'
end;

-- A setting of tips as stored, or its default.
create or replace function tip_setting(p_name text) returns text language sql stable
return coalesce((select value from site_settings where name = p_name), tip_standard(p_name));

-- What one member may give to another now. cannot_receive: the author may receive nothing, from this giver or at all. The other
-- columns are the limits of the giver and what counts towards them. A payment holds both wallets, and so both counts.
create or replace function tip_room(p_from_id bigint, p_to_id bigint, p_now timestamptz) returns table (
  cannot_receive boolean, receivable bigint, is_too_new boolean, one_max bigint, day_max bigint, given bigint, pair_max bigint,
  pair_tips bigint
) language plpgsql as $$
#variable_conflict use_column
declare
  v_day constant date := (p_now at time zone 'Asia/Shanghai')::date;
begin
  return query
    select
      (
        author.id is not null and author.id <> giver.id and author.has_signed_in and author.accepts_tips
        and author.anonymised_at is null
        and not is_banned_or_suspended(author.is_banned, author.suspended_till, p_now)
        and author.trust_level >= tip_setting('tip_receive_min_trust_level')::integer
        and wallet.frozen_at is null
      ) is not true,
      tip_setting('tip_received_day_max')::bigint - coalesce(of_author.received_points, 0),
      giver.created_at > p_now - tip_setting('tip_min_age_days')::integer * interval '1 day',
      tip_setting('tip_max_tl' || giver.trust_level)::bigint,
      tip_setting('tip_day_max_tl' || giver.trust_level)::bigint,
      coalesce(of_giver.given_points, 0),
      tip_setting('tip_pair_week_max')::bigint,
      (
        select coalesce(sum(tips), 0)::bigint from tip_pairs
        where low_id = least(p_from_id, p_to_id) and high_id = greatest(p_from_id, p_to_id) and day > v_day - 7
      )
    from (select * from users where id = p_from_id offset 0) as giver
    left join lateral (select * from users where id = p_to_id offset 0) as author on true
    left join lateral (
      select frozen_at from ledger_accounts where user_id = p_to_id and book = 'live' and kind = 'wallet' offset 0
    ) as wallet on true
    left join lateral (
      select received_points from tip_days where user_id = p_to_id and day = v_day offset 0
    ) as of_author on true
    left join lateral (
      select given_points from tip_days where user_id = p_from_id and day = v_day offset 0
    ) as of_giver on true;
end
$$;

-- Judges a tip. Null: it may be paid. Otherwise unusable (tips are off) · tip_refused (of the author) · tip_limit (of the giver, or
-- of both).
create or replace function judge_tip(p_from_id bigint, p_to_id bigint, p_amount bigint, p_now timestamptz) returns text
  language plpgsql as $$
declare
  v_room record;
begin
  if tip_setting('tips') <> 'on' then return 'unusable'; end if;
  select * into v_room from tip_room(p_from_id, p_to_id, p_now);
  return case
    when not found or v_room.cannot_receive or p_amount > v_room.receivable then 'tip_refused'
    when v_room.is_too_new or p_amount > v_room.one_max or v_room.given + p_amount > v_room.day_max
      or v_room.pair_tips >= v_room.pair_max then 'tip_limit'
  end;
end
$$;

-- Counts a tip that is being paid, and alerts its author. The caller has locked both wallets and judged the tip. The alert has no
-- name: who reads it finds the payer of the order.
create or replace function count_tip(
  p_app_id bigint, p_transaction_id text, p_from_id bigint, p_to_id bigint, p_amount bigint, p_now timestamptz
) returns void language plpgsql as $$
declare
  v_day constant date := (p_now at time zone 'Asia/Shanghai')::date;
begin
  insert into tip_days (user_id, day, given_points, received_points)
  select user_id, v_day, given, received
  from (values (p_from_id, p_amount, 0), (p_to_id, 0, p_amount)) as side (user_id, given, received)
  order by user_id
  on conflict (user_id, day) do update
  set given_points = tip_days.given_points + excluded.given_points,
      received_points = tip_days.received_points + excluded.received_points;
  insert into tip_pairs (low_id, high_id, day, tips)
  values (least(p_from_id, p_to_id), greatest(p_from_id, p_to_id), v_day, 1)
  on conflict (low_id, high_id, day) do update set tips = tip_pairs.tips + 1;
  insert into alerts (user_id, app_id, kind, cause, facts, raised_at)
  values (
    p_to_id, p_app_id, 'tipped', p_transaction_id,
    jsonb_build_object('points', p_amount::text, 'tip', p_transaction_id), p_now
  );
end
$$;

-- Places the order of a tip. It locks and reserves nothing, because paying judges again. Outcomes:
--   placed · unusable (tips are off, or their application is missing, not approved, or its owner is banned or suspended)
--   · tip_refused · tip_limit
create or replace function place_tip(
  p_from_id bigint, p_to_id bigint, p_amount bigint, p_post_path text, p_order_id text, p_transaction_id text,
  p_expires_at timestamptz, p_now timestamptz
) returns table (outcome text) language plpgsql as $$
#variable_conflict use_column
declare
  v_app record;
  v_refusal text;
  v_id bigint;
begin
  select app.id, app.book, app.order_minutes, app_status(app.status, owner.is_banned, owner.suspended_till, p_now) as status
  into v_app
  from payment_apps as app join users as owner on owner.id = app.applicant_id where app.is_tips;
  v_refusal := case
    when v_app.id is null or v_app.status <> 'approved' then 'unusable'
    else judge_tip(p_from_id, p_to_id, p_amount, p_now)
  end;
  if v_refusal is not null then return query select v_refusal; return; end if;
  insert into orders (
    app_id, book, door, order_id, transaction_id, description, amount, expires_at, created_at, updated_at
  )
  values (
    v_app.id, v_app.book, 'tip', p_order_id, p_transaction_id, 'Tip', p_amount,
    least(p_expires_at, p_now + v_app.order_minutes * interval '1 minute'), p_now, p_now
  )
  returning id into v_id;
  insert into tips (order_id, from_user_id, to_user_id, post_path) values (v_id, p_from_id, p_to_id, p_post_path);
  return query select 'placed';
end
$$;

-- What events say of the tip that an order is.
create or replace function tip_facts(p_order_id bigint) returns jsonb language sql stable
return (
  select jsonb_build_object('to_user_id', author.id, 'to_username', author.username, 'post', tip.post_path)
  from tips as tip join users as author on author.id = tip.to_user_id where tip.order_id = p_order_id
);

-- A new tip belongs to an unpaid live order of the application of tips. The import of an archive switches this off, because its orders
-- are paid already.
create or replace function refuse_other_order_of_tip() returns trigger language plpgsql as $$
begin
  if not exists (
    select from orders as o join payment_apps as app on app.id = o.app_id
    where o.id = new.order_id and o.door = 'tip' and o.book = 'live' and o.status = 'unpaid' and app.is_tips
  ) then
    raise exception 'a tip belongs to an unpaid order of the application of tips'
      using errcode = 'check_violation', constraint = 'tips_of_unpaid_order';
  end if;
  return new;
end
$$;
create or replace trigger tips_of_unpaid_order before insert on tips
  for each row execute function refuse_other_order_of_tip();

-- An application becomes that of tips before its first order, while it is approved. It stays that once a tip was ordered.
create or replace function refuse_tips_app() returns trigger language plpgsql as $$
begin
  if new.is_tips and new.status <> 'approved'
    or exists (select from orders where (app_id, id) > (new.id, 0) and (app_id, id) < (new.id, 9223372036854775807) limit 1)
  then
    raise exception 'application % has orders, or is not approved', new.payment_id
      using errcode = 'check_violation', constraint = 'payment_apps_tips_first';
  end if;
  return new;
end
$$;
create or replace trigger payment_apps_tips_first before update of is_tips on payment_apps
  for each row when (old.is_tips <> new.is_tips) execute function refuse_tips_app();
