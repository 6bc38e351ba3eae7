-- The mandate that the authorization request named (RFC 9396). The tokens of the grant answer with it, if the member allowed it.
-- No foreign key: an offer that nobody accepted is deleted, and the tokens then still say that nothing was allowed.
alter table authorization_codes add column mandate_id bigint;
alter table grants add column mandate_id bigint;
