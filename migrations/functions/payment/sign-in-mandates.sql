-- Mandates that a member allowed while signing in to an application.

-- What a member has granted by a mandate, as tokens and introspection answer it (RFC 9396): spec/mandates 2.4. An empty list where
-- the member has not allowed it. Null without a mandate.
create or replace function granted_details(p_mandate_id bigint, p_user_id bigint, p_now timestamptz) returns json
  language sql stable strict
as $$
  select coalesce(
    (
      select json_build_array(json_build_object(
        'type', 'points_mandate', 'identifier', m.mandate_id, 'payment_id', app.payment_id,
        'status', state.words[1], 'reason', state.words[2], 'kind', m.kind, 'charge_max', m.charge_max,
        'period_max', m.period_max, 'period', m.period, 'starts_on', to_char(m.starts_on, 'YYYY-MM-DD'),
        'ends_on', to_char(m.ends_on, 'YYYY-MM-DD'), 'purpose', m.purpose
      ))
      from mandates as m
      join payment_apps as app on app.id = m.app_id
      cross join lateral (select mandate_status(m, app.applicant_id, p_now) as words) as state
      where m.id = p_mandate_id and m.user_id = p_user_id
    ),
    '[]'
  )
$$;
