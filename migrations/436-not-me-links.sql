-- A notice about a change of an account has a link for the member who did not make it. It locks the account, and gives no
-- access to it.
alter table account_links drop constraint account_links_purpose_known;
alter table account_links add constraint account_links_purpose_known
  check (purpose in ('recover_password', 'confirm_email', 'sign_in', 'not_me'));
-- A mail says which browser asked for it.
alter table recovery_requests add column agent text not null default '';
