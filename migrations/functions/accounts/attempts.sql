-- Stores attempts to sign in, and answers their ids in the order of the arrays. It locks the accounts and the addresses before
-- it takes an id, until the transaction ends. So of two attempts of one account or from one address, the one with the smaller
-- id has committed before the other takes its id, and the other counts it. Each call locks in the same order, so that none
-- deadlock.
create or replace function open_attempts(
  p_accounts text[], p_addresses text[], p_ats timestamptz[], p_undecided_untils timestamptz[]
) returns table (item integer, id bigint, account text) language plpgsql rows 10 as $$
#variable_conflict use_column
begin
  -- Two constants that no other lock begins with. Names with the same hash only wait for each other.
  perform pg_advisory_xact_lock(kind, hash) from (
    select 730512844 as kind, hashtext(lower(name)) as hash from unnest(p_accounts) as name
    union
    select 730512845, hashtext(name) from unnest(p_addresses) as name
    order by kind, hash
  ) as names;
  for v_item in 1 .. cardinality(p_accounts) loop
    item := v_item;
    -- Postgres lower-cases the name as the look-up of usernames does. Node would treat letters such as `İ` differently.
    insert into sign_in_attempts as attempt (account, address, attempted_at, undecided_until)
    values (lower(p_accounts[v_item]), p_addresses[v_item], p_ats[v_item], p_undecided_untils[v_item])
    returning attempt.id, attempt.account into open_attempts.id, open_attempts.account;
    return next;
  end loop;
end
$$;
