-- What a link changed of the name and logo of each application, so that its end can give it back. Null if it changed nothing.
alter table shop_links
  add column oauth_app_before jsonb,
  add column payment_app_before jsonb;
-- What the staff reviewed last, kept while a change of it waits for another review.
alter table oauth_apps add column reviewed_values jsonb;
alter table payment_apps add column reviewed_values jsonb;

-- For the sweep of pictures, which keeps those that an application may get back or that a reviewer compares.
create index shop_links_oauth_app_logo on shop_links ((oauth_app_before ->> 'logo_url'))
  where oauth_app_before ->> 'logo_url' like '/brand/%';
create index shop_links_payment_app_logo on shop_links ((payment_app_before ->> 'logo_url'))
  where payment_app_before ->> 'logo_url' like '/brand/%';
create index oauth_apps_reviewed_logo on oauth_apps ((reviewed_values ->> 'logo_url'))
  where reviewed_values ->> 'logo_url' like '/brand/%';
create index payment_apps_reviewed_logo on payment_apps ((reviewed_values ->> 'logo_url'))
  where reviewed_values ->> 'logo_url' like '/brand/%';
