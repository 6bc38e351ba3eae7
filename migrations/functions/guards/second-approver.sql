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

-- Whether a change of a setting needs a second administrator: of this rule, of the fee of payments, of the rates and bounds of
-- transfers, of whether and which of the forum's scores become points, and of tips when they are switched on or a limit rises. Switching
-- the forum bridge or tips off needs one administrator. The command line acts alone and names no member. The value in force needs
-- nobody: an upsert first tries a new row.
create or replace function setting_needs_two(p_name text, p_value text, p_actor_id bigint) returns boolean
language plpgsql stable as $$
begin
  return p_actor_id is not null and needs_two_people()
    and (
      p_name = 'second_approver' and p_value <> 'on'
      or p_name in ('forum_points_bridge', 'forum_points_for_past_score', 'tips') and p_value = 'on'
      or p_name in ('points_payment_fee_rate', 'forum_leaderboard_id') or p_name like 'points\_transfer\_%'
      or (
        p_name ~ '^tip_(day_)?max_tl[0-4]$' or p_name in ('tip_received_day_max', 'tip_pair_week_max')
      ) and p_value::bigint > tip_setting(p_name)::bigint
    )
    and not exists (select from site_settings where name = p_name and value = p_value);
end
$$;

-- The backstop of setting_needs_two, which the service asks before it writes. The change must equal the last approved proposal: its
-- value, its proposer, and the time of its approval. So one approval allows one change.
create or replace function keep_second_approver() returns trigger language plpgsql as $$
begin
  if not setting_needs_two(new.name, new.value, new.updated_by) then
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

-- Whether new terms of an application need a second administrator.
create or replace function terms_need_two(
  p_payment_id text, p_fee_rate numeric, p_daily_payments_max bigint, p_daily_transfers_max bigint
) returns boolean language sql stable
return needs_two_people() and exists (
  select from payment_apps
  where payment_id = p_payment_id and (fee_rate, daily_payments_max, daily_transfers_max)
    is distinct from (p_fee_rate, p_daily_payments_max, p_daily_transfers_max)
);

-- The backstop of terms_need_two.
create or replace function keep_terms() returns trigger language plpgsql as $$
begin
  if terms_need_two(new.payment_id, new.fee_rate, new.daily_payments_max, new.daily_transfers_max) and not exists (
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
  for each row execute function keep_terms();
