-- What merchants ask administrators to give back. Giving it back is a refund like every other.

create table refund_requests (
  id bigint generated always as identity primary key,
  order_id bigint not null references orders,
  -- Whole points.
  amount bigint not null,
  reason text not null,
  status text not null default 'open',
  asked_by bigint not null references users,
  asked_at timestamptz not null,
  -- What the administrator says to one that is declined.
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
-- One at a time of an order.
create unique index refund_requests_open on refund_requests (order_id) where status = 'open';
create index refund_requests_of_order on refund_requests (order_id, id);
create index refund_requests_waiting on refund_requests (id) where status = 'open';
