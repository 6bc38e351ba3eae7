-- The points paid at a link so far, with those of this sale, and when it was sold. The points of any days are the difference of two
-- rows, however many sales lie between them.
alter table link_orders add column taken_total numeric, add column sold_at timestamptz;
alter table link_orders disable trigger user;
update link_orders as sale set taken_total = sums.taken, sold_at = sums.sold_at
from (
  select s.order_id, o.paid_at as sold_at, sum(s.units * s.unit_amount) over (partition by s.link_id order by s.sold_total) as taken
  from link_orders as s join orders as o on o.id = s.order_id where s.sold_total is not null
) as sums
where sums.order_id = sale.order_id;
alter table link_orders enable trigger user;
alter table link_orders drop constraint link_orders_sold;
alter table link_orders add constraint link_orders_sold check (
  num_nonnulls(sold_total, member_total, taken_total, sold_at) in (0, 4)
  and (sold_total is not null or num_nonnulls(delivery_id, stock_max, member_max) = 0)
);
create index link_orders_sold_at on link_orders (link_id, sold_at, sold_total) where sold_at is not null;

-- What administrators list first.
create index links_stopped on links (id) where state = 'stopped';
