-- The life of a signing key: made, published, signing from signs_from, followed by another, published until
-- published_until, retired. A retired key keeps its public half, for ID tokens that come back as hints.

alter table signing_keys
  alter column private_encrypted drop not null,
  add constraint signing_keys_private_while_signing
    check (private_encrypted is not null or published_until is not null),
  add constraint signing_keys_published_while_signing check (published_until > signs_from);

-- One key of each algorithm is the newest: whoever makes its successor says when it leaves.
create unique index signing_keys_newest on signing_keys (alg) where published_until is null;
