-- When the forum was last seen at each of its ways here, for the administrators. Each process notes it once a minute at most.
create table forum_contacts (
  kind text primary key,
  seen_at timestamptz not null,
  constraint forum_contacts_kind check (kind in ('sign_in', 'webhook', 'wallet'))
);
insert into forum_contacts (kind, seen_at)
  select kind, seen_at from (
    values ('sign_in', (select max(used_at) from forum_nonces)), ('webhook', (select max(received_at) from forum_events))
  ) as known (kind, seen_at)
  where seen_at is not null;
