-- What a member typed in a form, while the browser goes to a fresh sign-in or to the other language. A row lives for minutes.
-- The id is the hash of a cookie, the member and the address of the form's page. The form is encrypted, without passwords and codes.
create table kept_forms (
  id bytea primary key,
  form bytea not null,
  expires_at timestamptz not null,

  constraint kept_forms_id_sha256 check (octet_length(id) = 32),
  constraint kept_forms_form_length check (octet_length(form) between 1 and 100000)
);
create index kept_forms_end on kept_forms (expires_at);
