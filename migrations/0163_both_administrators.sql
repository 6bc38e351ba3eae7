-- Two administrators are two at the moment in which something is done: what was proposed by somebody who is none any more,
-- or is kept out, is not approved.

create or replace function keep_proposal() returns trigger language plpgsql as $$
begin
  if old.decision is not null
    or to_jsonb(new) - 'decision' - 'decided_by' - 'decided_at'
      <> to_jsonb(old) - 'decision' - 'decided_by' - 'decided_at'
  then
    raise exception 'a proposal is decided once and never changed' using errcode = 'restrict_violation';
  end if;
  if new.decision = 'approved' then
    -- Until the end of the act nobody ceases to be one.
    perform from users where id in (new.proposed_by, new.decided_by) order by id for share;
    if exists (
      select from users where id in (new.proposed_by, new.decided_by)
        and (not is_admin or is_barred(is_banned, suspended_till, new.decided_at))
    ) then
      raise exception 'a proposal needs two administrators'
        using errcode = 'check_violation', constraint = 'correction_proposals_two_administrators';
    end if;
  end if;
  return new;
end
$$;
