-- The lists of applications that administrators open: decided ones, and those with the right to mandates. Each has its order.
create index payment_apps_decided on payment_apps (status desc, id desc)
  where status in ('approved', 'suspended') and book = 'live' and not (status = 'pending' or status = 'approved' and unreviewed_change_at is not null);
create index payment_apps_mandate_right on payment_apps ((mandate_right <> 'asked'), mandate_right_at desc)
  where mandate_right <> 'none';
