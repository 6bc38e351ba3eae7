-- Anonymised accounts. Anonymising cannot be undone, and no other member gets the name.

create or replace function former_name_hash(p_username text) returns bytea language sql immutable parallel safe
return sha256(convert_to(lower(p_username), 'UTF8'));

-- A member's name today, for a row that holds the name of then. It differs from that name until the account is anonymised.
create or replace function name_now(p_user_id bigint, p_then text) returns text language sql stable
return coalesce((select username from users where id = p_user_id and anonymised_at is not null), p_then);

create or replace function refuse_revival() returns trigger language plpgsql as $$
begin
  raise exception 'user % is anonymised', old.id
    using errcode = 'check_violation', constraint = 'users_anonymised_for_good';
end
$$;
create or replace trigger users_anonymised_for_good before update of anonymised_at on users
  for each row when (old.anonymised_at is not null and new.anonymised_at is distinct from old.anonymised_at)
  execute function refuse_revival();

-- An after trigger, so that the unique index is checked first. A member who waited there for an account that is being
-- anonymised finds the name here.
create or replace function refuse_former_username() returns trigger language plpgsql as $$
begin
  if exists (select from former_usernames where name_hash = former_name_hash(new.username)) then
    raise exception 'the name % was somebody else''s', new.username
      using errcode = 'unique_violation', constraint = 'users_username_key';
  end if;
  return null;
end
$$;
create or replace trigger users_not_former_name after insert or update of username on users
  for each row execute function refuse_former_username();

-- Refuses rows that open an anonymised account or belong to it. Its argument is the column of the member; without one it is
-- user_id. The anonymisation locks the member's row against foreign keys. A statement that waited there runs this check
-- afterwards and sees that the account is gone.
create or replace function refuse_anonymised() returns trigger language plpgsql as $$
declare
  v_user_id bigint;
begin
  if tg_nargs = 0 then v_user_id := new.user_id; else v_user_id := to_jsonb(new) ->> tg_argv[0]; end if;
  if exists (select from users where id = v_user_id and anonymised_at is not null) then
    raise exception 'user % is anonymised', v_user_id
      using errcode = 'check_violation', constraint = 'users_anonymised_for_good';
  end if;
  return null;
end
$$;
create or replace trigger sessions_not_anonymised after insert or update of user_id on sessions
  for each row execute function refuse_anonymised();
create or replace trigger pending_sign_ins_not_anonymised after insert or update of user_id on pending_sign_ins
  for each row execute function refuse_anonymised();
create or replace trigger account_links_not_anonymised after insert or update of user_id on account_links
  for each row execute function refuse_anonymised();
create or replace trigger second_factors_not_anonymised after insert or update of user_id on second_factors
  for each row execute function refuse_anonymised();
create or replace trigger passkeys_not_anonymised after insert or update of user_id on passkeys
  for each row execute function refuse_anonymised();
create or replace trigger user_groups_not_anonymised after insert or update of user_id on user_groups
  for each row execute function refuse_anonymised();
create or replace trigger consents_not_anonymised after insert or update of user_id on consents
  for each row execute function refuse_anonymised();
create or replace trigger authorization_codes_not_anonymised after insert or update of user_id on authorization_codes
  for each row execute function refuse_anonymised();
create or replace trigger device_codes_not_anonymised after insert or update of user_id on device_codes
  for each row execute function refuse_anonymised();
create or replace trigger grants_not_anonymised after insert or update of user_id on grants
  for each row execute function refuse_anonymised();
create or replace trigger forum_members_not_anonymised after insert or update of user_id on forum_members
  for each row execute function refuse_anonymised();
create or replace trigger forum_scores_not_anonymised after insert or update of user_id on forum_scores
  for each row execute function refuse_anonymised();
create or replace trigger payment_app_members_not_anonymised after insert or update of user_id on payment_app_members
  for each row execute function refuse_anonymised();
create or replace trigger alerts_not_anonymised after insert or update of user_id on alerts
  for each row execute function refuse_anonymised();
create or replace trigger order_views_not_anonymised after insert or update of user_id on order_views
  for each row execute function refuse_anonymised();
create or replace trigger outgoing_mails_not_anonymised after insert or update of user_id on outgoing_mails
  for each row execute function refuse_anonymised();
create or replace trigger oauth_apps_not_anonymised after insert or update of owner_id on oauth_apps
  for each row execute function refuse_anonymised('owner_id');
create or replace trigger payment_app_offers_not_anonymised after insert or update of to_user_id on payment_app_offers
  for each row execute function refuse_anonymised('to_user_id');
create or replace trigger mandates_not_anonymised after insert or update of user_id, status on mandates
  for each row when (new.status in ('active', 'paused')) execute function refuse_anonymised();
-- An application of such an owner never works again.
create or replace trigger payment_apps_not_anonymised after insert or update of applicant_id, status on payment_apps
  for each row when (new.status in ('pending', 'approved')) execute function refuse_anonymised('applicant_id');
