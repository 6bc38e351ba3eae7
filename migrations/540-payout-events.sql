-- Events about payouts: one has finished, or has halted. Both lists name the events of links, too, which have an order.
alter table notifications add column payout_id bigint references payouts;
alter table notifications drop constraint notifications_kind;
alter table notifications add constraint notifications_kind check (
  kind in (
    'gateway', 'order.paid', 'order.expired', 'order.refunded', 'transfer.completed',
    'charge.completed', 'charge.failed', 'mandate.created', 'mandate.changed', 'mandate.revoked',
    'link.sold', 'link.refunded', 'payout.finished', 'payout.halted'
  )
) not valid;
alter table notifications validate constraint notifications_kind;
alter table notifications drop constraint notifications_subject;
alter table notifications add constraint notifications_subject check (
  num_nonnulls(order_id, transfer_id, mandate_id, payout_id) = 1
  and case
    when kind = 'transfer.completed' then transfer_id is not null
    when kind in ('charge.failed', 'mandate.created', 'mandate.changed', 'mandate.revoked') then mandate_id is not null
    when kind in ('payout.finished', 'payout.halted') then payout_id is not null
    else order_id is not null
  end
) not valid;
alter table notifications validate constraint notifications_subject;
create index notifications_of_payout on notifications (payout_id) where payout_id is not null;
