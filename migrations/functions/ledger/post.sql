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
  v_postings posting[];
begin
  select id into strict v_issuance_id from ledger_accounts where kind = 'issuance' and book = 'test';
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
  select array_agg(
    row(book, 'play:' || user_id, null, now(), id, v_issuance_id, null, -play_points(), 0)::posting order by id
  ) into v_postings
  from opened where book = 'test';
  if v_postings is not null then perform post_journals('grant', 'Play points of test mode', v_postings); end if;
end
$$;

-- Locks the wallets of these members in these books, by id, and opens the missing ones. Answers with their balances and whether
-- they are frozen. With p_skips it leaves out those that another transaction has locked, and new test wallets while the issuance of
-- play points is locked. It looks wallets up one by one and locks
-- them by id: a plan that looked them up by their members in the order of ids could read every wallet.
create or replace function lock_wallets(p_user_ids bigint[], p_books text[], p_skips boolean default false)
  returns locked_wallets language plpgsql as $$
declare
  v_ids bigint[];
  v_can_issue boolean := true;
  v_locked locked_wallets;
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
    if p_skips and 'test' = any (p_books) then
      perform from ledger_accounts where kind = 'issuance' and book = 'test' for update skip locked;
      v_can_issue := found;
    end if;
    perform open_wallets(array_agg(party.user_id), array_agg(party.book))
    from unnest(p_user_ids, p_books) as party (user_id, book) where party.book = 'live' or v_can_issue;
  end loop;
  if p_skips then
    select array_agg(wallet.id), array_agg(wallet.balance), array_agg(wallet.frozen_at is not null) into v_locked
    from (
      select l.id, l.balance, l.frozen_at from ledger_accounts as l where l.id = any (v_ids) order by l.id
      for update skip locked
    ) as wallet;
  else
    select array_agg(wallet.id), array_agg(wallet.balance), array_agg(wallet.frozen_at is not null) into v_locked
    from (
      select l.id, l.balance, l.frozen_at from ledger_accounts as l where l.id = any (v_ids) order by l.id for update
    ) as wallet;
  end if;
  return v_locked;
end
$$;

-- Names the locked row that an act waits for, by await_row: its wallet. A new test wallet waits for the issuance of play points.
-- An act does not wait for 0: a new owner or a new member has no live wallet yet, and the next run opens it.
create or replace function wallet_row(p_wallet_id bigint, p_book text) returns text language sql stable as $$
  select 'wallet ' || coalesce(
    p_wallet_id,
    (select id from ledger_accounts where kind = 'issuance' and book = 'test' and book = p_book),
    0
  )
$$;

-- Posts journals with their lines, each as its posting says, and moves the balances. Answers with the ids of the journals, in the
-- order of the postings. Lines of amount zero are left out. The caller has locked every wallet and checked its balance and freeze. A
-- wallet that would fall below zero violates ledger_accounts_not_negative and undoes everything.
create or replace function post_journals(p_kind text, p_reason text, p_postings posting[]) returns bigint[] language plpgsql as $$
declare
  v_journal_ids bigint[];
begin
  with posted as (
    -- Rows get their ids in the order in which they are inserted.
    insert into journal (book, kind, reference, actor_id, reason, posted_at)
    select asked.book, p_kind, asked.reference, asked.actor_id, p_reason, asked.posted_at from unnest(p_postings) as asked
    returning id
  )
  select array_agg(posted.id order by posted.id) into v_journal_ids from posted;

  insert into entries (journal_id, book, account_id, amount)
  select asked.journal_id, asked.book, line.account_id, line.amount
  from unnest(v_journal_ids, p_postings) as asked (journal_id)
  cross join lateral (
    values (from_account_id, -taken), (to_account_id, taken - fee), (fee_account_id, fee)
  ) as line (account_id, amount)
  where line.amount <> 0;

  -- After the entries, because ledger_accounts_frozen_spends_nothing reads them. The fee account stores no balance: every payment
  -- would wait for its row.
  update ledger_accounts as account
  set balance = account.balance + moved.amount
  from (
    select line.account_id, sum(line.amount) as amount
    from unnest(p_postings) as asked
    cross join lateral (values (from_account_id, -taken), (to_account_id, taken - fee)) as line (account_id, amount)
    group by line.account_id
  ) as moved
  where account.id = moved.account_id and moved.amount <> 0;

  return v_journal_ids;
end
$$;
