-- Payment links: placing and judging their orders, and what a paid one takes. spec/links 2.1–2.4.
--
-- The owner's wallet is the lock of the stock. Every payment to the application holds it, so the sales of a link have one order.
-- Every act that takes something off sale locks the application, then that wallet, then writes.

-- The units that a link has sold, in all and to one member. The last sale holds the sums.
create or replace function units_sold(p_link_id bigint) returns bigint language plpgsql as $$
begin
  return coalesce((
    select sold_total from link_orders where link_id = p_link_id and sold_total is not null
    order by sold_total desc limit 1
  ), 0);
end
$$;
create or replace function units_sold_to(p_link_id bigint, p_user_id bigint) returns bigint language plpgsql as $$
begin
  return coalesce((
    select member_total from link_orders
    where link_id = p_link_id and for_user_id = p_user_id and member_total is not null
    order by member_total desc limit 1
  ), 0);
end
$$;

-- The points paid at a link, in all or before a moment, without what was refunded later.
create or replace function points_taken(p_link_id bigint) returns numeric language plpgsql as $$
begin
  return coalesce((
    select taken_total from link_orders where link_id = p_link_id and sold_total is not null
    order by sold_total desc limit 1
  ), 0);
end
$$;
create or replace function points_taken_before(p_link_id bigint, p_moment timestamptz) returns numeric language plpgsql as $$
begin
  return coalesce((
    select taken_total from link_orders where link_id = p_link_id and sold_at < p_moment
    order by sold_at desc, sold_total desc limit 1
  ), 0);
end
$$;

-- Whether a link sells units to a member now. Null: it does. Otherwise not_on_sale · not_allowed · sold_out · member_limit. A null
-- p_user_id is a visitor, who may be anyone.
create or replace function judge_units(p_link_id bigint, p_user_id bigint, p_units integer) returns text language plpgsql as $$
declare
  v_link record;
begin
  select state, min_level, allow_groups, stock, member_max, delivery into strict v_link from links where id = p_link_id;
  if v_link.state <> 'on_sale' or exists (select from site_settings where name = 'links' and value = 'off') then
    return 'not_on_sale';
  end if;
  if p_user_id is not null and not exists (select from users where id = p_user_id and trust_level >= v_link.min_level)
    or p_user_id is not null and v_link.allow_groups <> '{}' and not exists (
      select from user_groups as member
      where member.user_id = p_user_id and lower(member.name) in (select lower(name) from unnest(v_link.allow_groups) as name)
    )
  then
    return 'not_allowed';
  end if;
  if v_link.stock is not null and units_sold(p_link_id) + p_units > v_link.stock
    or v_link.delivery = 'codes' and (
      select count(*) from (
        select from link_codes where link_id = p_link_id and order_id is null and withdrawn_at is null limit p_units
      ) as free
    ) < p_units
  then
    return 'sold_out';
  end if;
  if v_link.member_max is not null and units_sold_to(p_link_id, p_user_id) + p_units > v_link.member_max then
    return 'member_limit';
  end if;
  return null;
end
$$;

-- Judges the order of a link at its payment, as judge_units does. not_found: the order is another member's. The caller has locked
-- the owner's wallet.
create or replace function judge_link_order(p_order_id bigint, p_payer_id bigint) returns text language plpgsql as $$
declare
  v_sale record;
begin
  select link_id, for_user_id, units into strict v_sale from link_orders where order_id = p_order_id;
  if v_sale.for_user_id <> p_payer_id then return 'not_found'; end if;
  return judge_units(v_sale.link_id, p_payer_id, v_sale.units);
end
$$;

-- Takes the units of an order that is being paid: the codes, then the sums, then the notice of its receipt. The caller has locked the owner's wallet and judged
-- the order. The rotation of APP_SECRET may hold a code for a moment. Then this raises, as for a locked row, and the payment runs
-- again.
create or replace function take_units(p_order_id bigint, p_now timestamptz) returns void language plpgsql as $$
declare
  v_sale record;
  v_taken bigint;
