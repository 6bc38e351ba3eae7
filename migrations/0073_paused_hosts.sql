-- Hosts that no notification is sent to for now. What is due for them waits, and goes out when they are resumed.

create table paused_hosts (
  host text collate "C" primary key,
  reason text not null,
  paused_by bigint not null references users,
  paused_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint paused_hosts_host_length check (char_length(host) between 1 and 255)
);

-- One more condition in the choice of what is claimed, in the function as it is now.
do $$
declare
  v_lane constant text := 'due.status = ''due'' and due.host = load.host';
  v_definition constant text := pg_get_functiondef('claim_notifications'::regproc);
begin
  if strpos(v_definition, v_lane) = 0 then raise exception 'claim_notifications has no lanes to pause'; end if;
  execute replace(
    v_definition, v_lane, 'not exists (select from paused_hosts as p where p.host = load.host) and ' || v_lane
  );
end
$$;
