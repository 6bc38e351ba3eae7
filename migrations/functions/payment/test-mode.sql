-- Test mode: play points, and the book of keys. open_wallets gives a new test wallet its play points.

-- Fills a member's test wallet up again. It locks the issuance account before the wallet, as open_wallets does.
create or replace function refill_play_points(p_user_id bigint, p_key text, p_now timestamptz) returns void language plpgsql as $$
declare
  v_issuance_id bigint;
  v_wallet ledger_accounts;
begin
  select id into strict v_issuance_id from ledger_accounts where kind = 'issuance' and book = 'test' for update;
  select * into v_wallet from ledger_accounts
  where kind = 'wallet' and book = 'test' and user_id = p_user_id for update;
  if not found or v_wallet.balance >= play_points() then return; end if;
  perform post_journals('grant', 'Play points of test mode', array[
    row(
      'test', 'play:' || p_user_id || ':' || p_key, p_user_id, p_now, v_wallet.id, v_issuance_id, null,
      v_wallet.balance - play_points(), 0
    )::posting
  ]);
end
$$;

-- The book of a key is its application's.
create or replace function payment_app_key_book() returns trigger language plpgsql as $$
begin
  select book into new.book from payment_apps where id = new.app_id;
  return new;
end
$$;
create or replace trigger payment_app_keys_book before insert on payment_app_keys
  for each row execute function payment_app_key_book();