begin
  select sale.link_id, sale.for_user_id, sale.units, link.stock, link.member_max, link.delivery, link.book into strict v_sale
  from link_orders as sale join links as link on link.id = sale.link_id where sale.order_id = p_order_id;
  if v_sale.delivery = 'codes' then
    update link_codes as code set order_id = p_order_id, unit = taken.unit, taken_at = p_now
    from (
      select id, row_number() over (order by id) as unit
      from (
        select id from link_codes where link_id = v_sale.link_id and order_id is null and withdrawn_at is null
        order by id limit v_sale.units for update skip locked
      ) as free
    ) as taken
    where code.id = taken.id;
    get diagnostics v_taken = row_count;
    if v_taken < v_sale.units then
      raise exception 'order % found % of % codes', p_order_id, v_taken, v_sale.units using errcode = 'lock_not_available';
    end if;
  end if;
  update link_orders
  set stock_max = v_sale.stock, member_max = v_sale.member_max,
      sold_total = units_sold(v_sale.link_id) + units,
      member_total = units_sold_to(v_sale.link_id, v_sale.for_user_id) + units,
      taken_total = points_taken(v_sale.link_id) + units * unit_amount, sold_at = p_now,
      delivery_id = case when v_sale.delivery in ('text', 'url') then (
        select max(id) from link_deliveries where link_id = v_sale.link_id
      ) end
  where order_id = p_order_id;
  -- Play points get no receipt by email.
  insert into receipt_notices (order_id)
  select p_order_id from users
  where id = v_sale.for_user_id and email_verified and mails_receipts and v_sale.book = 'live';
end
$$;

-- Places the order of a link for a member, with the message for its team, if the link takes one. It locks and reserves nothing, because
-- paying judges again. Outcomes:
--   placed · exists (the same form was sent before) · not_found · unusable (the application is not approved or takes tips, or its
--   owner is banned or suspended) · not_on_sale · not_yet · over · out_of_bounds · not_allowed · sold_out · member_limit · too_many_open
create or replace function place_link_order(
  p_slug text, p_user_id bigint, p_units integer, p_amount bigint, p_order_id text, p_transaction_id text,
  p_expires_at timestamptz, p_name text, p_message text, p_now timestamptz
) returns table (outcome text, placed_id text) language plpgsql as $$
#variable_conflict use_column
declare
  v_link record;
  v_placed_id text;
  v_refusal text;
  v_id bigint;
  v_says boolean;
begin
  select l.*, app.order_minutes, app.is_tips,
    app_status(app.status, owner.is_banned, owner.suspended_till, p_now) as app_status
  into v_link
  from links as l join payment_apps as app on app.id = l.app_id join users as owner on owner.id = app.applicant_id
  where l.slug = p_slug and l.state <> 'draft';
  if not found then return query select 'not_found', null::text; return; end if;
  select transaction_id into v_placed_id from orders
  where app_id = v_link.app_id and book = v_link.book and door = 'link' and order_id = p_order_id;
  if found then return query select 'exists', v_placed_id; return; end if;

  v_refusal := judge_units(v_link.id, p_user_id, p_units);
  v_refusal := case
    when v_link.app_status <> 'approved' or v_link.is_tips then 'unusable'
    when v_refusal = 'not_on_sale' then v_refusal
    when p_now < v_link.sells_from then 'not_yet'
    when p_now >= v_link.sells_until then 'over'
    when (
      p_units between 1 and v_link.quantity_max
      and (p_amount is null) = (v_link.amount_min is null)
      and (p_amount is null or p_amount between v_link.amount_min and v_link.amount_max)
    ) is not true then 'out_of_bounds'
    when v_refusal is not null then v_refusal
    -- Three unpaid orders of a member at a time.
    when (
      select count(*) from link_orders as sale join orders as o on o.id = sale.order_id
      where sale.for_user_id = p_user_id and sale.link_id = v_link.id and o.status = 'unpaid' and o.expires_at > p_now
    ) >= 3 then 'too_many_open'
  end;
  if v_refusal is not null then return query select v_refusal, null::text; return; end if;

  v_says := v_link.messages <> 'off' and p_message is not null;
  insert into orders (
    app_id, book, door, order_id, transaction_id, description, amount, expires_at, created_at, updated_at
  )
  values (
    v_link.app_id, v_link.book, 'link', p_order_id, p_transaction_id,
    v_link.title || case when p_units > 1 then ' × ' || p_units else '' end, coalesce(p_amount, v_link.amount) * p_units,
    least(p_expires_at, p_now + v_link.order_minutes * interval '1 minute', v_link.sells_until), p_now, p_now
  )
  on conflict on constraint orders_order_id_key do nothing
  returning id into v_id;
  -- The same form came at the same moment.
  if v_id is null then
    return query select 'exists', o.transaction_id from orders as o
      where app_id = v_link.app_id and book = v_link.book and door = 'link' and order_id = p_order_id;
    return;
  end if;
  insert into link_orders (order_id, link_id, for_user_id, units, unit_amount, name, message, message_state)
  values (
    v_id, v_link.id, p_user_id, p_units, coalesce(p_amount, v_link.amount),
    case when v_says then p_name end, case when v_says then p_message end, case when v_says then 'waiting' end
  );
  return query select 'placed', p_transaction_id;
