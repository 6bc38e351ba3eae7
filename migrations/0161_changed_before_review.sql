-- A reviewer approves what was shown, of an application that waits as much as of one in use: every change of a live one
-- is noted, and each note differs from the one before, though both changes came in the same millisecond.

create or replace function note_unreviewed_change() returns trigger language plpgsql as $$
begin
  -- As exact as forms carry it.
  new.unreviewed_change_at := greatest(
    date_trunc('milliseconds', new.updated_at),
    old.unreviewed_change_at + interval '1 millisecond'
  );
  return new;
end
$$;

drop trigger payment_apps_changed_after_review on payment_apps;
create trigger payment_apps_unreviewed_change
  before update of name, description, callback_url, homepage, logo_url on payment_apps
  for each row when (
    old.book = 'live'
    and (old.name, old.description, old.callback_url, old.homepage, old.logo_url)
      is distinct from (new.name, new.description, new.callback_url, new.homepage, new.logo_url)
  )
  execute function note_unreviewed_change();

-- What is in use and waits to be approved again, beside payment_apps_review.
create index payment_apps_review_again on payment_apps (id)
  where status = 'approved' and unreviewed_change_at is not null;
