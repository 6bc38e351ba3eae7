-- A sender's last transfer is found by ranges over the index that ends with the id: else Postgres, on a site where few have
-- ever sent, walks the transfers of everybody for one who has not, in the middle of the act, with the wallets locked.

do $do$
declare
  c_old constant text := 'select day, day_points from transfers where from_user_id = sender.id and book = app.book order by id desc limit 1';
  c_new constant text := 'select day, day_points from transfers
      where (from_user_id, book, id) > (sender.id, app.book, 0)
        and (from_user_id, book, id) < (sender.id, app.book, 9223372036854775807)
      order by from_user_id desc, book desc, id desc limit 1';
  v_definition constant text := (select pg_get_functiondef(oid) from pg_proc where proname = 'post_transfers');
begin
  if (length(v_definition) - length(replace(v_definition, c_old, ''))) / length(c_old) is distinct from 1 then
    raise exception 'what is to be replaced is not there once in post_transfers';
  end if;
  execute replace(v_definition, c_old, c_new);
end
$do$;
