-- How long each step of an attempt took, in milliseconds: {dns, connect, tls, answer}. A step that did not end has no time, and
-- earlier attempts have none.
alter table notification_attempts add column step_ms jsonb;
alter table notification_attempts add constraint notification_attempts_step_ms check (jsonb_typeof(step_ms) = 'object') not valid;
alter table notification_attempts validate constraint notification_attempts_step_ms;
