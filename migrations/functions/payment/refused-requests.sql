-- Keeps a refused request, and at most p_max of one application. The oldest request of the network with the most requests goes
-- first, so a forger of requests does not push out the shop's own. It locks the application, so the count is exact.
create or replace function keep_refused_request(
  p_app_id bigint, p_door text, p_path text, p_address text, p_network text, p_code text, p_message text,
  p_fields_encrypted bytea, p_at timestamptz, p_max integer
) returns void language plpgsql as $$
begin
  perform from payment_apps where id = p_app_id for no key update;
  insert into refused_requests (app_id, door, path, address, network, code, message, fields_encrypted, at)
  values (p_app_id, p_door, p_path, p_address, p_network, p_code, p_message, p_fields_encrypted, p_at);
  delete from refused_requests where id in (
    select ranked.id
    from (
      select r.id, row_number() over (partition by r.network order by r.id desc) as of_network
      from refused_requests as r where r.app_id = p_app_id
    ) as ranked
    order by ranked.of_network, ranked.id desc
    offset p_max
  );
end
$$;
