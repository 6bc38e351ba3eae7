-- The smallest transfer of a trust level never exceeds the largest one. The service also compares the defaults, which are not
-- stored (src/core/settings.ts). So this compares a bound only with a stored one.
create or replace function keep_transfer_bounds() returns trigger language plpgsql as $$
declare
  v_level text := right(new.name, 1);
begin
  -- Two writers of one bound each see each other.
  perform pg_advisory_xact_lock(7305128844);
  if exists (
    select from site_settings as least, site_settings as most
    where least.name = 'points_transfer_min_amount_tl' || v_level
      and most.name = 'points_transfer_max_amount_tl' || v_level
      and least.value::numeric > most.value::numeric
  ) then
    raise exception 'the smallest transfer of trust level % exceeds the largest one', v_level
      using errcode = 'check_violation', constraint = 'site_settings_transfer_bounds';
  end if;
  return null;
end
$$;
create or replace trigger site_settings_transfer_bounds after insert or update on site_settings
  for each row when (new.name ~ '^points_transfer_(min|max)_amount_tl[0-4]$')
  execute function keep_transfer_bounds();
