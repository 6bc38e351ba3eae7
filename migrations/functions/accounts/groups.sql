-- A name belongs to a local group or to groups of the forum, never to both: otherwise a group at the forum could admit its members
-- to what a rule keeps for a local group.

-- The names of the local groups in lower case. Until the transaction ends no local group is created, so the rows of the forum that
-- avoid these names stay correct. The row of forum_api serves as the lock: its other uses change no key.
create or replace function local_group_names() returns setof text language plpgsql as $$
begin
  perform from forum_api for key share;
  return query select lower(name) from local_groups;
end
$$;

create or replace function refuse_local_name() returns trigger language plpgsql as $$
begin
  if lower(new.name) in (select local_group_names()) then
    raise exception 'a local group has the name %', new.name
      using errcode = 'check_violation', constraint = 'user_groups_local_name';
  end if;
  return null;
end
$$;
create or replace trigger user_groups_not_local after insert or update of name, from_forum on user_groups
  for each row when (new.from_forum) execute function refuse_local_name();

-- It waits for transactions that write groups of the forum, and they wait for it.
create or replace function refuse_local_group() returns trigger language plpgsql as $$
begin
  perform from forum_api for update;
  if (select count(*) from local_groups) >= 200 then
    raise exception 'there are 200 local groups already'
      using errcode = 'check_violation', constraint = 'local_groups_max';
  end if;
  if exists (select from user_groups where from_forum and lower(name) = lower(new.name)) then
    raise exception 'a group of the forum has the name %', new.name
      using errcode = 'check_violation', constraint = 'local_groups_forum_name';
  end if;
  return new;
end
$$;
create or replace trigger local_groups_made before insert on local_groups
  for each row execute function refuse_local_group();

create or replace function refuse_new_name() returns trigger language plpgsql as $$
begin
  raise exception 'a local group is never renamed' using errcode = 'restrict_violation';
end
$$;
create or replace trigger local_groups_never_renamed before update of name on local_groups
  for each row execute function refuse_new_name();
