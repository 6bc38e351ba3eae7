-- Members who joined in the same moment, such as imported ones, are paged by their id within it.
drop index users_created;
create index users_created on users (created_at, id);
