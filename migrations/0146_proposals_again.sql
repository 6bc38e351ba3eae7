-- What was proposed and not approved may be proposed again. Of proposals with one key, one waits or is approved at most; one
-- whose time is over is closed when the next is written.

alter table correction_proposals
  drop constraint correction_proposals_key_key,
  drop constraint correction_proposals_decision,
  drop constraint correction_proposals_decided,
  add constraint correction_proposals_decision check (decision in ('approved', 'declined', 'withdrawn', 'expired')),
  -- Nobody decides that the time is over.
  add constraint correction_proposals_decided check (
    case when decision = 'expired' then decided_by is null and decided_at >= expires_at
    else num_nonnulls(decision, decided_by, decided_at) in (0, 3) end
  );
create unique index correction_proposals_key_key on correction_proposals (key)
  where decision is null or decision = 'approved';
