-- Transfers from an application's applicant to a member: the act stands here, as paying does in pay_order.

-- What a member has transferred since a moment, for daily limits.
create index transfers_of_sender on transfers (from_user_id, paid_at);
create index transfers_of_recipient on transfers (to_user_id, id);

-- ceil(amount × rate): decisions.md 6.2. Charged on top of the amount.
create function transfer_fee(p_amount bigint, p_rate numeric) returns bigint
  language sql immutable parallel safe as $$ select ceil(p_amount * p_rate)::bigint $$;

-- What became of a request. `bound` is the limit that refused it (for insufficient: what is needed), `have` the
-- balance. The rest is the transfer, new or of the same order_id before.
create type transfer_result as (
  outcome text, bound bigint, have bigint,
  transaction_id text, status text, amount bigint, fee bigint,
  from_user_id bigint, from_username text, to_user_id bigint, to_username text, paid_at timestamptz
);

-- Transfers once per (application, book, order_id). Outcomes, never raised:
--   completed · exists (the same request before: its result) · changed (same order_id, other recipient or amount)
--   · reversed · unusable (the application is not approved) · mismatch (id and username are not one member)
--   · to_self · below_minimum · above_maximum · daily_limit · insufficient · too_large
-- Rates and bounds come by trust level 0 to 4; a null daily limit is none. The caller has locked the wallets.
create function post_transfer(
  p_app_id bigint, p_order_id text, p_transaction_id text, p_to_user_id bigint, p_to_username text, p_amount bigint,
  p_now timestamptz, p_rates numeric[], p_minimums bigint[], p_maximums bigint[], p_daily_limits bigint[]
) returns transfer_result language plpgsql as $$
declare
  c_points_max constant bigint := 9007199254740991;
  v_result transfer_result;
  v_app payment_apps;
  v_sender users;
  v_recipient users;
  v_before transfers;
  v_level integer;
  v_sender_wallet ledger_accounts;
  v_recipient_wallet_id bigint;
  v_fee_account_id bigint;
  v_today bigint;
  v_journal_id bigint;
