-- The token that signed the request for an order of the HMAC API. It signs the order's callback too, while it is valid. Orders
-- are kept longer than tokens, so no foreign key names it: it would keep each used token for ever.
alter table orders add column token_id bigint;
alter table orders add constraint orders_token_id check (token_id is null or door = 'hmac');
