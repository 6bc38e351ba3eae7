-- Accounts of programs, which lists and counts of members leave out.
alter table users add column is_service boolean not null default false;
create index users_service on users (id) where is_service;
