-- What a gateway merchant asks for again and again: what was paid in all, today and yesterday.
create index orders_takings on orders (app_id, paid_at) include (amount) where door = 'gateway' and paid_at is not null;
