-- Statements of wallets.

-- The lowest id of an account's entries that were posted from a moment on, found by halving. Ids and times have the same
-- order, except for the differences between the clocks of several processes. Null when the account has no entries. Beyond the
-- last one when all are older. It asks for ranges of pairs, so that Postgres uses the index of these pairs.
create or replace function first_entry_since(p_account_id bigint, p_at timestamptz) returns bigint language plpgsql stable as $$
declare
  c_end constant bigint := 9223372036854775807;
  v_low bigint;
  v_high bigint;
  v_middle bigint;
  v_found record;
begin
  select id into v_low from entries
  where (account_id, id) > (p_account_id, 0) and (account_id, id) < (p_account_id, c_end) order by account_id, id limit 1;
  select id + 1 into v_high from entries
  where (account_id, id) > (p_account_id, 0) and (account_id, id) < (p_account_id, c_end)
  order by account_id desc, id desc limit 1;
  -- Every entry below v_low is older than p_at. No entry from v_high on is.
  while v_low < v_high loop
    v_middle := v_low + (v_high - v_low) / 2;
    select e.id, (select j.posted_at from journal as j where j.id = e.journal_id) as posted_at into strict v_found
    from entries as e
    where (e.account_id, e.id) >= (p_account_id, v_middle) and (e.account_id, e.id) < (p_account_id, c_end)
    order by e.account_id, e.id limit 1;
    if v_found.posted_at < p_at then v_low := v_found.id + 1; else v_high := v_middle; end if;
  end loop;
  return v_low;
end
$$;
