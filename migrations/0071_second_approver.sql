-- Corrections that one administrator proposes and another approves, while the setting second_approver is on.

create table correction_proposals (
  id bigint generated always as identity primary key,
  kind text not null,
  -- The order or transfer; null for points by hand.
  transaction_id text,
  -- Of a refund: whole points to give back.
  amount bigint,
  with_fee boolean,
  -- Of points by hand: [{user_id, username, amount}], resolved when it was proposed.
  lines jsonb,
  reason text not null,
  -- Made with the form: proposed twice is proposed once, and the act is done once.
  key text not null,
  proposed_by bigint not null references users,
  proposed_at timestamptz not null,
  expires_at timestamptz not null,
  decision text,
  decided_by bigint references users,
  decided_at timestamptz,
  created_at timestamptz not null default now(),
  constraint correction_proposals_key_key unique (key),
  constraint correction_proposals_kind check (kind in ('refund', 'reversal', 'points')),
  constraint correction_proposals_facts check (
    (kind = 'points') = (transaction_id is null) and (kind = 'points') = (lines is not null)
    and (kind = 'points') = (with_fee is null) and (kind = 'refund') = (amount is not null)
  ),
  constraint correction_proposals_amount check (amount >= 1),
  constraint correction_proposals_decision check (decision in ('approved', 'declined', 'withdrawn')),
  constraint correction_proposals_decided check (num_nonnulls(decision, decided_by, decided_at) in (0, 3)),
  -- What the whole table is for.
  constraint correction_proposals_two_people check (decision = 'withdrawn' or decided_by <> proposed_by),
  constraint correction_proposals_own_withdrawal check (decision <> 'withdrawn' or decided_by = proposed_by),
  constraint correction_proposals_in_time check (decision <> 'approved' or decided_at < expires_at)
);
create index correction_proposals_open on correction_proposals (id) where decision is null;

-- A proposal is decided once, and is otherwise what was proposed.
create function keep_proposal() returns trigger language plpgsql as $$
begin
  if old.decision is not null
    or to_jsonb(new) - 'decision' - 'decided_by' - 'decided_at'
      <> to_jsonb(old) - 'decision' - 'decided_by' - 'decided_at'
  then
    raise exception 'a proposal is decided once and never changed' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger correction_proposals_kept before update on correction_proposals
  for each row execute function keep_proposal();
create trigger correction_proposals_not_deleted before delete or truncate on correction_proposals
  for each statement execute function refuse_change();
