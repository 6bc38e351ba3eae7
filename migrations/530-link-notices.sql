-- When a link counts as low, and what its team was last alerted of. 540-payout-events.sql allows the events of its sales.
alter table links add column low_stock integer not null default 5;
alter table links add constraint links_low_stock check (low_stock between 1 and 1000);
-- Null: as far as the team knows, there is enough. The worker raises one alert for each fall.
alter table links add column stock_alerted text;
alter table links add constraint links_stock_alerted check (stock_alerted in ('low', 'sold_out'));
