-- Acts of many items skip locked rows and answer their items as busy, so their parameters and results change.
drop function if exists pay_orders(text[], bigint[], bigint[], timestamptz[], numeric);
drop function if exists lock_wallets(bigint[], text[]);
drop function if exists post_transfers(
  bigint[], text[], text[], bigint[], text[], bigint[], timestamptz[], numeric[], bigint[], bigint[], bigint[], bigint[]
);
drop function if exists charge_mandates(
  bigint[], text[], text[], text[], bigint[], text[], timestamptz[], bigint[], bytea[], boolean, numeric, bigint[]
);
drop function if exists refuse_unlocked_wallet(bigint);
drop function if exists receive_orders(jsonb);
drop function if exists place_orders(jsonb);
