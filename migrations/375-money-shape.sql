-- Money of a gateway order is kept as the shop sent it, because the shop compares the text. `MONEY` in
-- src/payment/values/money.ts holds the same rule for requests.
alter table orders add constraint orders_money_shape check (
  money ~ '^([0-9]{1,8}([.][0-9]{0,20})?|[.][0-9]{1,20})$' and money ~ '[1-9]'
);
