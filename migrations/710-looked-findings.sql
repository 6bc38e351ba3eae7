-- Findings of suspicious activity that an administrator has looked at. One stays away until its figure has grown, or for 30 days.
create table looked_findings (
  -- The pattern, and the member, ring or address that it is about.
  finding text primary key,
  -- What was seen: points, or accounts of an address.
  size bigint not null,
  note text not null,
  looked_by bigint not null references users,
  looked_at timestamptz not null,
  constraint looked_findings_finding check (finding ~ '^(rings|movers|byRecipient|byTips|byAddress):[!-~]{1,120}$'),
  constraint looked_findings_size check (size > 0),
  constraint looked_findings_note check (char_length(note) <= 500)
);
create index looked_findings_age on looked_findings (looked_at);
