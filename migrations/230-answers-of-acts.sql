-- Their results change: a payment answers with the way back, and a session with its member.
drop function if exists pay_orders(text[], bigint[], bigint[], timestamptz[], numeric);
drop function if exists use_sessions(bytea[], timestamptz, timestamptz);

-- The way back has the token.
drop function if exists live_tokens(bigint[], timestamptz);
