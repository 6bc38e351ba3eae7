-- A later look at a finding never hides what an earlier one did not see.

-- A look at the same or a smaller figure changes nothing while the earlier one is in force, so of two administrators the first is kept.
create or replace function keep_look() returns trigger language plpgsql as $$
begin
  if new.finding <> old.finding or new.size <= old.size and new.looked_at < old.looked_at + interval '30 days' then
    raise exception 'the finding was looked at already' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create or replace trigger looked_findings_kept before update on looked_findings
  for each row execute function keep_look();
