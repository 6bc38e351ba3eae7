-- 0145 and 0150 have each changed who calls: a barred owner's application counts as suspended, and a token says whether it
-- is a former owner's. Both hold.
create or replace function payment_apps_with_tokens(p_payment_ids text[], p_now timestamptz) returns table (
  payment_id text, id bigint, book text, status text, applicant_id bigint, allowed_addresses text[],
  key_id bigint, value_encrypted bytea, last_used_at timestamptz, is_former_owners boolean
) language plpgsql stable
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
begin
  return query
    select app.payment_id, app.id, app.book,
      app_standing(app.status, owner.is_banned, owner.suspended_till, p_now), app.applicant_id,
      app.allowed_addresses::text[], key.id, key.value_encrypted, key.last_used_at, key.is_former_owners
    from payment_apps as app
    join users as owner on owner.id = app.applicant_id
    join payment_app_keys as key on key.app_id = app.id
    where app.payment_id = any (p_payment_ids) and key.kind = 'token' and key.book = app.book
      and (key.valid_to is null or key.valid_to > p_now)
    order by key.id desc;
end
$$;