begin
  select * into strict v_app from payment_apps where id = p_app_id;
  select * into v_before from transfers where app_id = p_app_id and book = 'live' and order_id = p_order_id;
  if found then
    select case
        when v_before.to_user_id <> p_to_user_id or v_before.amount <> p_amount then 'changed'
        when v_before.status = 'reversed' then 'reversed'
        else 'exists'
      end, null, null, v_before.transaction_id, v_before.status, v_before.amount, v_before.fee,
      v_before.from_user_id, v_before.from_username, v_before.to_user_id, v_before.to_username, v_before.paid_at
    into v_result;
    return v_result;
  end if;

  if v_app.status <> 'approved' then v_result.outcome := 'unusable'; return v_result; end if;
  select * into strict v_sender from users where id = v_app.applicant_id;
  v_level := v_sender.trust_level + 1;
  select * into v_recipient from users where id = p_to_user_id and lower(username) = lower(p_to_username);
  if not found then v_result.outcome := 'mismatch'; return v_result; end if;
  if v_recipient.id = v_sender.id then v_result.outcome := 'to_self'; return v_result; end if;
  if p_amount < p_minimums[v_level] then
    v_result.outcome := 'below_minimum'; v_result.bound := p_minimums[v_level]; return v_result;
  end if;
  if p_amount > p_maximums[v_level] then
    v_result.outcome := 'above_maximum'; v_result.bound := p_maximums[v_level]; return v_result;
  end if;

  v_result.amount := p_amount;
  v_result.fee := transfer_fee(p_amount, p_rates[v_level]);
  if p_amount + v_result.fee > c_points_max then v_result.outcome := 'too_large'; return v_result; end if;
  if p_daily_limits[v_level] is not null then
    -- A day begins at midnight where the forum's people live, as in the gateway's daily figures.
    select coalesce(sum(amount), 0) into v_today from transfers
    where from_user_id = v_sender.id and book = 'live'
      and paid_at >= date_trunc('day', p_now at time zone 'Asia/Shanghai') at time zone 'Asia/Shanghai';
    if v_today + p_amount > p_daily_limits[v_level] then
      v_result.outcome := 'daily_limit'; v_result.bound := p_daily_limits[v_level]; v_result.have := v_today;
      return v_result;
    end if;
  end if;

  select * into v_sender_wallet from ledger_accounts
  where user_id = v_sender.id and book = 'live' and kind = 'wallet' for update;
  if coalesce(v_sender_wallet.balance, 0) < p_amount + v_result.fee then
    v_result.outcome := 'insufficient';
    v_result.bound := p_amount + v_result.fee;
    v_result.have := coalesce(v_sender_wallet.balance, 0);
    return v_result;
  end if;
  select id into strict v_recipient_wallet_id from ledger_accounts
  where user_id = v_recipient.id and book = 'live' and kind = 'wallet' for update;
  select id into strict v_fee_account_id from ledger_accounts where kind = 'fee' and book = 'live';

  v_journal_id := post_journal(
    'live', 'transfer', p_transaction_id, v_sender.id, null, p_now,
    array[v_sender_wallet.id, v_recipient_wallet_id, v_fee_account_id],
    array[-(p_amount + v_result.fee), p_amount, v_result.fee]
  );
  insert into transfers (
    app_id, order_id, transaction_id, amount, fee, from_user_id, from_username, to_user_id, to_username, paid_at, journal_id
  ) values (
    p_app_id, p_order_id, p_transaction_id, p_amount, v_result.fee,
    v_sender.id, v_sender.username, v_recipient.id, v_recipient.username, p_now, v_journal_id
  );
  v_result.outcome := 'completed';
  v_result.transaction_id := p_transaction_id;
  v_result.status := 'completed';
  v_result.from_user_id := v_sender.id;
  v_result.from_username := v_sender.username;
  v_result.to_user_id := v_recipient.id;
  v_result.to_username := v_recipient.username;
  v_result.paid_at := p_now;
  return v_result;
end
$$;

-- Many transfers in one transaction, in the order given. Every wallet that an item will touch is locked first, by
-- id. Equal order_ids meet there too: they belong to one application, so to one sender's wallet, and the second
-- reads what the first has written.
create function post_transfers(
  p_app_ids bigint[], p_order_ids text[], p_transaction_ids text[], p_to_user_ids bigint[], p_to_usernames text[],
  p_amounts bigint[], p_nows timestamptz[], p_rates numeric[], p_minimums bigint[], p_maximums bigint[],
  p_daily_limits bigint[]
) returns table (item integer, result transfer_result) language plpgsql as $$
declare
  v_parties bigint[];
begin
  select array_agg(distinct party.user_id) into v_parties
  from unnest(p_app_ids, p_to_user_ids) as item (app_id, to_user_id)
  join payment_apps as a on a.id = item.app_id
  cross join lateral (values (a.applicant_id), (item.to_user_id)) as party (user_id)
  where exists (select from users where id = party.user_id);

  insert into ledger_accounts (book, kind, user_id, balance)
  select 'live', 'wallet', party.user_id, 0
  from unnest(v_parties) as party (user_id)
  where not exists (select from ledger_accounts as l where l.user_id = party.user_id and l.book = 'live' and l.kind = 'wallet')
  order by party.user_id
  on conflict do nothing;

  perform from ledger_accounts
  where kind = 'wallet' and book = 'live' and user_id = any (v_parties)
  order by id for update;

  for i in 1 .. cardinality(p_app_ids) loop
    item := i;
    result := post_transfer(
      p_app_ids[i], p_order_ids[i], p_transaction_ids[i], p_to_user_ids[i], p_to_usernames[i], p_amounts[i],
      p_nows[i], p_rates, p_minimums, p_maximums, p_daily_limits
    );
    return next;
  end loop;
end
$$;
