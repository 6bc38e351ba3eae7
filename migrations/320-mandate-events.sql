-- Events about mandates and their charges. The event of a charge has an order. The event of a refused charge has a mandate,
-- because a refused charge leaves no order.
alter table notifications add column mandate_id bigint references mandates;
alter table notifications drop constraint notifications_kind;
alter table notifications add constraint notifications_kind check (
  kind in (
    'gateway', 'order.paid', 'order.expired', 'order.refunded', 'transfer.completed',
    'charge.completed', 'charge.failed', 'mandate.created', 'mandate.changed', 'mandate.revoked'
  )
) not valid;
alter table notifications validate constraint notifications_kind;
alter table notifications drop constraint notifications_subject;
alter table notifications add constraint notifications_subject check (
  num_nonnulls(order_id, transfer_id, mandate_id) = 1
  and case
    when kind = 'transfer.completed' then transfer_id is not null
    when kind in ('charge.failed', 'mandate.created', 'mandate.changed', 'mandate.revoked') then mandate_id is not null
    else order_id is not null
  end
) not valid;
alter table notifications validate constraint notifications_subject;
create index notifications_of_mandate on notifications (mandate_id) where mandate_id is not null;
