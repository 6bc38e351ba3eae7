-- Whether a member gets a receipt by email for what they buy through payment links.
alter table users add column mails_receipts boolean not null default true;
-- Sales through links whose receipt goes out by email. A row is deleted with the writing of its mail.
create table receipt_notices (
  order_id bigint primary key references orders,
  created_at timestamptz not null default now()
);
