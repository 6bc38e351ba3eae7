-- Administrators find a member by any part of the username, the name, or the address before its @.

-- The pieces of a text by which any part of it is found: each three characters that follow each other, and of Chinese each
-- one and two, because its words are short. An index uses it, so it belongs to the tables.
create function search_pieces(p_text text) returns text[] language sql immutable strict parallel safe as $$
  select coalesce(array_agg(distinct piece), '{}')
  from (select lower(p_text) as lowered) as whole
    cross join generate_series(1, length(lowered)) as at
    cross join generate_series(1, 3) as size
    cross join lateral (select substr(lowered, at, size) as piece) as cut
  where length(piece) = size and piece !~ '\n'
    and case when piece ~ '[\u2e80-\u9fff]' then size <= 2 else size = 3 end
$$;

-- What of a member is searched. The host of an address is left out, because most members share a few.
create function member_words(p_username text, p_name text, p_email text) returns text language sql immutable parallel safe as $$
  select p_username || E'\n' || coalesce(p_name, '') || E'\n' || coalesce(split_part(p_email, '@', 1), '')
$$;

create index users_by_part on users using gin (search_pieces(member_words(username, name, email))) with (fastupdate = off);
-- For a text too short to have pieces.
create index users_by_beginning on users (lower(username) text_pattern_ops);
