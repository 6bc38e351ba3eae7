-- apart: it fills an index of all members, and holds no other table meanwhile.
-- The search for members finds any part of what they are called.

-- Versions before 0.1.0 had an index that took five times as long to fill.
drop index if exists users_by_part;
drop function if exists search_pieces(text);

-- The pieces of a text by which any part of it is found: each three characters that follow each other, and of Chinese each
-- one and two, because its words are short. An index uses it, so it belongs to the tables. Most texts have nothing of Chinese,
-- and take the short way. A piece may come twice: the index keeps each once.
create function text_pieces(p_text text) returns text[] language sql immutable strict parallel safe as $$
  select case when p_text ~ '[\u2e80-\u9fff]' then array(
    select piece
    from (select lower(p_text) as lowered) as whole
      cross join generate_series(1, length(lowered)) as at
      cross join generate_series(1, 3) as size
      cross join lateral (select substr(lowered, at, size) as piece) as cut
    where length(piece) = size and piece !~ '\n'
      and case when piece ~ '[\u2e80-\u9fff]' then size <= 2 else size = 3 end
  ) else array(
    select piece
    from (select lower(p_text) as lowered) as whole
      cross join generate_series(1, length(lowered) - 2) as at
      cross join lateral (select substr(lowered, at, 3) as piece) as cut
    where piece !~ '\n'
  ) end
$$;

create index users_by_part on users using gin (text_pieces(member_words(username, name, email))) with (fastupdate = off);
comment on index users_by_part is 'src/accounts/members.ts: finds members by a part of what they are called';
