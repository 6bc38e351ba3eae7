-- For the sweep of families that have ended.
create index grants_expiry on grants (expires_at);
