-- Two administrators, or none: while corrections need a second one, so does switching that off. It is proposed and approved
-- like a correction; whoever has the command line acts alone, as there for corrections.

alter table correction_proposals
  -- A setting and what it is to be.
  add column setting text,
  add column setting_value text,
  drop constraint correction_proposals_kind,
  drop constraint correction_proposals_facts,
  add constraint correction_proposals_kind check (kind in ('refund', 'reversal', 'points', 'setting')),
  add constraint correction_proposals_facts check (
    (kind in ('refund', 'reversal')) = (transaction_id is not null)
    and (kind in ('refund', 'reversal')) = (with_fee is not null)
    and (kind = 'refund') = (amount is not null) and (kind = 'points') = (lines is not null)
    and (kind = 'setting') = (setting is not null) and (kind = 'setting') = (setting_value is not null)
  );

-- The change names who proposed it, and is approved in the very transaction that makes it.
create function keep_second_approver() returns trigger language plpgsql as $$
begin
  if not exists (
    select from correction_proposals
    where kind = 'setting' and setting = new.name and setting_value = new.value
      and decision = 'approved' and proposed_by = new.updated_by and xmin = pg_current_xact_id()::xid
  ) then
    raise exception 'switching % off needs a second administrator', new.name
      using errcode = 'check_violation', constraint = 'site_settings_two_people';
  end if;
  return new;
end
$$;
create trigger site_settings_two_people before update on site_settings
  for each row when (
    old.name = 'second_approver' and old.value = 'on' and new.value <> 'on' and new.updated_by is not null
  )
  execute function keep_second_approver();
