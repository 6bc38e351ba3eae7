-- What the home page offers: shops and applications that the staff has reviewed, the newest review first.

create index payment_apps_offered on payment_apps (reviewed_at)
  where book = 'live' and status = 'approved' and homepage is not null;
create index oauth_apps_offered on oauth_apps (reviewed_at)
  where reviewed_at is not null and suspended_at is null and homepage is not null;
