-- Keys of seals that were made under an APP_SECRET which is no longer in use. The key itself is encrypted under the one in
-- use, together with its key_id and the last journal that it may have sealed: who has only the database cannot add a key
-- of theirs, nor make an old one good for later journals.
create table retired_seal_keys (
  id bigint generated always as identity primary key,
  key_id bytea not null,
  last_journal_id bigint not null,
  key_encrypted bytea not null,
  created_at timestamptz not null default now(),
  constraint retired_seal_keys_key_id_key unique (key_id),
  constraint retired_seal_keys_key_id check (octet_length(key_id) = 4)
);
