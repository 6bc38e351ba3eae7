-- Test mode: applications of the test book, with credentials of their own and play points. Which book an application
-- belongs to is in the key of everything that it has, so that no order, transfer or key of one book can stand under an
-- application of the other; entries could never join accounts of two books (0003).

alter table payment_apps
  add column if not exists book text not null default 'live',
  -- Of a test application: the one that it tries things out for, if there is one.
  add column live_app_id bigint references payment_apps,
  add constraint payment_apps_book check (book in ('live', 'test')),
  add constraint payment_apps_book_key unique (id, book),
  add constraint payment_apps_live_app_id_key unique (live_app_id),
  add constraint payment_apps_twin check (live_app_id is null or book = 'test'),
  -- Nobody takes the one for the other by its name.
  add constraint payment_apps_test_mark check (book = 'live' or payment_id like 'pay\_test%'),
  drop constraint payment_apps_reviewed,
  -- There is nothing to review about play points.
  add constraint payment_apps_reviewed check (
    status = 'pending' or book = 'test' or (reviewed_by is not null and reviewed_at is not null)
  );
-- A pair is one owner's. Whoever takes over one of the two makes another for it.
create function part_twins() returns trigger language plpgsql as $$
begin
  update payment_apps set live_app_id = null where live_app_id is not null and new.id in (id, live_app_id);
  return null;
end
$$;
create trigger payment_apps_part_twins after update of applicant_id on payment_apps
  for each row when (old.applicant_id <> new.applicant_id) execute function part_twins();
-- Far from those of live applications, and still small enough for a 32-bit integer.
create sequence payment_apps_test_pid start with 900000001;

alter table payment_app_keys
  drop constraint payment_app_keys_app_id_fkey,
  add constraint payment_app_keys_app foreign key (app_id, book) references payment_apps (id, book);
alter table orders
  drop constraint orders_app_id_fkey,
  add constraint orders_app foreign key (app_id, book) references payment_apps (id, book),
  -- What a tester has asked to go wrong when this order is paid. See src/payment/test-mode.ts.
  add column forced text,
  add constraint orders_forced check (
    forced is null or (book = 'test' and forced in ('notify_refused', 'notify_slow', 'notify_twice'))
  );
alter table transfers
  drop constraint transfers_app_id_fkey,
  add constraint transfers_app foreign key (app_id, book) references payment_apps (id, book);

-- The book of a key is its application's, whoever stores it.
create function payment_app_key_book() returns trigger language plpgsql as $$
begin
  select book into new.book from payment_apps where id = new.app_id;
  return new;
end
$$;
create trigger payment_app_keys_book before insert on payment_app_keys
  for each row execute function payment_app_key_book();

-- A refund belongs to its order's book. Its journal does already, by refunds_journal.
create function refund_book() returns trigger language plpgsql as $$
begin
  if not exists (select from orders where id = new.order_id and book = new.book) then
    raise exception 'a refund belongs to the book of its order'
      using errcode = 'check_violation', constraint = 'refunds_book';
  end if;
  return new;
end
$$;
create trigger refunds_book before insert on refunds for each row execute function refund_book();

create function play_points() returns bigint language sql immutable parallel safe as $$ select 1000000::bigint $$;

-- A wallet of the test book opens with play points, out of the test book's own issuance: that is how they come into
-- the world, whichever verb first needs the wallet.
create function grant_play_points() returns trigger language plpgsql as $$
declare
  v_issuance_id bigint;
begin
  select id into strict v_issuance_id from ledger_accounts where kind = 'issuance' and book = 'test';
  perform post_journal(
    'test', 'grant', 'play:' || new.user_id, null, 'Play points of test mode', new.created_at,
    array[new.id, v_issuance_id], array[play_points(), -play_points()]
  );
  return null;
end
$$;
create trigger ledger_accounts_play_points after insert on ledger_accounts
  for each row when (new.kind = 'wallet' and new.book = 'test') execute function grant_play_points();

-- Fills a member's test wallet up again. The issuance account is locked before the wallet, as where a wallet opens.
create function refill_play_points(p_user_id bigint, p_key text, p_now timestamptz) returns void language plpgsql as $$
declare
  v_issuance_id bigint;
  v_wallet ledger_accounts;
begin
  select id into strict v_issuance_id from ledger_accounts where kind = 'issuance' and book = 'test' for update;
  select * into v_wallet from ledger_accounts
  where kind = 'wallet' and book = 'test' and user_id = p_user_id for update;
  if not found or v_wallet.balance >= play_points() then return; end if;
  perform post_journal(
    'test', 'grant', 'play:' || p_user_id || ':' || p_key, p_user_id, 'Play points of test mode', p_now,
    array[v_wallet.id, v_issuance_id], array[play_points() - v_wallet.balance, v_wallet.balance - play_points()]
  );
