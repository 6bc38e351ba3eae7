-- Accounts whose member has gone. The row and its number stay, because the books refer to them; who it was does not.

alter table users add column anonymised_at timestamptz;

-- The name of an anonymised account belongs to nobody else, from before there is one.
update users set username = username || '~' || id where lower(username) ~ '^deleted-[0-9]+$';
alter table users
  add constraint users_neutral_name check (
    case when anonymised_at is null then lower(username) !~ '^deleted-[0-9]+$' else username = 'deleted-' || id end
  ),
  -- Nobody is behind it, nothing opens it, and it is refused wherever a banned member is.
  add constraint users_anonymised check (
    anonymised_at is null
    or is_banned and num_nonnulls(name, email, avatar_url, password_hash, forum_id, language, suspended_till) = 0
      and not (email_verified or is_admin or is_moderator or must_change_password or language_chosen)
      and trust_level = 0
  );

-- There is no way back.
create function refuse_revival() returns trigger language plpgsql as $$
begin
  raise exception 'user % is anonymised', old.id
    using errcode = 'check_violation', constraint = 'users_anonymised_for_good';
end
$$;
create trigger users_anonymised_for_good before update of anonymised_at on users
  for each row when (old.anonymised_at is not null and new.anonymised_at is distinct from old.anonymised_at)
  execute function refuse_revival();

-- The names that such accounts had, as hashes, so that no stranger takes one and with it what was meant for its bearer.
create table former_usernames (
  name_hash bytea primary key,
  created_at timestamptz not null default now()
);
create trigger former_usernames_append_only before update or delete or truncate on former_usernames
  for each statement execute function refuse_change();

create function former_name_hash(p_username text) returns bytea language sql immutable parallel safe
return sha256(convert_to(lower(p_username), 'UTF8'));

-- After the unique index has had its say: who waited there for an account that is being anonymised sees the name here.
create function refuse_former_username() returns trigger language plpgsql as $$
begin
  if exists (select from former_usernames where name_hash = former_name_hash(new.username)) then
    raise exception 'the name % was somebody else''s', new.username
      using errcode = 'unique_violation', constraint = 'users_username_key';
  end if;
  return null;
end
$$;
create trigger users_not_former_name after insert or update of username on users
  for each row execute function refuse_former_username();

-- A closed wallet holds nothing and takes nothing in: what would reach it is refused, and nothing is lost in it.
alter table ledger_accounts
  add column closed_at timestamptz,
  add constraint ledger_accounts_closed_is_empty check (closed_at is null or (kind = 'wallet' and balance = 0));

-- Nothing that opens or stands for an account is given to one that is anonymised. Anonymising holds the member's row
-- against the foreign keys, and these look after them: who waited there sees that the account is gone.
create function refuse_anonymised() returns trigger language plpgsql as $$
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
do $$
declare
  v_table text;
begin
  foreach v_table in array array[
    'sessions', 'pending_sign_ins', 'account_links', 'second_factors', 'user_groups', 'consents', 'authorization_codes',
    'grants', 'forum_members', 'forum_scores', 'payment_app_members', 'alerts', 'order_views', 'outgoing_mails'
  ] loop
    execute format(
      'create trigger %I after insert or update of user_id on %I for each row execute function refuse_anonymised()',
      v_table || '_not_anonymised', v_table
    );
  end loop;
end
$$;
create trigger oauth_apps_not_anonymised after insert or update of owner_id on oauth_apps
  for each row execute function refuse_anonymised('owner_id');
create trigger payment_app_offers_not_anonymised after insert or update of to_user_id on payment_app_offers
  for each row execute function refuse_anonymised('to_user_id');
-- An application of such an owner is out of use for good.
create trigger payment_apps_not_anonymised after insert or update of applicant_id, status on payment_apps
  for each row when (new.status in ('pending', 'approved')) execute function refuse_anonymised('applicant_id');

-- A transfer by the neutral name reaches nobody either, and points are given to nobody.
create function pg_temp.replace_once(p_function text, p_old text, p_new text) returns void language plpgsql as $$
declare
  v_definition constant text := (select pg_get_functiondef(oid) from pg_proc where proname = p_function);
begin
  if (length(v_definition) - length(replace(v_definition, p_old, ''))) / length(p_old) is distinct from 1 then
    raise exception 'what is to be replaced is not there once in %', p_function;
  end if;
  execute replace(v_definition, p_old, p_new);
end
$$;
select pg_temp.replace_once('post_transfers', 'and lower(username) = lower(i.to_username)',
  'and lower(username) = lower(i.to_username) and anonymised_at is null');
select pg_temp.replace_once('adjust_points', 'where id = p_user_id)', 'where id = p_user_id and anonymised_at is null)');

-- How a member is called who was called so then.
create function name_now(p_user_id bigint, p_then text) returns text language sql stable
return coalesce((select username from users where id = p_user_id and anonymised_at is not null), p_then);

-- What is taken out, and what is removed, by its member.
create index outgoing_mails_of_user on outgoing_mails (user_id) where user_id is not null;
create index refund_requests_of_asker on refund_requests (asked_by, id);
