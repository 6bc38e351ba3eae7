-- What the buyer's pages remember.

alter table users
  -- Whether `language` was chosen by its member, who then finds it in every browser, or only noticed at a sign-in.
  add column language_chosen boolean not null default false;
