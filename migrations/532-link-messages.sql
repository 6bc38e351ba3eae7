-- What buyers leave at a link: a name and a message, which its team sees, and which the page shows once the team has approved them.
alter table links add column messages text not null default 'off';
alter table links add constraint links_messages check (messages in ('off', 'private', 'public'));

alter table link_orders add column name text;
alter table link_orders add column message text;
alter table link_orders add column message_state text;
-- An empty name is anonymous.
alter table link_orders add constraint link_orders_message check (
  num_nonnulls(name, message, message_state) in (0, 3) and char_length(name) <= 30 and char_length(message) between 1 and 200
  and message_state in ('waiting', 'shown', 'hidden')
);
create index link_orders_messages on link_orders (link_id, message_state, sold_total) where message is not null;

-- It gains the name and the message.
drop function if exists place_link_order(text, bigint, integer, bigint, text, text, timestamptz, timestamptz);
