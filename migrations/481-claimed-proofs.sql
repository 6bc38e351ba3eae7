-- Only the end of a proof moves the next one on, so a process that stops in the middle loses none. Until then its claim keeps other
-- processes away.
alter table books_schedule add column claimed_until timestamptz;
