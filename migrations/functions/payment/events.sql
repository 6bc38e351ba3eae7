-- Writes into the outbox `notifications`.

-- The host of an http(s) address, in lower case, without user, port and final dots. Empty when there is none.
create or replace function url_host(p_url text) returns text language sql immutable parallel safe as $$
  select coalesce(
    rtrim(lower((regexp_match(p_url, '^[a-z]+://(?:[^/?#]*@)?(\[[^]/?#]*\]|[^:/?#]*)', 'i'))[1]), '.'), ''
  )
$$;

-- How long a shop in test mode waits for the notification of an order whose tester asked for a slow one.
create or replace function slow_notify() returns interval language sql immutable parallel safe as $$ select interval '20 seconds' $$;

-- The application, the host and the time of a new gateway notification are facts of its order, so no writer has to know them. A
-- row of an archive has them already.
create or replace function notification_route() returns trigger language plpgsql as $$
begin
  select o.app_id, url_host(o.notify_url),
    new.next_attempt_at + case when o.forced = 'notify_slow' then slow_notify() else interval '0' end
  into new.app_id, new.host, new.next_attempt_at
  from orders as o where o.id = new.order_id;
  return new;
end
$$;
create or replace trigger notifications_route before insert on notifications
  for each row when (new.kind = 'gateway' and new.host is null) execute function notification_route();

-- A version 4 UUID has 122 random bits. There is no dot in it, because a dot separates the parts of the signature.
create or replace function new_event_id() returns text language sql volatile as $$
  select 'evt_' || replace(gen_random_uuid()::text, '-', '')
$$;

-- Writes an event for each of these orders of the HMAC API, of a link or of a tip whose application has an address for events. It
-- reads the orders as they are now, so the act writes its events last. A link has events of its own, because shops settle order.* by
-- their own order_ids. Unpaid orders of links and tips have none.
create or replace function write_order_events(p_kind text, p_order_ids bigint[]) returns void language plpgsql as $$
begin
  insert into notifications (kind, order_id, app_id, host, event_id, occurred_at, facts, next_attempt_at)
  select
    case when o.door <> 'link' then p_kind when p_kind = 'order.paid' then 'link.sold' else 'link.refunded' end,
    o.id, app.id, url_host(app.events_url), new_event_id(), o.updated_at, to_jsonb(o),
    o.updated_at + case when o.forced = 'notify_slow' then slow_notify() else interval '0' end
  from unnest(p_order_ids) as changed (id)
  cross join lateral (
    select * from orders
    where id = changed.id and (door = 'hmac' or door in ('link', 'tip') and p_kind in ('order.paid', 'order.refunded')) offset 0
  ) as o
  cross join lateral (
    select id, events_url from payment_apps where id = o.app_id and events_url is not null offset 0
  ) as app;
end
$$;

-- The same for transfers.
create or replace function write_transfer_events(p_transaction_ids text[]) returns void language plpgsql as $$
begin
  insert into notifications (kind, transfer_id, app_id, host, event_id, occurred_at, facts, next_attempt_at)
  select 'transfer.completed', t.id, app.id, url_host(app.events_url), new_event_id(), t.paid_at, to_jsonb(t), t.paid_at
  from unnest(p_transaction_ids) as made (transaction_id)
  cross join lateral (select * from transfers where transaction_id = made.transaction_id offset 0) as t
  cross join lateral (
    select id, events_url from payment_apps where id = t.app_id and events_url is not null offset 0
  ) as app;
end
$$;

-- The same for charges, each with the end of its period.
create or replace function write_charge_events(p_transaction_ids text[]) returns void language plpgsql as $$
begin
  insert into notifications (kind, order_id, app_id, host, event_id, occurred_at, facts, next_attempt_at)
  select 'charge.completed', o.id, app.id, url_host(app.events_url), new_event_id(), o.paid_at,
    to_jsonb(o) || jsonb_build_object('resets_at', mandate_day_begins(
      next_mandate_period(m.starts_on, m.period, o.mandate_period), m.test_days
    )),
    o.paid_at
  from unnest(p_transaction_ids) as made (transaction_id)
  cross join lateral (select * from orders where transaction_id = made.transaction_id offset 0) as o
  cross join lateral (select starts_on, period, test_days from mandates where id = o.mandate_id offset 0) as m
  cross join lateral (
    select id, events_url from payment_apps where id = o.app_id and events_url is not null offset 0
  ) as app;
end
$$;

-- An event for each of these refused charges.
create or replace function write_refusal_events(p_refused refused_charge[]) returns void language plpgsql as $$
begin
  insert into notifications (kind, mandate_id, app_id, host, event_id, occurred_at, facts, next_attempt_at)
  select 'charge.failed', m.id, app.id, url_host(app.events_url), new_event_id(), refused.now,
    jsonb_build_object(
      'mandate_id', m.mandate_id, 'order_id', refused.order_id, 'amount', refused.amount,
      'period_from', refused.period, 'result', refused.result
    ),
    refused.now
  from unnest(p_refused) as refused
  cross join lateral (select id, mandate_id, app_id from mandates where id = refused.mandate_id offset 0) as m
  cross join lateral (
    select id, events_url from payment_apps where id = m.app_id and events_url is not null offset 0
  ) as app;
end
$$;

-- An event for a payout that has just ended by itself, or halted. It tells the payout as it is then. spec/payouts 4.4.
create or replace function write_payout_event(p_kind text, p_id bigint) returns void language plpgsql as $$
begin
  insert into notifications (kind, payout_id, app_id, host, event_id, occurred_at, facts, next_attempt_at)
  select p_kind, p_id, app.id, url_host(app.events_url), new_event_id(), payout.updated_at,
    to_jsonb(payout) - 'fingerprint' || to_jsonb(sums), payout.updated_at
  from (select * from payouts where id = p_id offset 0) as payout
  cross join lateral (
    select id, events_url from payment_apps where id = payout.app_id and events_url is not null offset 0
  ) as app
  cross join lateral payout_sums(p_id) as sums;
end
$$;

-- An event for an act on a mandate that a member has accepted. It tells the mandate as it is after the act.
create or replace function write_mandate_event(p_kind text, p_id bigint) returns void language plpgsql as $$
begin
  insert into notifications (kind, mandate_id, app_id, host, event_id, occurred_at, facts, next_attempt_at)
  select p_kind, p_id, app.id, url_host(app.events_url), new_event_id(), (changed.m).updated_at, to_jsonb(facts),
    (changed.m).updated_at
  from (select mandates as m from mandates where id = p_id and accepted_at is not null offset 0) as changed
  cross join lateral (
    select id, events_url from payment_apps where id = (changed.m).app_id and events_url is not null offset 0
  ) as app
  cross join lateral mandate_facts(changed.m, (changed.m).updated_at) as facts;
end
$$;
