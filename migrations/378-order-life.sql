-- How long the application's orders can be paid, because shops close theirs earlier than the site. Null: as long as the site sets.
alter table payment_apps add column order_minutes integer;
alter table payment_apps add constraint payment_apps_order_minutes check (order_minutes between 5 and 10080);
