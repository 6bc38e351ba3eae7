-- Payouts: up to 1,000 transfers of one application under one reference. functions/payment/payouts.sql has the rules.
create table payouts (
  id bigint generated always as identity primary key,
  app_id bigint not null,
  book text not null,
  reference text not null,
  -- `each` pays every line that can be paid. `all` pays every line, or none.
  mode text not null,
  -- A draft of the merchant's page waits for its owner, and for nothing else.
  status text not null,
  -- Why it halted, was refused or was cancelled.
  reason text,
  -- The owner at the creation, whose points move.
  owner_id bigint not null references users,
  -- A hash of mode and lines: a repeat of the request has the same.
  fingerprint bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  halted_at timestamptz,
  finished_at timestamptz,
  constraint payouts_reference_key unique (app_id, reference),
  constraint payouts_app foreign key (app_id, book) references payment_apps (id, book),
  constraint payouts_reference check (char_length(reference) between 1 and 64),
  constraint payouts_mode check (mode in ('each', 'all')),
  constraint payouts_status check (
    status in ('draft', 'waiting', 'running', 'halted', 'finished', 'refused', 'cancelled')
  ),
  constraint payouts_reason check (
    (status in ('halted', 'refused', 'cancelled')) = (reason is not null)
    and (status <> 'halted' or reason in ('insufficient', 'daily_limit', 'wallet_frozen', 'unusable', 'transfers_off'))
    and (status <> 'refused' or reason = 'lines_refused' and mode = 'all')
    and (status <> 'cancelled' or reason in ('merchant', 'halted_too_long', 'owner_changed', 'account_closed'))
  ),
  constraint payouts_halted check ((status = 'halted') = (halted_at is not null)),
  constraint payouts_finished check ((status in ('finished', 'refused', 'cancelled')) = (finished_at is not null))
);
-- One runs for an application.
create unique index payouts_running on payouts (app_id) where status = 'running';
create index payouts_waiting on payouts (app_id, id) where status = 'waiting';
create index payouts_halted on payouts (halted_at) where status = 'halted';
create index payouts_drafts on payouts (created_at) where status = 'draft';
create index payouts_of_app on payouts (app_id, id);

create table payout_lines (
  payout_id bigint not null references payouts on delete cascade,
  -- From 1, in the order of the request, in which lines are paid.
  n integer not null,
  line_id text not null,
  -- As asked. They name no member where the line is refused for it.
  to_user_id bigint not null,
  to_username text not null,
  amount bigint not null,
  memo text not null,
  status text not null default 'pending',
  -- The outcome of post_transfers that refused the line, with the figures of its message.
  outcome text,
  bound bigint,
  have bigint,
  -- The fee of its transfer; before that, by the rates of the creation.
  fee bigint not null,
  transfer_id bigint references transfers,
  primary key (payout_id, n),
  constraint payout_lines_line_id_key unique (payout_id, line_id),
  constraint payout_lines_transfer_id_key unique (transfer_id),
  constraint payout_lines_n check (n between 1 and 1000),
  constraint payout_lines_line_id check (char_length(line_id) between 1 and 32 and line_id !~ ':'),
  constraint payout_lines_amount check (amount >= 1 and fee >= 0 and amount <= 9007199254740991),
  constraint payout_lines_memo check (char_length(memo) <= 100),
  constraint payout_lines_status check (status in ('pending', 'paid', 'refused', 'cancelled')),
  constraint payout_lines_paid check ((status = 'paid') = (transfer_id is not null)),
  constraint payout_lines_refused check ((status = 'refused') = (outcome is not null))
);
create index payout_lines_pending on payout_lines (payout_id, n) where status = 'pending';
create index payout_lines_memos on payout_lines (to_user_id) where memo <> '';

-- A line as post_transfers judged it. `is_made` says that its transfer was made, now or before, and `locked` names the row that it
-- waits for.
create type judged_line as (
  n integer, outcome text, is_made boolean, locked text, transaction_id text, fee bigint, bound bigint, have bigint
);
