-- Where an application is notified of paid orders of the gateway that name no notify_url. Null: nobody is notified of them.
alter table payment_apps add column notify_url text;
alter table payment_apps add constraint payment_apps_notify_url
  check (notify_url ~ '^https?://' and char_length(notify_url) <= 1000);

-- An order of the gateway may have no notify_url, one of the HMAC API has none.
alter table orders drop constraint orders_gateway_facts;
alter table orders add constraint orders_gateway_facts check (
  (door = 'gateway') = (trade_no is not null) and (door = 'gateway') = (money is not null)
  and (door = 'gateway') = (rate is not null) and (door = 'gateway' or notify_url is null)
  and (door = 'gateway') = (protocol is not null) and (door = 'gateway') = (pid_sent is not null)
);
