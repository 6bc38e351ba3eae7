-- The statuses of applications and mandates, the return to a shop and the rounds of the workers have the names of their field.
-- Parameters that name a locked row change their name too. `functions/` has the functions under their new names.
drop function if exists app_standing(text, boolean, timestamptz, timestamptz);
drop function if exists mandate_standing(mandates, bigint, timestamptz);
drop function if exists turn_notifications(jsonb, timestamptz, interval, integer, integer, integer);
drop function if exists turn_logouts(jsonb, timestamptz, interval, integer, integer, integer);
drop function if exists pay_orders(asked_payment[], numeric, boolean, text);
drop function if exists post_transfers(asked_transfer[], numeric[], bigint[], bigint[], bigint[], boolean, text);
drop function if exists charge_mandates(asked_charge[], boolean, numeric, bigint[], boolean, text);
drop function if exists receive_orders(asked_order[], boolean, text);
