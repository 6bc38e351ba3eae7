-- Tips: a tip is an order of the door `tip`, of the site's own payment application. Its payee is the author of a forum post, not the
-- application's owner. functions/payment/tips.sql has the rules.
alter table orders drop constraint orders_door;
alter table orders add constraint orders_door check (door in ('hmac', 'gateway', 'link', 'tip')) not valid;
alter table orders validate constraint orders_door;

-- The application whose orders are the tips.
alter table payment_apps add column is_tips boolean not null default false;
alter table payment_apps add constraint payment_apps_tips_live check (not is_tips or book = 'live');
-- A mandate would let a program charge, and every order of this application is a tip.
alter table payment_apps add constraint payment_apps_tips_no_mandates check (not is_tips or mandate_right <> 'granted');
create unique index payment_apps_tips on payment_apps (is_tips) where is_tips;

alter table users add column accepts_tips boolean not null default true;

-- Whom the order of a tip pays, and the post that its page named. The post is a label, not a proof.
create table tips (
  order_id bigint primary key references orders,
  to_user_id bigint not null references users,
  post_path text,
  created_at timestamptz not null default now(),
  constraint tips_post_path check (post_path ~ '^/t/[^/?#\s]{1,200}/[0-9]{1,10}(/[0-9]{1,6})?$')
);
create index tips_to on tips (to_user_id, order_id);

-- What a member has given and received on a day (Asia/Shanghai). A refund takes nothing off. Each payment of a tip holds both wallets,
-- so only one at a time counts for a member.
create table tip_days (
  user_id bigint not null references users,
  day date not null,
  given_points bigint not null default 0,
  received_points bigint not null default 0,
  created_at timestamptz not null default now(),
  primary key (user_id, day),
  constraint tip_days_points check (given_points >= 0 and received_points >= 0 and given_points + received_points > 0)
);
create index tip_days_time on tip_days (day);

-- The tips between two members on a day, in both directions.
create table tip_pairs (
  low_id bigint not null references users,
  high_id bigint not null references users,
  day date not null,
  tips integer not null,
  created_at timestamptz not null default now(),
  primary key (low_id, high_id, day),
  constraint tip_pairs_order check (low_id < high_id),
  constraint tip_pairs_tips check (tips > 0)
);
create index tip_pairs_time on tip_pairs (day);

-- Its rows gain the owner's wallet.
drop function if exists payment_facts(asked_payment[]);
