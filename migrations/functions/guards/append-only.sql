-- Rows that no statement may change or delete.

-- Refuses any change of append-only tables.
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end
$$;
create or replace trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();
create or replace trigger former_usernames_append_only before update or delete or truncate on former_usernames
  for each statement execute function refuse_change();
create or replace trigger site_settings_history_append_only before update or delete or truncate on site_settings_history
  for each statement execute function refuse_change();
create or replace trigger journal_append_only before update or delete or truncate on journal
  for each statement execute function refuse_change();
create or replace trigger entries_append_only before update or delete or truncate on entries
  for each statement execute function refuse_change();
create or replace trigger journal_seals_append_only before update or delete or truncate on journal_seals
  for each statement execute function refuse_change();
create or replace trigger books_days_append_only before update or delete or truncate on books_days
  for each statement execute function refuse_change();
create or replace trigger payment_app_takings_append_only before update or delete or truncate on payment_app_takings
  for each statement execute function refuse_change();
create or replace trigger tips_append_only before update or delete or truncate on tips
  for each statement execute function refuse_change();
create or replace trigger order_requests_append_only before update or delete or truncate on order_requests
  for each statement execute function refuse_change();
create or replace trigger refunds_append_only before update or delete or truncate on refunds
  for each statement execute function refuse_change();
create or replace trigger proposals_not_deleted before delete or truncate on proposals
  for each statement execute function refuse_change();

-- Refuses deletion where rows do change: the tables record who paid whom for what, who asked for a refund, and which keys there were.
create or replace function refuse_deletion() returns trigger language plpgsql as $$
begin
  raise exception '% are never deleted', tg_table_name using errcode = 'restrict_violation';
end
$$;
create or replace trigger users_not_deleted before delete or truncate on users
  for each statement execute function refuse_deletion();
create or replace trigger orders_not_deleted before delete or truncate on orders
  for each statement execute function refuse_deletion();
create or replace trigger link_orders_not_deleted before delete or truncate on link_orders
  for each statement execute function refuse_deletion();
create or replace trigger access_keys_not_deleted before delete or truncate on access_keys
  for each statement execute function refuse_deletion();
create or replace trigger transfers_not_deleted before delete or truncate on transfers
  for each statement execute function refuse_deletion();
-- A draft is no record. Triggers of functions/payment/payouts.sql keep the others.
create or replace trigger payouts_not_truncated before truncate on payouts
  for each statement execute function refuse_deletion();
create or replace trigger payout_lines_not_truncated before truncate on payout_lines
  for each statement execute function refuse_deletion();
create or replace trigger refund_requests_not_deleted before delete or truncate on refund_requests
  for each statement execute function refuse_deletion();
create or replace trigger notifications_not_deleted before delete or truncate on notifications
  for each statement execute function refuse_deletion();
-- An offer that no member accepted is no record.
create or replace trigger mandates_not_deleted before delete on mandates
  for each row when (old.accepted_at is not null) execute function refuse_deletion();
create or replace trigger mandates_not_truncated before truncate on mandates
  for each statement execute function refuse_deletion();
-- The import of an archive switches this trigger off, to replace the platform's accounts with those of the archive.
create or replace trigger ledger_accounts_not_deleted before delete or truncate on ledger_accounts
  for each statement execute function refuse_deletion();
