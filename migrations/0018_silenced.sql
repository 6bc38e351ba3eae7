-- Until when the forum has silenced a member, as the look at an access token asks it: a function for its kept plan.
create function silenced_till(p_user_id bigint) returns timestamptz language plpgsql stable as $$
begin
  return (select m.silenced_till from forum_members as m where m.user_id = p_user_id);
end
$$;
