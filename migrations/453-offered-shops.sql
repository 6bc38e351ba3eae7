-- A shop without a homepage of its own has that of the linked sign-in application.
drop index payment_apps_offered;
create index payment_apps_offered on payment_apps (reviewed_at) where book = 'live' and status = 'approved';
