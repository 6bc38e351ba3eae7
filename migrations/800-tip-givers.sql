-- The member who placed a tip, and who alone ends it unpaid. Null for a tip that was placed before this column was there.
alter table tips add column from_user_id bigint references users;
