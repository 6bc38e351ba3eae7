-- Two administrators, or none: while second_approver is on, one alone changes neither what the platform takes, nor what
-- transfers cost and how much they move, nor the terms of an application; nor turns the forum's scores into points.
-- Switching the bridge off stops points and takes one. The operator at the command line has the database, and acts alone.

alter table correction_proposals
  -- Terms of an application, as texts: {fee_rate, daily_payments_max, daily_transfers_max}.
  add column payment_id text references payment_apps (payment_id),
  add column terms jsonb,
  drop constraint correction_proposals_kind,
  drop constraint correction_proposals_facts,
  add constraint correction_proposals_kind check (kind in ('refund', 'reversal', 'points', 'setting', 'terms')),
  add constraint correction_proposals_facts check (
    (kind in ('refund', 'reversal')) = (transaction_id is not null)
    and (kind in ('refund', 'reversal')) = (with_fee is not null)
    and (kind = 'refund') = (amount is not null) and (kind = 'points') = (lines is not null)
    and (kind = 'setting') = (setting is not null) and (kind = 'setting') = (setting_value is not null)
    and (kind = 'terms') = (payment_id is not null) and (kind = 'terms') = (terms is not null)
  );

create function needs_two_people() returns boolean language sql stable
return exists (select from site_settings where name = 'second_approver' and value = 'on');

-- The change names who proposed it, and is approved in the very transaction that makes it. Of a setting that was never set
-- the row is new, and one that is set again is first tried as new: then too, what stands tells whether it changes.
create or replace function keep_second_approver() returns trigger language plpgsql as $$
begin
  if new.updated_by is null or not needs_two_people()
    or not (
      new.name = 'second_approver' and new.value <> 'on'
      or new.name in ('forum_points_bridge', 'forum_points_for_past_score') and new.value = 'on'
      or new.name = 'points_payment_fee_rate' or new.name like 'points\_transfer\_%'
    )
    or exists (select from site_settings where name = new.name and value = new.value)
  then
    return new;
  end if;
  if not exists (
    select from correction_proposals
    where kind = 'setting' and setting = new.name and setting_value = new.value
      and decision = 'approved' and proposed_by = new.updated_by and xmin = pg_current_xact_id()::xid
  ) then
    raise exception 'changing % needs a second administrator', new.name
      using errcode = 'check_violation', constraint = 'site_settings_two_people';
  end if;
  return new;
end
$$;
drop trigger site_settings_two_people on site_settings;
create trigger site_settings_two_people before insert or update on site_settings
  for each row execute function keep_second_approver();

create function keep_terms() returns trigger language plpgsql as $$
begin
  if needs_two_people() and not exists (
    select from correction_proposals
    where kind = 'terms' and payment_id = new.payment_id
      and (terms ->> 'fee_rate')::numeric is not distinct from new.fee_rate
      and (terms ->> 'daily_payments_max')::bigint is not distinct from new.daily_payments_max
      and (terms ->> 'daily_transfers_max')::bigint is not distinct from new.daily_transfers_max
      and decision = 'approved' and xmin = pg_current_xact_id()::xid
  ) then
    raise exception 'the terms of % need a second administrator', new.payment_id
      using errcode = 'check_violation', constraint = 'payment_apps_two_people';
  end if;
  return new;
end
$$;
create trigger payment_apps_two_people before update of fee_rate, daily_payments_max, daily_transfers_max on payment_apps
  for each row when (
    (old.fee_rate, old.daily_payments_max, old.daily_transfers_max)
      is distinct from (new.fee_rate, new.daily_payments_max, new.daily_transfers_max)
  )
  execute function keep_terms();
