-- Mandates: their periods, their status, their figures, and their end.

-- The day that many months after another one. A short month ends it early: 31 January and one month is 28 February.
create or replace function months_after(p_day date, p_months integer) returns date language sql immutable parallel safe
return (p_day + make_interval(months => p_months))::date;

-- The calendar months from the month of one day to that of another.
create or replace function months_between(p_from date, p_to date) returns integer language sql immutable parallel safe
return (extract(year from p_to) - extract(year from p_from))::integer * 12
  + (extract(month from p_to) - extract(month from p_from))::integer;

-- The first day of the period that holds a day. Periods count from the mandate's first day and never from the period before,
-- so a short month moves no later period. src/payment/mandates/periods.ts has a twin.
create or replace function mandate_period(p_starts_on date, p_period text, p_day date) returns date
  language sql immutable parallel safe
return case p_period
  when 'day' then p_day
  when 'week' then p_starts_on + 7 * floor((p_day - p_starts_on) / 7.0)::integer
  when 'month' then months_after(
    p_starts_on,
    months_between(p_starts_on, p_day)
      - (months_after(p_starts_on, months_between(p_starts_on, p_day)) > p_day)::integer
  )
end;

-- The first day of the period after the one that begins on a day.
create or replace function next_mandate_period(p_starts_on date, p_period text, p_from date) returns date
  language sql immutable parallel safe
return case p_period
  when 'day' then p_from + 1
  when 'week' then p_from + 7
  when 'month' then months_after(p_starts_on, months_between(p_starts_on, p_from) + 1)
end;

-- The day of a moment, for a mandate that is ahead of the calendar by that many days.
create or replace function mandate_day(p_now timestamptz, p_test_days integer) returns date language sql immutable parallel safe
return (p_now at time zone 'Asia/Shanghai')::date + p_test_days;

-- The moment at which a day begins for such a mandate.
create or replace function mandate_day_begins(p_day date, p_test_days integer) returns timestamptz
  language sql immutable parallel safe
return (p_day - p_test_days)::timestamp at time zone 'Asia/Shanghai';

-- The period in which a refusal counts. Before the first day of a mandate and after the last one there is no period. The nearest one
-- stands for it.
create or replace function period_of_refusal(p_mandate mandates, p_outcome text, p_period date, p_now timestamptz) returns date
  language sql immutable parallel safe
return case
  when p_outcome = 'inactive' then mandate_period(
    (p_mandate).starts_on, (p_mandate).period,
    greatest((p_mandate).starts_on, least((p_mandate).ends_on, mandate_day(p_now, (p_mandate).test_days)))
  )
  else p_period
end;

-- Status and reason of a mandate as programs read them: spec/mandates 1.2. The clock decides, before or after the sweep. Only
-- {active, null} can be charged.
create or replace function mandate_status(p_mandate mandates, p_owner_id bigint, p_now timestamptz) returns text[]
  language sql immutable parallel safe
return case
  when (p_mandate).status = 'ended' then array['ended', (p_mandate).ended_reason]
  when (p_mandate).status = 'offered' and (p_mandate).offer_expires_at > p_now then array['pending', 'not_accepted']
  when (p_mandate).status = 'offered' then array['ended', 'lapsed']
  when mandate_day(p_now, (p_mandate).test_days) > (p_mandate).ends_on then array['ended', 'finished']
  when (p_mandate).status = 'paused' then array['paused', 'member']
  when (p_mandate).payee_id <> p_owner_id then array['paused', 'owner_changed']
  when mandate_day(p_now, (p_mandate).test_days) < (p_mandate).starts_on then array['active', 'not_started']
  else array['active', null]
end;

-- A mandate as its merchant and its member may know it, at a moment. The facts of the running period are null unless there is
-- one: before the first day, after the last and after the end there is none.
create or replace function mandate_facts(p_mandate mandates, p_now timestamptz) returns table (
  id bigint, mandate_id text, app_id bigint, book text, reference text, status text, reason text, kind text, purpose text,
  charge_max bigint, period_max bigint, period text, starts_on text, ends_on text, with_token boolean, replaces text,
  user_id bigint, username text, payee_id bigint, accepted_at timestamptz, ended_at timestamptz,
  period_from text, period_to text, spent bigint, remaining bigint, resets_at timestamptz, next_charge_on text,
  version integer, notice text, offer_expires_at timestamptz, created_at timestamptz, updated_at timestamptz
) language plpgsql stable rows 1 as $$
declare
  m constant mandates := p_mandate;
  c_day constant date := mandate_day(p_now, m.test_days);
  v_status text[];
  v_last record;
  v_from date;
  v_next date;
begin
  select mandate_status(m, app.applicant_id, p_now) into v_status from payment_apps as app where app.id = m.app_id;
  select o.mandate_period, o.mandate_spent into v_last from orders as o
  where o.mandate_id = m.id order by o.mandate_period desc, o.mandate_spent desc limit 1;
  if v_status[1] in ('active', 'paused') and c_day between m.starts_on and m.ends_on then
    -- A charge of a process whose clock is ahead may have begun a later period.
    v_from := greatest(mandate_period(m.starts_on, m.period, c_day), v_last.mandate_period);
    v_next := next_mandate_period(m.starts_on, m.period, v_from);
    spent := case when v_last.mandate_period = v_from then v_last.mandate_spent else 0 end;
    remaining := greatest(m.period_max - spent, 0);
    resets_at := mandate_day_begins(v_next, m.test_days);
  end if;
  if m.kind = 'fixed' and v_status[1] = 'active' then
    next_charge_on := case
      when c_day < m.starts_on then m.starts_on
      when spent = 0 then c_day
      when v_next <= m.ends_on then v_next
    end::text;
  end if;
  id := m.id;
  mandate_id := m.mandate_id;
  app_id := m.app_id;
  book := m.book;
  reference := m.reference;
  status := v_status[1];
  reason := v_status[2];
  kind := m.kind;
  purpose := m.purpose;
  charge_max := m.charge_max;
  period_max := m.period_max;
  period := m.period;
  -- Before the acceptance, the days that were asked for.
  starts_on := coalesce(m.starts_on, m.asked_starts_on)::text;
  ends_on := coalesce(m.ends_on, m.asked_ends_on)::text;
  with_token := m.with_token;
  replaces := (select r.mandate_id from mandates as r where r.id = m.replaces);
  user_id := m.user_id;
  username := (select u.username from users as u where u.id = m.user_id);
  payee_id := m.payee_id;
  accepted_at := m.accepted_at;
  ended_at := m.ended_at;
  period_from := v_from::text;
  period_to := (v_next - 1)::text;
  version := m.version;
  notice := m.notice;
  offer_expires_at := m.offer_expires_at;
  created_at := m.created_at;
  updated_at := m.updated_at;
  return next;
