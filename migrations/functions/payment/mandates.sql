-- Mandates: their periods.

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
