-- Of which sales the team of a link gets alerts: of each, of a day's together, or of none.
alter table links add column sale_alerts text not null default 'off';
alter table links add constraint links_sale_alerts check (sale_alerts in ('off', 'each', 'daily'));
-- The sold_total of the last sale that the team was alerted of. The sales of a link have one order, so the ones above it are new.
alter table links add column sales_alerted bigint not null default 0;
alter table links add constraint links_sales_alerted check (sales_alerted >= 0);
