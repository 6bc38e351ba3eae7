-- The audit log by who acted and by when, page by page, as it is by what was done.
create index audit_log_actor on audit_log (actor_id, id);
create index audit_log_created on audit_log (created_at);
