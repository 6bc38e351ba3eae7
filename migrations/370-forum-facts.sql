-- What the forum states about a member is judged fact by fact, and what takes away acts at once.

-- The source of the suspension. A list has a source of its own, because its rows state less than a single read.
alter table forum_members add column suspended_by text;
alter table forum_members add constraint forum_members_suspended_by_known check (suspended_by in ('api', 'list', 'webhook'));
update forum_members set suspended_by = 'api' where suspended_till is not null or is_banned;
alter table forum_members add constraint forum_members_suspended_by_source check (
  (suspended_by is not null) = (suspended_till is not null or is_banned)
);

-- When the forum last stated the rights of staff that the member has, and when they ended because it did not. A member whose
-- rights lapsed gets them back with the next statement.
alter table forum_members add column staff_confirmed_at timestamptz;
alter table forum_members add column staff_lapsed_at timestamptz;
update forum_members set staff_confirmed_at = coalesce(checked_at, created_at);

-- Answers in a row that could not be used. They decide how long the member waits for the next question.
alter table forum_members add column failures smallint not null default 0;
alter table forum_members add constraint forum_members_failures_range check (failures >= 0);

-- A hint of a suspension waits for nothing.
alter table forum_members add column hint_is_urgent boolean not null default false;
alter table forum_members add constraint forum_members_urgent_hint check (not hint_is_urgent or hinted_at is not null);

-- For the API's last answer about anybody, and for the few members who have or had rights of staff from the forum.
create index forum_members_checked on forum_members (checked_at);
create index forum_members_lapsed on forum_members (staff_lapsed_at) where staff_lapsed_at is not null;
create index users_forum_staff on users (id) where forum_id is not null and (is_admin or is_moderator);

-- Answers of DiscourseConnect in a row that stated neither rights nor groups.
alter table forum_api add column answers_without_claims integer not null default 0;
alter table forum_api add constraint forum_api_answers_without_claims check (answers_without_claims >= 0);

-- How often in a row the forum had still to compute the member's score.
alter table forum_members add column score_tries smallint not null default 0;
alter table forum_members add constraint forum_members_score_tries check (score_tries between 0 and 8);
