-- Orders of both doors, transfers, and the administrators' refunds, reversals and proposals.

create table orders (
  id bigint generated always as identity primary key,
  app_id bigint not null,
  book text not null default 'live',
  door text not null,
  -- The merchant's own number: order_id of the HMAC API, out_trade_no of the gateway.
  order_id text not null,
  transaction_id text not null,
  description text not null,
  amount bigint not null,
  status text not null default 'unpaid',
  expires_at timestamptz not null,
  -- Facts of a gateway order, exactly as the merchant sent them.
  trade_no text,
  protocol text,
  pid_sent text,
  money text,
  rate numeric(12, 6),
  type text,
  param text,
  notify_url text,
  return_url text,
  -- Facts of a payment.
  payer_id bigint references users,
  -- The owner at that time. The application may change hands. Its former payments stay with the payee, who refunds them.
  payee_id bigint references users,
  fee bigint,
  merchant_points bigint,
  paid_at timestamptz,
  journal_id bigint,
  refunded_amount bigint not null default 0,
  -- A frozen order cannot be paid.
  frozen_at timestamptz,
  frozen_by bigint references users,
  -- The merchant reads it.
  frozen_reason text,
  -- The failure that a tester chose for this order. See src/payment/orders/test-mode.ts.
  forced text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint orders_journal foreign key (journal_id, book) references journal (id, book),
  constraint orders_app foreign key (app_id, book) references payment_apps (id, book),
  -- The idempotency rule of both doors.
  constraint orders_order_id_key unique (app_id, book, door, order_id),
  constraint orders_transaction_id_key unique (transaction_id),
  constraint orders_transaction_id_shape check (transaction_id ~ '^txn_[a-z0-9]{24}$'),
  constraint orders_book check (book in ('live', 'test')),
  constraint orders_door check (door in ('hmac', 'gateway')),
  constraint orders_status check (status in ('unpaid', 'paid', 'expired', 'closed', 'refunded')),
  constraint orders_amount_range check (amount between 1 and 9007199254740991),
  constraint orders_order_id_length check (char_length(order_id) between 1 and 128),
  constraint orders_gateway_facts check (
    (door = 'gateway') = (trade_no is not null) and (door = 'gateway') = (money is not null)
    and (door = 'gateway') = (rate is not null) and (door = 'gateway') = (notify_url is not null)
    and (door = 'gateway') = (protocol is not null) and (door = 'gateway') = (pid_sent is not null)
  ),
  constraint orders_protocol check (protocol in ('v1', 'v2')),
  constraint orders_trade_no_shape check (trade_no ~ '^[0-9]{1,20}$'),
  constraint orders_paid_facts check (
    num_nonnulls(payer_id, payee_id, fee, merchant_points, paid_at, journal_id)
      = case when status in ('paid', 'refunded') then 6 else 0 end
  ),
  constraint orders_fee_split check (fee >= 0 and merchant_points >= 0 and fee + merchant_points = amount),
  constraint orders_refunded_amount check (refunded_amount between 0 and amount),
  constraint orders_refunded_status check ((status = 'refunded') = (refunded_amount = amount)),
  constraint orders_refunded_paid check (refunded_amount = 0 or paid_at is not null),
  constraint orders_frozen_facts check (num_nonnulls(frozen_at, frozen_by, frozen_reason) in (0, 3)),
  -- A paid order is refunded, not frozen.
  constraint orders_frozen_unpaid check (frozen_at is null or paid_at is null),
  constraint orders_forced check (
    forced is null or (book = 'test' and forced in ('notify_refused', 'notify_slow', 'notify_twice'))
  )
);
-- Each index holds only the rows that its readers need, because it costs every such order a write.
create unique index orders_trade_no_key on orders (trade_no) where trade_no is not null;
create unique index orders_journal_id_key on orders (journal_id) where journal_id is not null;
create index orders_of_app on orders (app_id, id);
create index orders_of_payer on orders (payer_id, id) where payer_id is not null;
-- Sums paid to an application in a time: of both doors for its daily limit, of one door for the gateway's figures.
create index orders_takings on orders (app_id, paid_at) include (amount, door, book) where paid_at is not null;
create index orders_to_expire on orders (expires_at) where status = 'unpaid';
create index orders_frozen on orders (frozen_at) where frozen_at is not null;

