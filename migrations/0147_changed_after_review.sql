-- What the staff approved of a live application, and buyers are told so, is what was there then. A change of it takes the
-- mark away, whoever makes it, until the application is approved again; sales go on meanwhile.

alter table payment_apps add column unreviewed_change_at timestamptz;

create function note_unreviewed_change() returns trigger language plpgsql as $$
begin
  -- As exact as forms carry it: a reviewer approves what was shown, and no later change.
  new.unreviewed_change_at := date_trunc('milliseconds', new.updated_at);
  return new;
end
$$;
create trigger payment_apps_changed_after_review
  before update of name, description, callback_url, homepage, logo_url on payment_apps
  for each row when (
    old.book = 'live' and old.status in ('approved', 'suspended')
    and (old.name, old.description, old.callback_url, old.homepage, old.logo_url)
      is distinct from (new.name, new.description, new.callback_url, new.homepage, new.logo_url)
  )
  execute function note_unreviewed_change();

-- Of those approved before nobody wrote down what an edit has changed: whichever had one is looked at again.
update payment_apps as app
set unreviewed_change_at = date_trunc('milliseconds', edit.at)
from (
  select subject, max(created_at) as at from audit_log where action = 'payment_app.edit' group by subject
) as edit
where edit.subject = app.payment_id and app.book = 'live' and app.status in ('approved', 'suspended')
  and edit.at > app.reviewed_at;
