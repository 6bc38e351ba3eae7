-- Names of groups that look like a trust level, a role or a state, compared as the names of applications are. Group rules and
-- tokens tell such a group from the real one, but people do not.
create function looks_reserved(p_name text) returns boolean language sql immutable strict parallel safe as $$
  select starts_with(name_skeleton(p_name), name_skeleton('trust_level_')) or name_skeleton(p_name) in (
    select name_skeleton(reserved)
    from unnest(array['admins', 'moderators', 'staff', 'everyone', 'banned', 'suspended']) as reserved
  )
$$;
alter table local_groups drop constraint local_groups_name_free;
alter table local_groups add constraint local_groups_name_free check (not looks_reserved(name));
alter table user_groups add constraint user_groups_name_free check (not looks_reserved(name));
