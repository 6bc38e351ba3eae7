-- Ending a session lets go of the codes and grants that began in it: without an index each end reads both tables.
create index authorization_codes_session on authorization_codes (session_id) where session_id is not null;
create index grants_session on grants (session_id) where session_id is not null;

-- Who has forgotten a password may know only the address.
create index users_email on users (lower(email)) where email is not null;