end
$$;

-- Ends the links of these applications for good, and deletes the unsold codes and the pictures. The caller has locked the applications.
create or replace function close_links(p_app_ids bigint[], p_now timestamptz) returns void language plpgsql as $$
begin
  perform from ledger_accounts
  where kind = 'wallet' and user_id in (select applicant_id from payment_apps where id = any (p_app_ids))
  order by id for update;
  update links set state = 'ended', updated_at = p_now where app_id = any (p_app_ids) and state in ('on_sale', 'paused');
  delete from link_codes
  where link_id in (select id from links where app_id = any (p_app_ids)) and order_id is null;
  delete from link_pictures where link_id in (select id from links where app_id = any (p_app_ids));
end
$$;

-- Refuses sums while the sale has not exactly the codes of its units, or not the text or address of its link. The import of an
-- archive switches it off, because it adds the codes later.
create or replace function refuse_undelivered() returns trigger language plpgsql as $$
declare
  v_delivery constant text := (select delivery from links where id = new.link_id);
begin
  if (select count(*) from link_codes where order_id = new.order_id) <> (case when v_delivery = 'codes' then new.units else 0 end)
    or (new.delivery_id is not null) <> (v_delivery in ('text', 'url'))
  then
    raise exception 'order % is sold without its delivery', new.order_id
      using errcode = 'check_violation', constraint = 'link_orders_delivered';
  end if;
  return new;
end
$$;
create or replace trigger link_orders_delivered before insert or update on link_orders
  for each row when (new.sold_total is not null) execute function refuse_undelivered();

-- A placed order keeps what it sells, and a sale its sums.
create or replace function refuse_other_sale() returns trigger language plpgsql as $$
begin
  if (old.order_id, old.link_id, old.for_user_id, old.units, old.unit_amount)
      is distinct from (new.order_id, new.link_id, new.for_user_id, new.units, new.unit_amount)
    or old.sold_total is not null
      and (old.sold_total, old.member_total, old.taken_total, old.sold_at, old.stock_max, old.member_max, old.delivery_id)
        is distinct from
        (new.sold_total, new.member_total, new.taken_total, new.sold_at, new.stock_max, new.member_max, new.delivery_id)
  then
    raise exception 'the sale of order % does not change', old.order_id
      using errcode = 'check_violation', constraint = 'link_orders_unchanged';
  end if;
  return new;
end
$$;
create or replace trigger link_orders_unchanged before update on link_orders
  for each row execute function refuse_other_sale();

-- A taken code stays with its order, and is never deleted.
create or replace function refuse_loss_of_code() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (old.link_id, old.order_id, old.unit, old.taken_at) is not distinct from
    (new.link_id, new.order_id, new.unit, new.taken_at)
  then
    return new;
  end if;
  raise exception 'code % is sold', old.id using errcode = 'check_violation', constraint = 'link_codes_stay';
end
$$;
create or replace trigger link_codes_stay before update or delete on link_codes
  for each row when (old.order_id is not null) execute function refuse_loss_of_code();

-- From the first sale on a link keeps the kind of its delivery. It always keeps its address and its application.
create or replace function refuse_other_link() returns trigger language plpgsql as $$
begin
  if (old.slug, old.app_id, old.book) is distinct from (new.slug, new.app_id, new.book)
    or old.delivery <> new.delivery and exists (select from link_orders where link_id = old.id and sold_total is not null)
    or old.state = 'ended' and new.state <> 'ended'
  then
    raise exception 'link % keeps its address, its end, and the delivery that it has sold', old.slug
      using errcode = 'check_violation', constraint = 'links_unchanged';
  end if;
  return new;
end
$$;
create or replace trigger links_unchanged before update on links
  for each row execute function refuse_other_link();

-- A version of a delivery keeps its kind. Only its ciphertext changes, with APP_SECRET.
create or replace function refuse_other_delivery() returns trigger language plpgsql as $$
begin
  if (old.link_id, old.kind) is distinct from (new.link_id, new.kind) then
    raise exception 'delivery % does not change', old.id
      using errcode = 'check_violation', constraint = 'link_deliveries_unchanged';
  end if;
  return new;
end
$$;
create or replace trigger link_deliveries_unchanged before update on link_deliveries
  for each row execute function refuse_other_delivery();