-- The request that created an order, without secrets and signatures. The merchant may read it.
create table order_requests (
  order_id bigint not null,
  -- method, path, ip, parameters (pairs of name and value, null where the value is hidden), left_out
  request jsonb not null,
  received_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint order_requests_pkey primary key (order_id),
  constraint order_requests_order foreign key (order_id) references orders,
  constraint order_requests_size check (octet_length(request::text) <= 65536)
);

-- The members who opened an order to pay it, and when first. An order has no payer before it is paid, and a buyer finds it here.
create table order_views (
  user_id bigint not null references users on delete cascade,
  order_id bigint not null references orders,
  viewed_at timestamptz not null,
  created_at timestamptz not null default now(),
  primary key (user_id, order_id)
);
create index order_views_of_order on order_views (order_id);
create index order_views_time on order_views (viewed_at);

create table transfers (
  id bigint generated always as identity primary key,
  app_id bigint not null,
  book text not null default 'live',
  order_id text not null,
  transaction_id text not null,
  status text not null default 'completed',
  amount bigint not null,
  fee bigint not null,
  from_user_id bigint not null references users,
  from_username text not null,
  to_user_id bigint not null references users,
  to_username text not null,
  paid_at timestamptz not null,
  -- The day (Asia/Shanghai) in which the transfer counts, and the sender's total of that day including it. So a daily limit reads
  -- only the sender's last transfer.
  day date not null,
  day_points numeric not null,
  journal_id bigint not null,
  reversal_journal_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Without the book, because an application has one. So Postgres cannot mistake this index for that of senders.
  constraint transfers_order_id_key unique (app_id, order_id),
  constraint transfers_transaction_id_key unique (transaction_id),
  constraint transfers_journal_id_key unique (journal_id),
  constraint transfers_journal foreign key (journal_id, book) references journal (id, book),
  constraint transfers_reversal foreign key (reversal_journal_id, book) references journal (id, book),
  constraint transfers_app foreign key (app_id, book) references payment_apps (id, book),
  constraint transfers_book check (book in ('live', 'test')),
  constraint transfers_status check (status in ('completed', 'reversed')),
  constraint transfers_reversed check ((status = 'reversed') = (reversal_journal_id is not null)),
  constraint transfers_amounts check (amount >= 1 and fee >= 0 and amount + fee <= 9007199254740991),
  constraint transfers_not_to_self check (from_user_id <> to_user_id),
  constraint transfers_day_points check (day_points >= 1)
);
-- A new transfer locks its sender's wallet, so the sender's highest id is the last transfer, independently of the clocks.
create index transfers_of_sender on transfers (from_user_id, book, id);
create index transfers_of_recipient on transfers (to_user_id, id);
create index transfers_of_app on transfers (app_id, paid_at);
create index transfers_of_app_by_id on transfers (app_id, id);

-- The outcome of a transfer request. `bound` is the limit that refused it (for insufficient: the needed points), `have` the
-- balance or the used part. The rest is the transfer: the new one, or the earlier one of the same order_id.
create type transfer_result as (
  outcome text, bound bigint, have bigint,
  transaction_id text, status text, amount bigint, fee bigint,
  from_user_id bigint, from_username text, to_user_id bigint, to_username text, paid_at timestamptz
);

-- Refunds that merchants request from administrators. An accepted request becomes an ordinary refund.
create table refund_requests (
  id bigint generated always as identity primary key,
  order_id bigint not null references orders,
  -- Whole points.
  amount bigint not null,
  reason text not null,
  status text not null default 'open',
  asked_by bigint not null references users,
  asked_at timestamptz not null,
  -- The administrator's answer to a declined request.
  answer text,
  decided_by bigint references users,
  decided_at timestamptz,
  created_at timestamptz not null default now(),
  constraint refund_requests_amount check (amount >= 1),
  constraint refund_requests_reason check (char_length(reason) between 1 and 500),
  constraint refund_requests_answer check (char_length(answer) between 1 and 500),
  constraint refund_requests_status check (status in ('open', 'accepted', 'declined', 'withdrawn')),
  constraint refund_requests_decided check (
    num_nonnulls(decided_by, decided_at) = case when status = 'open' then 0 else 2 end
    and (status = 'declined') = (answer is not null)
  )
);
-- An order has one open request at a time.
create unique index refund_requests_open on refund_requests (order_id) where status = 'open';
create index refund_requests_of_order on refund_requests (order_id, id);
create index refund_requests_waiting on refund_requests (id) where status = 'open';
create index refund_requests_of_asker on refund_requests (asked_by, id);

