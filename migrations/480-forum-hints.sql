-- A claim takes urgent hints first, then the oldest. The index has that order, so a claim reads one row of it.
drop index forum_members_hinted;
create index forum_members_hinted on forum_members (hint_is_urgent desc, hinted_at) where hinted_at is not null;
-- Few checks fail. Only they are in the index.
create index forum_members_failing on forum_members (retry_at) where failure is not null;
