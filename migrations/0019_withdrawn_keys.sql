-- A signing key that may be in the wrong hands is withdrawn: from then on it signs nothing, is published nowhere, and
-- nothing that it signed counts, not even as a hint. Its row stays, so that its name is never given again.
alter table signing_keys
  add column withdrawn_at timestamptz,
  add constraint signing_keys_withdrawn
    check (withdrawn_at is null or (private_encrypted is null and published_until is not null));
