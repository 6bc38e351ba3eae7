-- Events of the HMAC API, for applications that ask for them: what became of its orders and transfers, written in the
-- transaction that makes it so, whichever verb that is, into the outbox of the gateway's notifications.

alter table payment_apps
  -- Where events are sent; null, as from the beginning, means that none is even written.
  add column events_url text;

alter table payment_app_keys
  drop constraint payment_app_keys_kind,
  add constraint payment_app_keys_kind check (
    kind in ('token', 'merchant_key', 'platform_private_key', 'merchant_public_key', 'event_secret')
  );

alter table notifications
  alter column order_id drop not null,
  add column transfer_id bigint references transfers,
  -- Of events: what stays the same however often one is told, and the row that it tells of as it was then.
  add column event_id text,
  add column occurred_at timestamptz,
  add column facts jsonb,
  drop constraint notifications_kind,
  add constraint notifications_kind check (
    kind in ('gateway', 'order.paid', 'order.expired', 'order.refunded', 'transfer.completed')
  ),
  add constraint notifications_subject check (
    case when kind = 'transfer.completed' then num_nulls(order_id, transfer_id) = 1 and transfer_id is not null
      else order_id is not null and transfer_id is null end
  ),
  add constraint notifications_event check (
    num_nonnulls(event_id, occurred_at, facts) = case when kind = 'gateway' then 0 else 3 end
  ),
  drop constraint notifications_order_id_key,
  -- An order of the gateway is told of once. An event of one kind may come twice: an order expires again, or is
  -- refunded in parts.
  add constraint notifications_order_id_key unique nulls not distinct (order_id, kind, event_id, transfer_id);
create index notifications_of_transfer on notifications (transfer_id) where transfer_id is not null;

drop trigger notifications_route on notifications;
create trigger notifications_route before insert on notifications
  for each row when (new.kind = 'gateway') execute function notification_route();

-- Random as the ids that the service makes itself: a version 4 UUID has 122 random bits. No dot, which the signature
-- separates its parts with.
create function new_event_id() returns text language sql volatile as $$
  select 'evt_' || replace(gen_random_uuid()::text, '-', '')
$$;

create function write_order_event() returns trigger language plpgsql as $$
begin
  insert into notifications (kind, order_id, app_id, host, event_id, occurred_at, facts, next_attempt_at)
  select
    case when new.refunded_amount > old.refunded_amount then 'order.refunded' else 'order.' || new.status end,
    new.id, app.id, url_host(app.events_url), new_event_id(), new.updated_at, to_jsonb(new), new.updated_at
  from payment_apps as app where app.id = new.app_id and app.events_url is not null;
  return null;
end
$$;
create trigger orders_event after update of status, refunded_amount on orders
  for each row when (
    new.door = 'hmac' and (
      new.refunded_amount > old.refunded_amount
      or (new.status <> old.status and new.status in ('paid', 'expired'))
    )
  ) execute function write_order_event();

create function write_transfer_event() returns trigger language plpgsql as $$
begin
  insert into notifications (kind, transfer_id, app_id, host, event_id, occurred_at, facts, next_attempt_at)
  select
    'transfer.completed', new.id, app.id, url_host(app.events_url), new_event_id(), new.paid_at, to_jsonb(new),
    new.paid_at
  from payment_apps as app where app.id = new.app_id and app.events_url is not null;
  return null;
end
$$;
create trigger transfers_event after insert on transfers
  for each row execute function write_transfer_event();
