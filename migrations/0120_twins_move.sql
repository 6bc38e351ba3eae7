-- A test application goes with the application that it tries things out for: whoever takes over the one gets both, in one
-- transaction. Given away by itself, it is no twin any more, and the owner of the live one may make another.
create or replace function part_twins() returns trigger language plpgsql as $$
begin
  if new.book = 'live' then
    update payment_apps set applicant_id = new.applicant_id, updated_at = new.updated_at where live_app_id = new.id;
  else
    update payment_apps as twin set live_app_id = null from payment_apps as live
    where twin.id = new.id and live.id = twin.live_app_id and live.applicant_id <> new.applicant_id;
  end if;
  return null;
end
$$;

-- As in 0056, but for both: they are locked by id before any wallet, and both members have wallets to lock.
create or replace function hand_over_application(p_app_id bigint, p_to_user_id bigint, p_now timestamptz) returns void
  language plpgsql as $$
declare
  v_from_user_id bigint;
begin
  perform from payment_apps where p_app_id in (id, live_app_id) order by id for no key update;
  select applicant_id into strict v_from_user_id from payment_apps where id = p_app_id;
  insert into ledger_accounts (book, kind, user_id, balance)
  select app.book, 'wallet', party.user_id, 0
  from payment_apps as app cross join (values (v_from_user_id), (p_to_user_id)) as party (user_id)
  where p_app_id in (app.id, app.live_app_id)
  order by app.book, party.user_id
  on conflict do nothing;
  perform from ledger_accounts
  where kind = 'wallet' and user_id in (v_from_user_id, p_to_user_id) order by id for update;
  update payment_apps set applicant_id = p_to_user_id, updated_at = p_now where id = p_app_id;
end
$$;
