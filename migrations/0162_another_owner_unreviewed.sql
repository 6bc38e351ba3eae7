-- Who is paid is part of what the staff approves: an application that changes hands loses the mark until it is approved
-- again, and one that waits is approved for the owner who was shown.

drop trigger payment_apps_unreviewed_change on payment_apps;
create trigger payment_apps_unreviewed_change
  before update of name, description, callback_url, homepage, logo_url, applicant_id on payment_apps
  for each row when (
    old.book = 'live'
    and (old.name, old.description, old.callback_url, old.homepage, old.logo_url, old.applicant_id)
      is distinct from (new.name, new.description, new.callback_url, new.homepage, new.logo_url, new.applicant_id)
  )
  execute function note_unreviewed_change();

-- As 0147 did for what was edited: those that have changed hands since they were approved are looked at again.
update payment_apps as app
set unreviewed_change_at = date_trunc('milliseconds', handed.at)
from (
  select subject, max(created_at) as at from audit_log where action = 'payment_app.hand_over' group by subject
) as handed
where handed.subject = app.payment_id and app.book = 'live' and app.status in ('approved', 'suspended')
  and handed.at > app.reviewed_at and app.unreviewed_change_at is null;
