-- Who works on a payment application beside its owner, and how it changes hands. payment_apps.applicant_id is its one
-- owner, whose wallet takes its payments in and pays its transfers.

create table payment_app_members (
  app_id bigint not null references payment_apps,
  user_id bigint not null references users,
  role text not null,
  invited_by bigint not null references users,
  invited_at timestamptz not null,
  -- Null until the invited member accepts; until then the row gives no right.
  accepted_at timestamptz,
  created_at timestamptz not null default now(),
  constraint payment_app_members_key primary key (app_id, user_id),
  constraint payment_app_members_role check (role in ('manager', 'operator', 'viewer'))
);
create index payment_app_members_of_user on payment_app_members (user_id, app_id);

-- An owner's offer of the whole application; one at a time.
create table payment_app_offers (
  app_id bigint primary key references payment_apps,
  from_user_id bigint not null references users,
  to_user_id bigint not null references users,
  offered_at timestamptz not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint payment_app_offers_not_to_self check (from_user_id <> to_user_id)
);
create index payment_app_offers_to on payment_app_offers (to_user_id);

-- One role for each member: the owner is no member of the team besides.
create function refuse_owner_as_member() returns trigger language plpgsql as $$
begin
  if exists (select from payment_apps where id = new.app_id and applicant_id = new.user_id) then
    raise exception 'the owner of an application is no member of its team'
      using errcode = 'check_violation', constraint = 'payment_app_members_not_owner';
  end if;
  return new;
end
$$;
create trigger payment_app_members_not_owner before insert or update on payment_app_members
  for each row execute function refuse_owner_as_member();

create function settle_new_owner() returns trigger language plpgsql as $$
begin
  delete from payment_app_members where app_id = new.id and user_id = new.applicant_id;
  delete from payment_app_offers where app_id = new.id;
  return null;
end
$$;
create trigger payment_apps_new_owner after update of applicant_id on payment_apps
  for each row when (old.applicant_id <> new.applicant_id) execute function settle_new_owner();

create view payment_app_roles as
  select id as app_id, applicant_id as user_id, 'owner' as role from payment_apps
  union all
  select app_id, user_id, role from payment_app_members where accepted_at is not null;

-- Makes another member the owner. It locks the wallets of both, which every payment to the application and every
-- transfer of it does too: what has begun is ended for the former owner, and what begins is the new one's.
create function hand_over_application(p_app_id bigint, p_to_user_id bigint, p_now timestamptz) returns void
  language plpgsql as $$
declare
  v_from_user_id bigint;
begin
  select applicant_id into strict v_from_user_id from payment_apps where id = p_app_id for no key update;
  insert into ledger_accounts (book, kind, user_id, balance)
  select book, 'wallet', p_to_user_id, 0 from ledger_accounts where kind = 'wallet' and user_id = v_from_user_id
  on conflict do nothing;
  perform from ledger_accounts
  where kind = 'wallet' and user_id in (v_from_user_id, p_to_user_id) order by id for update;
  update payment_apps set applicant_id = p_to_user_id, updated_at = p_now where id = p_app_id;
end
$$;