end
$$;

-- The terms of a mandate that acts change.
create or replace function mandate_terms(p_mandate mandates) returns jsonb language sql immutable parallel safe
return jsonb_build_object(
  'status', (p_mandate).status, 'charge_max', (p_mandate).charge_max::text, 'period_max', (p_mandate).period_max::text,
  'starts_on', (p_mandate).starts_on, 'ends_on', (p_mandate).ends_on, 'payee_id', (p_mandate).payee_id::text,
  'notice', (p_mandate).notice
);

-- Writes an act on a mandate to the audit log, with the terms before it and as they are now. The log is the evidence of what
-- the member agreed to, and the history that pages show.
create or replace function note_mandate_act(
  p_id bigint, p_action text, p_before jsonb, p_actor_id bigint, p_ip text, p_detail jsonb
) returns void language sql as $$
  insert into audit_log (actor_id, action, subject, detail, ip)
  select p_actor_id, p_action, m.mandate_id, p_detail || jsonb_build_object('before', p_before, 'after', mandate_terms(m)), p_ip
  from mandates as m where m.id = p_id
$$;

-- Ends mandates, in the transaction of the act that ends them, and answers with the ids of those that were not ended before. No
-- mandate ends before a charge: the clocks of two processes may differ. Only charges of its last period can be its latest.
create or replace function end_mandates(
  p_ids bigint[], p_reason text, p_now timestamptz, p_actor_id bigint, p_ip text, p_detail jsonb
) returns bigint[] language plpgsql as $$
declare
  v_mandate mandates;
  v_ended bigint[] := '{}';
begin
  for v_mandate in
    select * from mandates where id = any (p_ids) order by id for no key update
  loop
    continue when v_mandate.status = 'ended';
    update mandates as m
    set status = 'ended', ended_reason = p_reason, version = m.version + 1, updated_at = p_now,
        ended_at = greatest(p_now, (
          select max(o.paid_at) from orders as o
          where o.mandate_id = m.id and o.mandate_period = (
            select last.mandate_period from orders as last where last.mandate_id = m.id
            order by last.mandate_period desc, last.mandate_spent desc limit 1
          )
        ))
    where m.id = v_mandate.id;
    perform note_mandate_act(
      v_mandate.id, 'mandate.end', mandate_terms(v_mandate), p_actor_id, p_ip,
      p_detail || jsonb_build_object('reason', p_reason)
    );
    perform write_mandate_event('mandate.revoked', v_mandate.id);
    v_ended := v_ended || v_mandate.id;
  end loop;
  return v_ended;
end
$$;

-- Ends mandates whose last day is over, and answers how many, p_max at most. The clock refuses their charges anyway. It skips a
-- mandate that another transaction has locked.
create or replace function finish_mandates(p_now timestamptz, p_max integer) returns integer language sql as $$
  select coalesce(cardinality(end_mandates(array_agg(due.id), 'finished', p_now, null, null, '{"by": "service"}')), 0)
  from (
    select m.id from mandates as m
    where m.status in ('active', 'paused') and m.ends_on - m.test_days < mandate_day(p_now, 0)
    order by m.ends_on - m.test_days limit p_max for no key update skip locked
  ) as due
$$;

-- Refuses changes of what was offered and of whom it binds, a last day beyond the one that was offered, and every way out of the
-- end.
create or replace function refuse_mandate_change() returns trigger language plpgsql as $$
begin
  raise exception 'mandate % cannot be changed so', old.mandate_id
    using errcode = 'check_violation', constraint = 'mandates_kept';
end
$$;
create or replace trigger mandates_kept before update on mandates
  for each row when (
    (
      old.mandate_id, old.app_id, old.book, old.reference, old.kind, old.purpose, old.period, old.asked_charge_max,
      old.asked_period_max, old.asked_starts_on, old.asked_ends_on, old.only_user_id, old.with_token, old.replaces
    ) is distinct from (
      new.mandate_id, new.app_id, new.book, new.reference, new.kind, new.purpose, new.period, new.asked_charge_max,
      new.asked_period_max, new.asked_starts_on, new.asked_ends_on, new.only_user_id, new.with_token, new.replaces
    )
    or (
      old.accepted_at is not null
      and (old.user_id, old.starts_on, old.accepted_at) is distinct from (new.user_id, new.starts_on, new.accepted_at)
    )
    or (new.ends_on > new.asked_ends_on and new.ends_on is distinct from old.ends_on)
    or (
      old.status = 'ended'
      and (old.status, old.ended_reason, old.ended_at) is distinct from (new.status, new.ended_reason, new.ended_at)
    )
  )
  execute function refuse_mandate_change();
