-- Bounds the record of refusals by network and in all: one IPv6 subscriber has more addresses than any count by address
-- could bound.
alter table security_events add column network text;
update security_events set network = address;
alter table security_events alter column network set not null;
drop index security_events_address;
create index security_events_network on security_events (network, kind, at);
create index security_events_kind on security_events (kind, at);
