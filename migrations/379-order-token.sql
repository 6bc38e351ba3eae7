-- The token that signed the request for an order of the HMAC API. It signs the order's callback too, while it is valid.
alter table orders add column token_id bigint references payment_app_keys;
alter table orders add constraint orders_token_id check (token_id is null or door = 'hmac');
