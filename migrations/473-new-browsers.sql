-- A member hears of a sign-in from a browser that is new to the account, except of the first one, to which nothing compares.
alter table users add column has_signed_in boolean not null default true;
alter table users alter column has_signed_in set default false;

-- An alert is about a payment application, about a sign-in application, or about the account itself.
alter table alerts drop constraint alerts_subject;
alter table alerts add constraint alerts_subject
  check (num_nonnulls(app_id, oauth_app_id) = case when kind = 'new_browser' then 0 else 1 end);
create unique index alerts_account_cause on alerts (user_id, kind, cause) where app_id is null and oauth_app_id is null;
