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

-- Writes an event for each of these orders of the HMAC API whose application has an address for events. It reads the orders as
-- they are now, so the act writes its events last.
create or replace function write_order_events(p_kind text, p_order_ids bigint[]) returns void language plpgsql as $$
begin
  insert into notifications (kind, order_id, app_id, host, event_id, occurred_at, facts, next_attempt_at)
  select p_kind, o.id, app.id, url_host(app.events_url), new_event_id(), o.updated_at, to_jsonb(o),
    o.updated_at + case when o.forced = 'notify_slow' then slow_notify() else interval '0' end
  from unnest(p_order_ids) as changed (id)
  cross join lateral (select * from orders where id = changed.id and door = 'hmac' offset 0) as o
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