create table refunds (
  id bigint generated always as identity primary key,
  order_id bigint not null references orders,
  book text not null,
  -- The points that the payer got back, and the part that came out of the fee.
  amount bigint not null,
  fee_part bigint not null,
  reason text not null,
  actor_id bigint not null references users,
  refunded_at timestamptz not null,
  journal_id bigint not null,
  -- The merchant's request that the refund accepts.
  request_id bigint references refund_requests,
  created_at timestamptz not null default now(),
  constraint refunds_journal_id_key unique (journal_id),
  constraint refunds_journal foreign key (journal_id, book) references journal (id, book),
  constraint refunds_amounts check (amount >= 1 and fee_part between 0 and amount)
);
create index refunds_of_order on refunds (order_id, id);
-- A request is accepted by one refund.
create unique index refunds_request_id_key on refunds (request_id);

-- Acts that one administrator proposes and another approves, while the setting second_approver is on.
create table correction_proposals (
  id bigint generated always as identity primary key,
  kind text not null,
  -- What to do, by kind. Numbers are decimal text, as in forms; src/admin/proposals/acts.ts has the shape of each.
  --   refund    {transaction_id, amount, with_fee}, and request_id when it accepts a merchant's request
  --   reversal  {transaction_id, with_fee}
  --   points    {lines: [{user_id, username, amount}]}, resolved when they were proposed
  --   setting   {setting, value}
  --   terms     {payment_id, terms: {fee_rate, daily_payments_max, daily_transfers_max}}
  act jsonb not null,
  reason text not null,
  -- Made with the form, so a form that is sent twice proposes once and acts once.
  key text not null,
  proposed_by bigint not null references users,
  proposed_at timestamptz not null,
  expires_at timestamptz not null,
  decision text,
  decided_by bigint references users,
  decided_at timestamptz,
  created_at timestamptz not null default now(),
  constraint correction_proposals_kind check (kind in ('refund', 'reversal', 'points', 'setting', 'terms')),
  constraint correction_proposals_act check (
    case kind
      when 'refund' then act ?& array['transaction_id', 'amount', 'with_fee'] and (act ->> 'amount')::numeric >= 1
      when 'reversal' then act ?& array['transaction_id', 'with_fee']
      when 'points' then jsonb_typeof(act -> 'lines') = 'array'
      when 'setting' then act ?& array['setting', 'value']
      when 'terms' then act ? 'payment_id' and jsonb_typeof(act -> 'terms') = 'object'
    end
  ),
  constraint correction_proposals_decision check (decision in ('approved', 'declined', 'withdrawn', 'expired')),
  -- A proposal expires by time; no member decides it.
  constraint correction_proposals_decided check (
    case when decision = 'expired' then decided_by is null and decided_at >= expires_at
    else num_nonnulls(decision, decided_by, decided_at) in (0, 3) end
  ),
  -- The rule that this table exists for.
  constraint correction_proposals_two_people check (decision = 'withdrawn' or decided_by <> proposed_by),
  constraint correction_proposals_own_withdrawal check (decision <> 'withdrawn' or decided_by = proposed_by),
  constraint correction_proposals_in_time check (decision <> 'approved' or decided_at < expires_at)
);
create index correction_proposals_open on correction_proposals (id) where decision is null;
-- Of the proposals with one key, at most one waits or is approved. A proposal that was not approved may be made again, and the
-- next one closes an expired one.
create unique index correction_proposals_key_key on correction_proposals (key)
  where decision is null or decision = 'approved';
