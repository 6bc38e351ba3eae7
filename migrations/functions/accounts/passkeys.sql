-- What the database refuses of passkeys. src/accounts/passkeys writes them.

-- It locks the member's row, so simultaneous registrations count each other.
create or replace function refuse_eleventh_passkey() returns trigger language plpgsql as $$
begin
  perform from users where id = new.user_id for no key update;
  if (select count(*) from passkeys where user_id = new.user_id) > 10 then
    raise exception 'user % has ten passkeys', new.user_id
      using errcode = 'check_violation', constraint = 'passkeys_at_most_ten';
  end if;
  return null;
end
$$;
create or replace trigger passkeys_at_most_ten after insert on passkeys
  for each row execute function refuse_eleventh_passkey();

-- A key never changes. A counter that does not grow comes from a copy; authenticators without a counter always tell 0.
create or replace function refuse_other_passkey() returns trigger language plpgsql as $$
begin
  raise exception 'passkey % cannot become another one', old.id
    using errcode = 'check_violation', constraint = tg_name;
end
$$;
create or replace trigger passkeys_stay_the_same before update on passkeys for each row
  when ((new.user_id, new.credential_id, new.public_key, new.rp_id, new.is_backup_eligible)
    is distinct from (old.user_id, old.credential_id, old.public_key, old.rp_id, old.is_backup_eligible))
  execute function refuse_other_passkey();
create or replace trigger passkeys_counter_grows before update of sign_count on passkeys for each row
  when (new.sign_count <= old.sign_count and (new.sign_count > 0 or old.sign_count > 0))
  execute function refuse_other_passkey();

-- Two-step verification without an authenticator app needs a passkey. It locks the factor's row, so of two simultaneous
-- removals the second one sees the first.
create or replace function refuse_removal_of_last_means() returns trigger language plpgsql as $$
begin
  perform from second_factors where user_id = old.user_id for update;
  if exists (
    select from second_factors as f join users as u on u.id = f.user_id
    where f.user_id = old.user_id and f.secret_encrypted is null and u.password_hash is not null
  ) and not exists (select from passkeys where user_id = old.user_id) then
    raise exception 'user % needs this passkey for two-step verification', old.user_id
      using errcode = 'check_violation', constraint = 'passkeys_last_means';
  end if;
  return null;
end
$$;
create or replace trigger passkeys_last_means after delete on passkeys
  for each row execute function refuse_removal_of_last_means();
