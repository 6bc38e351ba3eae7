-- What the deletion of old rows looks them up by; the other tables that it goes through have theirs.
create index pending_sign_ins_expiry on pending_sign_ins (expires_at);
create index account_links_expiry on account_links (expires_at);
create index recovery_requests_time on recovery_requests (requested_at);
create index outgoing_mails_settled on outgoing_mails (coalesce(sent_at, given_up_at))
  where coalesce(sent_at, given_up_at) is not null;
create index payment_app_days_day on payment_app_days (day);
create index app_secrets_ending on app_secrets (expires_at) where expires_at is not null;
create index notification_attempts_time on notification_attempts (started_at);
create index alerts_time on alerts (raised_at);
create index order_views_time on order_views (viewed_at);

-- Besides what cannot be changed either: who paid whom for what, and who asked for it back.
create function refuse_deletion() returns trigger language plpgsql as $$
begin
  raise exception '% are never deleted', tg_table_name using errcode = 'restrict_violation';
end
$$;
create trigger users_not_deleted before delete or truncate on users
  for each statement execute function refuse_deletion();
create trigger orders_not_deleted before delete or truncate on orders
  for each statement execute function refuse_deletion();
create trigger transfers_not_deleted before delete or truncate on transfers
  for each statement execute function refuse_deletion();
create trigger refund_requests_not_deleted before delete or truncate on refund_requests
  for each statement execute function refuse_deletion();
create trigger notifications_not_deleted before delete or truncate on notifications
  for each statement execute function refuse_deletion();
-- Those of the platform are made by the migrations, and give way to those of an archive that is read in.
create trigger ledger_accounts_not_deleted before delete on ledger_accounts
  for each row when (old.kind = 'wallet') execute function refuse_deletion();
