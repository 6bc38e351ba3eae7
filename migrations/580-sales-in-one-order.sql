-- Each sale continues the units that the link had sold before it, and only one sale can. Different sums did not suffice: beside a sale
-- of one unit, one of two units has another sum, although it does not count the first one.
create unique index link_orders_sold_before on link_orders (link_id, (sold_total - units)) where sold_total is not null;
