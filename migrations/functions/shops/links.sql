-- The two applications of a shop have one owner, one name and one logo.

-- Only live applications of one owner are linked. The locks keep the owners until the transaction ends.
create or replace function refuse_link_of_two_owners() returns trigger language plpgsql as $$
declare
  v_signs_in oauth_apps;
  v_sells payment_apps;
begin
  select * into strict v_signs_in from oauth_apps where id = new.oauth_app_id for share;
  select * into strict v_sells from payment_apps where id = new.payment_app_id for share;
  if v_signs_in.owner_id is distinct from v_sells.applicant_id or v_sells.book <> 'live' then
    raise exception 'only live applications of one owner can be linked'
      using errcode = 'check_violation', constraint = 'shop_links_one_owner';
  end if;
  return new;
end
$$;
create or replace trigger shop_links_one_owner before insert or update on shop_links
  for each row execute function refuse_link_of_two_owners();

-- A linked application keeps its owner. A hand-over deletes the link first.
create or replace function refuse_new_owner_of_linked() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'oauth_apps' and exists (select from shop_links where oauth_app_id = new.id)
    or tg_table_name = 'payment_apps' and exists (select from shop_links where payment_app_id = new.id)
  then
    raise exception 'a linked application cannot change hands'
      using errcode = 'check_violation', constraint = 'shop_links_one_owner';
  end if;
  return new;
end
$$;
create or replace trigger oauth_apps_linked_owner before update of owner_id on oauth_apps
  for each row when (old.owner_id is distinct from new.owner_id) execute function refuse_new_owner_of_linked();
create or replace trigger payment_apps_linked_owner before update of applicant_id on payment_apps
  for each row when (old.applicant_id is distinct from new.applicant_id) execute function refuse_new_owner_of_linked();

-- Judged at the end of the transaction, which may write the two rows one after the other.
create or replace function refuse_two_faces() returns trigger language plpgsql as $$
declare
  v_row jsonb := to_jsonb(new);
  -- The row is an application or a link.
  v_oauth_app_id bigint := case when tg_table_name = 'oauth_apps' then v_row ->> 'id' else v_row ->> 'oauth_app_id' end;
  v_payment_app_id bigint := case when tg_table_name = 'payment_apps' then v_row ->> 'id' else v_row ->> 'payment_app_id' end;
begin
  if exists (
    select from shop_links as link
    join oauth_apps as signs_in on signs_in.id = link.oauth_app_id
    join payment_apps as sells on sells.id = link.payment_app_id
    where (link.oauth_app_id = v_oauth_app_id or link.payment_app_id = v_payment_app_id)
      and (signs_in.name, signs_in.logo_url) is distinct from (sells.name, sells.logo_url)
  ) then
    raise exception 'linked applications have one name and one logo'
      using errcode = 'check_violation', constraint = 'shop_links_one_face';
  end if;
  return null;
end
$$;
-- Postgres replaces no constraint trigger.
drop trigger if exists shop_links_one_face on shop_links;
create constraint trigger shop_links_one_face after insert or update on shop_links deferrable initially deferred
  for each row execute function refuse_two_faces();
drop trigger if exists oauth_apps_one_face on oauth_apps;
create constraint trigger oauth_apps_one_face after update of name, logo_url on oauth_apps deferrable initially deferred
  for each row when ((old.name, old.logo_url) is distinct from (new.name, new.logo_url)) execute function refuse_two_faces();
drop trigger if exists payment_apps_one_face on payment_apps;
create constraint trigger payment_apps_one_face after update of name, logo_url on payment_apps deferrable initially deferred
  for each row when ((old.name, old.logo_url) is distinct from (new.name, new.logo_url)) execute function refuse_two_faces();
