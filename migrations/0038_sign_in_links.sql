-- A link that signs in once, made at the command line. It goes to no address.
alter table account_links
  drop constraint account_links_purpose_known,
  add constraint account_links_purpose_known check (purpose in ('recover_password', 'confirm_email', 'sign_in'));
