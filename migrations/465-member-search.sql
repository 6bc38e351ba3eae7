-- apart: it fills an index of all members, and holds no other table meanwhile.
-- Administrators find a member by any part of the username, the name, or the address before its @.

-- What of a member is searched. The host of an address is left out, because most members share a few.
create function member_words(p_username text, p_name text, p_email text) returns text language sql immutable parallel safe as $$
  select p_username || E'\n' || coalesce(p_name, '') || E'\n' || coalesce(split_part(p_email, '@', 1), '')
$$;

-- For a text too short to have pieces.
create index users_by_beginning on users (lower(username) text_pattern_ops);
