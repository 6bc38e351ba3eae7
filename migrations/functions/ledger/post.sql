-- The only functions that write journals, entries and balances; the wallets that they move points between, and the rules of who
-- may spend and what a test wallet opens with.

-- A banned or suspended member spends nothing, and their applications count as suspended.
create or replace function is_banned_or_suspended(p_is_banned boolean, p_suspended_till timestamptz, p_now timestamptz) returns boolean
  language sql immutable parallel safe
return coalesce(p_is_banned or p_suspended_till > p_now, false);

-- The points of a new test wallet.
create or replace function play_points() returns bigint language sql immutable parallel safe as $$ select 1000000::bigint $$;

-- Opens the wallets that these members do not have yet in these books. A wallet of the test book opens with play points, out of
-- the issuance account of the test book.
create or replace function open_wallets(p_user_ids bigint[], p_books text[]) returns void language plpgsql as $$
declare
  v_issuance_id bigint;
  v_ids bigint[];
  v_references text[];
  v_count integer;
begin
  with opened as (
    insert into ledger_accounts (book, kind, user_id, balance)
    select party.book, 'wallet', party.user_id, 0
    from unnest(p_user_ids, p_books) as party (user_id, book)
    where not exists (
      select from ledger_accounts as l
      where l.user_id = party.user_id and l.book = party.book and l.kind = 'wallet'
      offset 0
    )
    -- In the order of keys, so that two transactions never wait for each other's new wallets in a circle.
    order by party.user_id, party.book
    on conflict do nothing
    returning id, user_id, book
  )
  select array_agg(id order by id), array_agg('play:' || user_id order by id), count(*) into v_ids, v_references, v_count
  from opened where book = 'test';
  if v_count = 0 then return; end if;

  select id into strict v_issuance_id from ledger_accounts where kind = 'issuance' and book = 'test';
  perform post_journals(
    'grant', array_fill('test'::text, array[v_count]), v_references, array_fill(null::bigint, array[v_count]),
    'Play points of test mode', array_fill(now(), array[v_count]),
    array(select generate_series(1, v_count)) || array(select generate_series(1, v_count)),
    v_ids || array_fill(v_issuance_id, array[v_count]),
    array_fill(play_points(), array[v_count]) || array_fill(-play_points(), array[v_count])
  );
end
$$;

-- Locks the wallets of these members in these books, by id, and opens the missing ones. Answers with their balances and whether
-- they are frozen. With p_skips it leaves out those that another transaction has locked. It looks wallets up one by one and locks them by id: a plan that looked them up by their members in the
-- order of ids could read every wallet.
create or replace function lock_wallets(
  p_user_ids bigint[], p_books text[], p_skips boolean default false,
  out ids bigint[], out balances bigint[], out frozen boolean[]
) language plpgsql as $$
declare
  v_ids bigint[];
begin
  -- Nearly always all wallets exist, and one read is enough.
  for attempt in 1 .. 2 loop
    select array_agg(wallet.id) into v_ids
    from unnest(p_user_ids, p_books) as party (user_id, book)
    cross join lateral (
      select l.id from ledger_accounts as l
      where l.user_id = party.user_id and l.book = party.book and l.kind = 'wallet'
      offset 0
    ) as wallet;
    exit when cardinality(v_ids) is not distinct from cardinality(p_user_ids);
    perform open_wallets(p_user_ids, p_books);
  end loop;
  if p_skips then
    select array_agg(wallet.id), array_agg(wallet.balance), array_agg(wallet.frozen_at is not null)
    into ids, balances, frozen
    from (
      select l.id, l.balance, l.frozen_at from ledger_accounts as l where l.id = any (v_ids) order by l.id
      for update skip locked
    ) as wallet;
  else
    select array_agg(wallet.id), array_agg(wallet.balance), array_agg(wallet.frozen_at is not null)
    into ids, balances, frozen
    from (
      select l.id, l.balance, l.frozen_at from ledger_accounts as l where l.id = any (v_ids) order by l.id for update
    ) as wallet;
  end if;
end
$$;

-- Posts journals with their lines and moves the balances. `p_places` tells to which journal, from 1, each line belongs. Answers
-- with the ids of the journals, in their order. Lines of amount zero are left out, and one account may stand in several lines.
-- The caller has locked every wallet and checked its balance and freeze. A wallet that would fall below zero violates
-- ledger_accounts_not_negative and undoes everything.
create or replace function post_journals(
  p_kind text, p_books text[], p_references text[], p_actor_ids bigint[], p_reason text, p_posted_ats timestamptz[],
  p_places integer[], p_account_ids bigint[], p_amounts bigint[]
) returns bigint[] language plpgsql as $$
declare
  v_journal_ids bigint[];
begin
  with posted as (
    -- Rows get their ids in the order in which they are inserted.
    insert into journal (book, kind, reference, actor_id, reason, posted_at)
    select asked.book, p_kind, asked.reference, asked.actor_id, p_reason, asked.posted_at
    from unnest(p_books, p_references, p_actor_ids, p_posted_ats) with ordinality
      as asked (book, reference, actor_id, posted_at, place)
    order by asked.place
    returning id
  )
  select array_agg(posted.id order by posted.id) into v_journal_ids from posted;

  insert into entries (journal_id, book, account_id, amount)
  select v_journal_ids[line.place], p_books[line.place], line.account_id, line.amount
  from unnest(p_places, p_account_ids, p_amounts) as line (place, account_id, amount)
  where line.amount <> 0;

  -- The fee account stores no balance: every payment would wait for its row.
  update ledger_accounts as account
  set balance = account.balance + moved.amount
  from (
    select line.account_id, sum(line.amount) as amount
    from unnest(p_account_ids, p_amounts) as line (account_id, amount)
    group by line.account_id
  ) as moved
  where account.id = moved.account_id and account.kind <> 'fee' and moved.amount <> 0;

  return v_journal_ids;
end
$$;

-- Posts one journal.
create or replace function post_journal(
  p_book text, p_kind text, p_reference text, p_actor_id bigint, p_reason text, p_posted_at timestamptz,
  p_account_ids bigint[], p_amounts bigint[]
) returns bigint language plpgsql as $$
declare
  v_journal_ids constant bigint[] := post_journals(
    p_kind, array[p_book], array[p_reference], array[p_actor_id], p_reason, array[p_posted_at],
    array_fill(1, array[cardinality(p_account_ids)]), p_account_ids, p_amounts
  );
begin
  return v_journal_ids[1];
end
$$;
