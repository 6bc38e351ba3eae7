/** Names and values of the protocol: how a trade and its times are written, and what no value may look like. Pure. */

const SHANGHAI_OFFSET_MS = 8 * 3_600_000

/** `YYYY-MM-DD HH:MM:SS` in Asia/Shanghai, which is where clients take it to be. */
export function shanghaiTime(moment: Date): string {
  return new Date(moment.getTime() + SHANGHAI_OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ')
}

/** interface.md, Gateway trade: the names that a reader of a signed string could take for a field. */
const FIELDS = [
  'pid',
  'trade_no',
  'out_trade_no',
  'api_trade_no',
  'type',
  'name',
  'money',
  'param',
  'buyer',
  'addtime',
  'endtime',
  'trade_status',
  'status',
  'timestamp',
  'sign',
  'sign_type',
  'notify_url',
  'return_url',
  'method',
  'device',
  'pay_type',
  'code',
]
const FIELD_INSIDE = new RegExp(`&(?:${FIELDS.join('|')})=`)

/**
 * Whether a value holds what reads like another field. Signed strings join values unescaped, so such a value makes one
 * signature fit two sets of parameters. `A & B` and `uid=1` are no such thing. gateway.md 6.1.
 */
export function carriesField(value: string): boolean {
  return FIELD_INSIDE.test(value)
}
