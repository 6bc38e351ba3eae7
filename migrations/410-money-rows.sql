-- The rows that the functions of money take, pass on and answer. They have no checks: each expression that reads a column of a row
-- copies its description, with its checks.

-- What is asked, one row for each item of a batch, in the order of src/payment. The service makes each array of them.
create type asked_payment as (transaction_id text, payer_id bigint, expected_amount bigint, now timestamptz);
-- from_user_id names the owner whose points the request may move, as known when its signature was checked. Null: the present owner.
create type asked_transfer as (
  app_id bigint, order_id text, transaction_id text, to_user_id bigint, to_username text, amount bigint, now timestamptz,
  from_user_id bigint
);
-- owner_id names the owner when the signature was checked. Null where a former owner knows the key. token_hash is that of the
-- sent access token.
create type asked_charge as (
  app_id bigint, mandate_id text, order_id text, transaction_id text, amount bigint, description text, now timestamptz,
  owner_id bigint, token_hash bytea
);
-- `expires_at` is the site's limit. `received` is the request, without secrets.
create type asked_order as (
  app_id bigint, door text, order_id text, transaction_id text, description text, amount bigint, expires_at timestamptz,
  now timestamptz, trade_no text, protocol text, pid_sent text, money text, rate numeric, type text, param text, notify_url text,
  return_url text, token_id bigint, received jsonb
);

-- The wallets that a batch has locked, and their balances as it goes on. The three lists have one order.
create type locked_wallets as (ids bigint[], balances bigint[], frozen boolean[]);

-- A journal with its lines: one account gives `taken`, another gets it without the fee, and the fee account gets the fee. The lines
-- sum to zero. A refund and a grant are the same with negative points.
create type posting as (
  book text, reference text, actor_id bigint, posted_at timestamptz, from_account_id bigint, to_account_id bigint,
  fee_account_id bigint, taken bigint, fee bigint
);

-- A judged payment. `paid_by` is the payer of its order after it was judged. An order that is paid leads back to its shop.
create type judged_payment as (outcome text, locked text, paid_by bigint, transaction_id_back text);
create type made_payment as (
  order_id bigint, book text, transaction_id text, payer_id bigint, payee_id bigint, amount bigint, fee bigint, at timestamptz,
  payer_wallet_id bigint, payee_wallet_id bigint, fee_account_id bigint, has_notify boolean, has_event boolean
);
-- A paid order, with what leads its payer back to the shop.
create type shop_return as (
  id bigint, app_id bigint, door text, order_id text, transaction_id text, description text, amount bigint, fee bigint,
  merchant_points bigint, payer_id bigint, created_at timestamptz, paid_at timestamptz, forced text, notify_url text,
  return_url text, protocol text, pid_sent text, trade_no text, type text, money text, param text,
  callback_url text, app_homepage text, events_url text, buyer text,
  token bytea, merchant_key bytea, platform_private_key_id bigint
);

-- The day in which a sender's last transfer counts, and the total of that day.
create type sent_of_day as (day date, points numeric);
create type made_transfer as (
  app_id bigint, book text, order_id text, transfer transfer_result, day date, day_points numeric, from_wallet_id bigint,
  to_wallet_id bigint, fee_account_id bigint, has_event boolean
);

-- The member of an access token, and the application that has the token, with its owner.
create type token_holder as (user_id bigint, client_id text, owner_id bigint);
-- What an item of a batch of charges is judged by, read under the locks.
create type charge_facts as (
  item integer, asked asked_charge,
  -- The last item before with this order_id, and the first with this mandate.
  same_before integer, first_of_mandate integer,
  book text, app_status text, applicant_id bigint, mandate_right text, mandate_daily_max bigint, fee_rate numeric,
  daily_payments_max bigint, oauth_client_id text, has_event boolean,
  mandate mandates, member_level integer, member_is_banned_or_suspended boolean,
  period date, spent bigint, lacks integer, lacked_at timestamptz,
  status_before text, mandate_id_before bigint, amount_before bigint,
  member_wallet_id bigint, owner_wallet_id bigint, fee_account_id bigint
);
-- The period in which a mandate counts, and as the batch goes on its sum, the refusals for want of points, and the time of the last.
create type mandate_count as (period date, spent bigint, lacks integer, lacked_at timestamptz);
-- A judged charge. `charged_with` and `charged_amount` are of the order with its order_id, after it was judged.
create type judged_charge as (result charge_result, locked text, charged_with bigint, charged_amount bigint);
create type made_charge as (
  asked asked_charge, book text, payer_id bigint, payee_id bigint, fee bigint, mandate_id bigint, period date, spent bigint,
  charge_max bigint, period_max bigint, member_wallet_id bigint, owner_wallet_id bigint, fee_account_id bigint, has_event boolean
);
create type refused_charge as (
  item integer, mandate_id bigint, period date, order_id text, amount bigint, now timestamptz, result charge_result
);

-- The functions that took and answered lists of single values.
drop function if exists pay_orders(text[], bigint[], bigint[], timestamptz[], numeric, boolean, text);
drop function if exists shop_returns(text[], timestamptz);
drop function if exists post_transfers(
  bigint[], text[], text[], bigint[], text[], bigint[], timestamptz[], numeric[], bigint[], bigint[], bigint[], bigint[], boolean, text
);
drop function if exists charge_mandates(
  bigint[], text[], text[], text[], bigint[], text[], timestamptz[], bigint[], bytea[], boolean, numeric, bigint[], boolean, text
);
drop function if exists write_refusal_events(integer[], bigint[], date[], text[], bigint[], charge_result[], timestamptz[]);
drop function if exists lock_wallets(bigint[], text[], boolean);
drop function if exists receive_orders(jsonb, boolean, text);
drop function if exists place_orders(jsonb, boolean, text);
drop function if exists post_journal(text, text, text, bigint, text, timestamptz, bigint[], bigint[]);
drop function if exists post_journals(text, text[], text[], bigint[], text, timestamptz[], integer[], bigint[], bigint[]);
