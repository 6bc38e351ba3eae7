-- A proposal holds its act as one value. Before, eight columns held the acts of all kinds, and each kind filled some of them.
--   refund    {transaction_id, amount, with_fee}, and request_id when it accepts a merchant's request
--   reversal  {transaction_id, with_fee}
--   points    {lines: [{user_id, username, amount}]}, resolved when they were proposed
--   setting   {setting, value}
--   terms     {payment_id, terms: {fee_rate, daily_payments_max, daily_transfers_max}}
-- Numbers are decimal text, as in forms. src/admin/proposals/acts.ts has the shape of each.
alter table correction_proposals add column act jsonb;

-- A trigger of functions/ keeps proposals from being changed.
alter table correction_proposals disable trigger user;
update correction_proposals set act = case kind
  when 'refund' then jsonb_strip_nulls(jsonb_build_object(
    'transaction_id', transaction_id, 'amount', amount::text, 'with_fee', with_fee,
    'request_id', substring(key from '^request-(\d{1,18})-*$')
  ))
  when 'reversal' then jsonb_build_object('transaction_id', transaction_id, 'with_fee', with_fee)
  when 'points' then jsonb_build_object('lines', lines)
  when 'setting' then jsonb_build_object('setting', setting, 'value', setting_value)
  when 'terms' then jsonb_build_object('payment_id', payment_id, 'terms', terms)
end;
alter table correction_proposals enable trigger user;

alter table correction_proposals
  alter column act set not null,
  drop column transaction_id,
  drop column amount,
  drop column with_fee,
  drop column lines,
  drop column setting,
  drop column setting_value,
  drop column payment_id,
  drop column terms,
  add constraint correction_proposals_act check (
    case kind
      when 'refund' then act ?& array['transaction_id', 'amount', 'with_fee']
      when 'reversal' then act ?& array['transaction_id', 'with_fee']
      when 'points' then jsonb_typeof(act -> 'lines') = 'array'
      when 'setting' then act ?& array['setting', 'value']
      when 'terms' then act ? 'payment_id' and jsonb_typeof(act -> 'terms') = 'object'
    end
  );
