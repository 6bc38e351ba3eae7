-- The owner of a payment application, its team, and its hand-over.

-- A member has one role: the owner is not in the team.
create or replace function refuse_owner_as_member() returns trigger language plpgsql as $$
begin
  if exists (select from payment_apps where id = new.app_id and applicant_id = new.user_id) then
    raise exception 'the owner of an application is no member of its team'
      using errcode = 'check_violation', constraint = 'payment_app_members_not_owner';
  end if;
  return new;
end
$$;
create or replace trigger payment_app_members_not_owner before insert or update on payment_app_members
  for each row execute function refuse_owner_as_member();

-- Notes each change of an approved field of a live application, the owner included. Each note differs from the one before,
-- even if both changes came in the same millisecond, so a reviewer approves exactly what was shown. The first change after an
-- approval keeps what was approved.
create or replace function note_unreviewed_change() returns trigger language plpgsql as $$
begin
  if old.unreviewed_change_at is null and old.status in ('approved', 'suspended') then
    new.reviewed_values := jsonb_build_object(
      'name', old.name, 'description', old.description, 'callback_url', old.callback_url, 'homepage', old.homepage,
      'logo_url', old.logo_url, 'applicant_id', old.applicant_id::text
    );
  end if;
  -- To the precision of a form.
  new.unreviewed_change_at := greatest(
    date_trunc('milliseconds', new.updated_at),
    old.unreviewed_change_at + interval '1 millisecond'
  );
  return new;
end
$$;
create or replace trigger payment_apps_unreviewed_change
  before update of name, description, callback_url, homepage, logo_url, applicant_id on payment_apps
  for each row when (
    old.book = 'live'
    and (old.name, old.description, old.callback_url, old.homepage, old.logo_url, old.applicant_id)
      is distinct from (new.name, new.description, new.callback_url, new.homepage, new.logo_url, new.applicant_id)
  )
  execute function note_unreviewed_change();

-- Makes another member the owner. A test application goes with its live application. Handed over by itself, it loses
-- its live application, whose owner may make another.
-- It locks the applications by id, then the wallets of both members by id. Every payment to the application and every transfer
-- of it locks the owner's wallet too: an act that began before uses the former owner's wallet, and a later act the new owner's.
create or replace function hand_over_application(p_app_id bigint, p_to_user_id bigint, p_now timestamptz) returns void
  language plpgsql as $$
declare
  v_from_user_id bigint;
  v_app_ids bigint[];
begin
  -- 1. Locks.
  select array_agg(locked.id) into v_app_ids
  from (
    select id from payment_apps where p_app_id in (id, live_app_id) order by id for no key update
  ) as locked;
  select applicant_id into strict v_from_user_id from payment_apps where id = p_app_id;
  perform open_wallets(array_agg(party.user_id), array_agg(app.book))
  from payment_apps as app cross join (values (v_from_user_id), (p_to_user_id)) as party (user_id)
  where app.id = any (v_app_ids);
  perform from ledger_accounts
  where kind = 'wallet' and user_id in (v_from_user_id, p_to_user_id) order by id for update;

  -- 2. The new owner. The team ends, and so do the offer, the alert, the link with a sign-in application, and the addresses for
  -- events and notifications of the former owner.
  delete from shop_links where payment_app_id = any (v_app_ids);
  update payment_apps
  set applicant_id = p_to_user_id, updated_at = p_now,
      live_app_id = case when id = p_app_id then null else live_app_id end,
      low_balance_points = null, low_balance_at = null, events_url = null, events_gone_at = null,
      notify_url = null
  where id = any (v_app_ids);
  delete from payment_app_members where app_id = any (v_app_ids);
  delete from payment_app_offers where app_id = any (v_app_ids);

  -- The links pause, until the new owner resumes them.
  update links set state = 'paused', updated_at = p_now where app_id = any (v_app_ids) and state = 'on_sale';

  perform cancel_payouts(array(select id from payouts where app_id = any (v_app_ids)), 'owner_changed', p_now);

  -- 3. The existing keys count as the former owner's, and the secrets of events end.
  update payment_app_keys set is_former_owners = true, former_since = coalesce(former_since, p_now)
  where app_id = any (v_app_ids) and kind in ('token', 'merchant_key', 'merchant_public_key');
  update payment_app_keys set valid_to = p_now
  where app_id = any (v_app_ids) and kind = 'event_secret' and (valid_to is null or valid_to > p_now);

  -- 4. Access keys and their tokens end.
  perform revoke_access_keys(array(select id from access_keys where app_id = any (v_app_ids)), p_now);

  -- 5. Events that are not delivered yet are given up, as when their owner switches them off.
  update notifications
  set status = 'failed', next_attempt_at = null, claimed_until = null, updated_at = p_now
  where app_id = any (v_app_ids) and kind <> 'gateway' and status = 'due';
end
$$;
