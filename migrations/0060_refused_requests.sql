-- The last refused requests of each payment application, for its owner to find out why. Encrypted like keys: a
-- request may hold what somebody took for a key's place.
create table refused_requests (
  id bigint generated always as identity primary key,
  app_id bigint not null references payment_apps,
  door text not null,
  -- Without its query.
  path text not null,
  address text not null,
  -- Whom the address stands for when many addresses are one caller's.
  network text not null,
  code text not null,
  message text not null,
  fields_encrypted bytea not null,
  at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint refused_requests_door check (door in ('hmac', 'gateway')),
  constraint refused_requests_sizes check (
    char_length(path) <= 200 and char_length(message) <= 300 and octet_length(fields_encrypted) <= 20000
  )
);
create index refused_requests_of_app on refused_requests (app_id, id);
create index refused_requests_at on refused_requests (at);

-- Keeps one, and no more than p_max of an application. What goes first is the oldest of whoever has most of them, so
-- that somebody who forges requests does not push out the shop's own.
create function keep_refused_request(
  p_app_id bigint, p_door text, p_path text, p_address text, p_network text, p_code text, p_message text,
  p_fields_encrypted bytea, p_at timestamptz, p_max integer
) returns void language plpgsql as $$
begin
  -- One at a time for each application, so that the count is exact whichever processes are at it.
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
