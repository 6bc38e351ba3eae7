-- Two administrators, while the setting second_approver is on.

-- A proposal is decided once, and no other column changes. Both of its members are administrators at the moment of approval.
create or replace function keep_proposal() returns trigger language plpgsql as $$
begin
  if old.decision is not null
    or to_jsonb(new) - 'decision' - 'decided_by' - 'decided_at'
      <> to_jsonb(old) - 'decision' - 'decided_by' - 'decided_at'
  then
    raise exception 'a proposal is decided once and never changed' using errcode = 'restrict_violation';
  end if;
  if new.decision = 'approved' then
    -- The lock keeps both administrators until the end of the act.
    perform from users where id in (new.proposed_by, new.decided_by) order by id for share;
    if exists (
      select from users where id in (new.proposed_by, new.decided_by)
        and (not is_admin or is_banned_or_suspended(is_banned, suspended_till, new.decided_at))
    ) then
      raise exception 'a proposal needs two administrators'
        using errcode = 'check_violation', constraint = 'proposals_two_administrators';
    end if;
  end if;
  return new;
end
$$;
create or replace trigger proposals_kept before update on proposals
  for each row execute function keep_proposal();

create or replace function needs_two_people() returns boolean language sql stable
return exists (select from site_settings where name = 'second_approver' and value = 'on');

-- The settings that one administrator cannot change alone: this rule, the fee of payments, the rates and bounds of transfers, and
-- whether the forum's scores become points. Switching the forum bridge off needs one administrator. The change must equal the
-- last approved proposal: its value, its proposer, and the time of its approval. So one approval allows one change. The command
-- line acts alone and names no member. An upsert first tries a new row, so an insert of the value in force passes.
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
    select from (
      select * from proposals
      where kind = 'setting' and act ->> 'setting' = new.name and decision = 'approved' order by id desc limit 1
    ) as newest
    where act ->> 'value' = new.value and proposed_by = new.updated_by and decided_at = new.updated_at
  ) then
    raise exception 'changing % needs a second administrator', new.name
      using errcode = 'check_violation', constraint = 'site_settings_two_people';
  end if;
  return new;
end
$$;
create or replace trigger site_settings_two_people before insert or update on site_settings
  for each row execute function keep_second_approver();

-- The same for the terms of an application.
create or replace function keep_terms() returns trigger language plpgsql as $$
begin
  if needs_two_people() and not exists (
    select from (
      select * from proposals
      where kind = 'terms' and act ->> 'payment_id' = new.payment_id and decision = 'approved' order by id desc limit 1
    ) as newest
    where (act -> 'terms' ->> 'fee_rate')::numeric is not distinct from new.fee_rate
      and (act -> 'terms' ->> 'daily_payments_max')::bigint is not distinct from new.daily_payments_max
      and (act -> 'terms' ->> 'daily_transfers_max')::bigint is not distinct from new.daily_transfers_max
      and decided_at = new.updated_at
  ) then
    raise exception 'the terms of % need a second administrator', new.payment_id
      using errcode = 'check_violation', constraint = 'payment_apps_two_people';
  end if;
  return new;
end
$$;
create or replace trigger payment_apps_two_people before update of fee_rate, daily_payments_max, daily_transfers_max on payment_apps
  for each row when (
    (old.fee_rate, old.daily_payments_max, old.daily_transfers_max)
      is distinct from (new.fee_rate, new.daily_payments_max, new.daily_transfers_max)
  )
  execute function keep_terms();
