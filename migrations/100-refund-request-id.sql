-- A refund that accepts a merchant's request names the request. Before, the key of the refund held its number.
alter table refunds add column request_id bigint references refund_requests;
-- A request is accepted by one refund.
create unique index refunds_request_id_key on refunds (request_id);

-- The function gets a parameter.
drop function if exists refund_order;
