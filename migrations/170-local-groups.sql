-- Groups that administrators make here. Group rules name them like groups of the forum.

create table local_groups (
  id bigint generated always as identity primary key,
  -- Rules name groups by text, so a group is never renamed.
  name text not null,
  description text not null default '',
  created_at timestamptz not null default now(),
  constraint local_groups_name_shape check (name ~ '^[^[:space:][:cntrl:]]{1,60}$'),
  -- These names mean a trust level, a role or a state, or could pass for one.
  constraint local_groups_name_free
    check (lower(name) !~ '^(trust_level_.*|admins|moderators|staff|everyone|banned|suspended)$'),
  constraint local_groups_description_length check (char_length(description) <= 200),
  -- For the members of a group, which have its name.
  constraint local_groups_id_name_key unique (id, name)
);
create unique index local_groups_name_key on local_groups (lower(name));

-- A row of user_groups is of the forum or of a local group. Rows that no forum gave become members of a group of their name.
-- An unfit name ends the upgrade. Only statements by hand can have made such a row.
alter table user_groups add column local_group_id bigint;
insert into local_groups (name) select min(name) from user_groups where not from_forum group by lower(name);
update user_groups as member set local_group_id = local.id, name = local.name
  from local_groups as local where lower(local.name) = lower(member.name) and not member.from_forum;
delete from user_groups where from_forum and lower(name) in (select lower(name) from local_groups);
alter table user_groups add constraint user_groups_one_source check (from_forum = (local_group_id is null));
alter table user_groups add constraint user_groups_local_group foreign key (local_group_id, name)
  references local_groups (id, name) on delete cascade;
create index user_groups_of_local_group on user_groups (local_group_id, user_id) where local_group_id is not null;
create index user_groups_forum_name on user_groups (lower(name)) where from_forum;
