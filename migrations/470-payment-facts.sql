-- pay_orders asks its locked orders itself, so payment_facts no longer takes them.
drop function if exists payment_facts(asked_payment[], bigint[]);