end
$$;

-- How long a shop is left without notification of an order that is told slowly.
create function slow_notify() returns interval language sql immutable parallel safe as $$ select interval '20 seconds' $$;

-- Where a notification goes is a fact of its order, so whoever writes one need not know.
create or replace function notification_route() returns trigger language plpgsql as $$
begin
  select o.app_id, url_host(o.notify_url),
    new.next_attempt_at + case when o.forced = 'notify_slow' then slow_notify() else interval '0' end
  into new.app_id, new.host, new.next_attempt_at
  from orders as o where o.id = new.order_id;
  return new;
end
$$;

create or replace function write_order_event() returns trigger language plpgsql as $$
begin
  insert into notifications (kind, order_id, app_id, host, event_id, occurred_at, facts, next_attempt_at)
  select
    case when new.refunded_amount > old.refunded_amount then 'order.refunded' else 'order.' || new.status end,
    new.id, app.id, url_host(app.events_url), new_event_id(), new.updated_at, to_jsonb(new),
    new.updated_at + case when new.forced = 'notify_slow' then slow_notify() else interval '0' end
  from payment_apps as app where app.id = new.app_id and app.events_url is not null;
  return null;
end
$$;

drop function payment_apps_with_tokens;
-- Applications by their Payment IDs, with the tokens that requests may be signed with, the current one first.
create function payment_apps_with_tokens(p_payment_ids text[], p_now timestamptz) returns table (
  payment_id text, id bigint, book text, status text, allowed_addresses text[],
  key_id bigint, value_encrypted bytea, last_used_at timestamptz
) language plpgsql stable
  set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    select app.payment_id, app.id, app.book, app.status, app.allowed_addresses::text[],
      key.id, key.value_encrypted, key.last_used_at
    from payment_apps as app
    join payment_app_keys as key on key.app_id = app.id
    where app.payment_id = any (p_payment_ids) and key.kind = 'token' and key.book = app.book
      and (key.valid_to is null or key.valid_to > p_now)
    order by key.id desc;
end
$$;

drop function gateway_apps;
-- The application of each request of the gateway, many in one statement, by whichever of its three names it is asked for,
-- with the keys in force. Of these only the Merchant KEY itself: the others are long, and kept ready by those who ask.
create function gateway_apps(p_app_ids bigint[], p_pids bigint[], p_payment_ids text[]) returns table (
  item integer, id bigint, book text, payment_id text, pid bigint, applicant_id bigint, status text, exchange_rate numeric,
  allowed_addresses text[], v1_enabled boolean, v2_enabled boolean,
  merchant_key_id bigint, merchant_key bytea, platform_private_key_id bigint, merchant_public_key_id bigint
) language plpgsql stable
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
begin
  return query
    select asked.item::integer, app.id, app.book, app.payment_id, app.pid, app.applicant_id, app.status, app.exchange_rate,
      app.allowed_addresses::text[], app.v1_enabled, app.v2_enabled, k.id, k.value_encrypted, p.id, m.id
    from unnest(p_app_ids, p_pids, p_payment_ids) with ordinality as asked (app_id, pid, payment_id, item)
    join payment_apps as app on app.id = coalesce(
      asked.app_id,
      (select named.id from payment_apps as named where named.pid = asked.pid),
      (select named.id from payment_apps as named where named.payment_id = asked.payment_id)
    )
    left join payment_app_keys as k
      on k.app_id = app.id and k.book = app.book and k.kind = 'merchant_key' and k.valid_to is null
    left join payment_app_keys as p
      on p.app_id = app.id and p.book = app.book and p.kind = 'platform_private_key' and p.valid_to is null
    left join payment_app_keys as m
      on m.app_id = app.id and m.book = app.book and m.kind = 'merchant_public_key' and m.valid_to is null;
end
$$;

-- The tokens in force of these applications, each in the one book that its application has.
create or replace function live_tokens(p_app_ids bigint[], p_now timestamptz)
  returns table (app_id bigint, value_encrypted bytea, last_used_at timestamptz) language plpgsql stable
  set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    select key.app_id, key.value_encrypted, key.last_used_at
    from payment_app_keys as key
    where key.app_id = any (p_app_ids) and key.kind = 'token'
      and (key.valid_to is null or key.valid_to > p_now)
    order by key.id desc;
end
$$;
