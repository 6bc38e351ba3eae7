-- Whoever had an application before, and their team, knows its tokens. When it changes hands the team ends, and a token from
-- before moves no points of the new owner: the application sells on, and transfers once its token was replaced.

alter table payment_app_keys add column is_former_owners boolean not null default false;

create or replace function settle_new_owner() returns trigger language plpgsql as $$
begin
  delete from payment_app_members where app_id = new.id;
  delete from payment_app_offers where app_id = new.id;
  update payment_apps set low_balance_points = null, low_balance_at = null where id = new.id;
  update payment_app_keys set is_former_owners = true where app_id = new.id and kind = 'token';
  return null;
end
$$;

drop function payment_apps_with_tokens;
-- Applications by their Payment IDs, with the tokens that requests may be signed with, the current one first.
create function payment_apps_with_tokens(p_payment_ids text[], p_now timestamptz) returns table (
  payment_id text, id bigint, book text, status text, applicant_id bigint, allowed_addresses text[],
  key_id bigint, value_encrypted bytea, last_used_at timestamptz, is_former_owners boolean
) language plpgsql stable
  set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    select app.payment_id, app.id, app.book, app.status, app.applicant_id, app.allowed_addresses::text[],
      key.id, key.value_encrypted, key.last_used_at, key.is_former_owners
    from payment_apps as app
    join payment_app_keys as key on key.app_id = app.id
    where app.payment_id = any (p_payment_ids) and key.kind = 'token' and key.book = app.book
      and (key.valid_to is null or key.valid_to > p_now)
    order by key.id desc;
end
$$;

-- A transfer says whose points it is to move, as known when its signature was checked: another owner, who came in between,
-- is not charged. Null for whoever is the owner.
do $do$
declare
  v_old constant regprocedure := (select oid from pg_proc where proname = 'post_transfers');
  v_definition text := pg_get_functiondef(v_old);
  v_change text[];
begin
  foreach v_change slice 1 in array array[
    ['p_daily_limits bigint[])', 'p_daily_limits bigint[], p_from_user_ids bigint[] default null)'],
    ['p_amounts, p_nows)', 'p_amounts, p_nows, p_from_user_ids)'],
    ['(app_id, order_id, transaction_id, to_user_id, to_username, amount, now, place)',
      '(app_id, order_id, transaction_id, to_user_id, to_username, amount, now, expected_user_id, place)'],
    ['lag(i.place) over', 'i.expected_user_id, lag(i.place) over'],
    ['when asked.app_status <> ''approved''',
      'when asked.expected_user_id <> asked.from_user_id or asked.app_status <> ''approved''']
  ] loop
    if (length(v_definition) - length(replace(v_definition, v_change[1], ''))) / length(v_change[1]) <> 1 then
      raise exception 'what is to be replaced is not there once: %', v_change[1];
    end if;
    v_definition := replace(v_definition, v_change[1], v_change[2]);
  end loop;
  execute v_definition;
  execute format('drop function %s', v_old);
end
$do$;
