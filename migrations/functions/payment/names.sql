-- The names of approved applications in a text. spec/links 5.3.

-- The skeletons of at least p_bytes bytes with which a text begins, the longest first. Each step reads one row: the last name that
-- is not after the text. A shorter name can only begin what that name and the text have in common.
create or replace function names_beginning(p_text text, p_bytes integer) returns setof text stable language plpgsql as $$
declare
  v_text text collate "C" := p_text;
  v_name text collate "C";
begin
  while octet_length(v_text) >= p_bytes loop
    select max(name_skeleton) into v_name from payment_apps
      where status = 'approved' and book = 'live' and name_skeleton <= v_text;
    exit when v_name is null;
    if starts_with(v_text, v_name) then
      exit when octet_length(v_name) < p_bytes;
      return next v_name;
      v_text := left(v_name, -1);
    else
      v_text := left(v_text, (
        select coalesce(max(n), 0) from generate_series(1, length(v_name)) as n where left(v_text, n) = left(v_name, n)
      ));
    end if;
  end loop;
end
$$;
