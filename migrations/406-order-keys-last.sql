-- While a table is small, Postgres expects one row from each index that begins with app_id, and uses the newest of them. A connection
-- keeps that plan until the table is analysed: `orders_of_app` would read every order of an application at each request. So the
-- keys of an order_id are made again, after the other indexes. test/payment/new-tables.test.ts finds a later index that takes their place.
alter table orders
  drop constraint orders_order_id_key,
  add constraint orders_order_id_key unique (app_id, book, door, order_id);
alter table transfers
  drop constraint transfers_order_id_key,
  add constraint transfers_order_id_key unique (app_id, order_id);
