/** The problems of a request besides its signature, such as its clock and its amounts. */
import { deceptiveIn } from '../../web/parameters.ts'
import { callRefusal, isMerchantUrl } from '../wire-fields/addresses.ts'
import {
  DRIFT_SECONDS_MAX,
  NewTradeNo,
  OutTradeNo,
  Timestamp,
  TradeName,
  withoutBlanks,
} from '../wire-fields/fields.ts'
import { isMoney } from '../wire-fields/money.ts'
import type { Mistake } from './mistakes.ts'
import type { Door, Receiver, Request } from './request.ts'

const HOUR_SECONDS = 3_600

/** Notes every problem that would refuse the request even with a valid signature. */
export function notesOn(
  { fields, payment_id, charset, nested = [], isUnescaped = false }: Request,
  parameters: Record<string, string>,
  door: Door,
  { keys, accepts, allowedCidrs, now }: Receiver,
): Mistake[] {
  const notes: Mistake[] = []
  const names = fields.map(([name]) => name)
  const doubled = [...new Set(names.filter((name, i) => names.indexOf(name) !== i))]
  if (charset !== undefined) notes.push({ code: 'sent_charset', what: charset })
  if (doubled.length > 0) notes.push({ code: 'doubled', what: doubled.join(', ') })
  if (nested.length > 0) notes.push({ code: 'nested', what: nested.join(', ') })
  const escaped = names.filter((name) => name.startsWith('amp;'))
  if (isUnescaped || escaped.length > 0) notes.push({ code: 'amp_pasted', what: escaped.join(', ') })
  const unseen = fields
    .map(([name, value]) => [name, deceptiveIn(value)] as const)
    .filter(([, signs]) => signs.length > 0)
  if (unseen.length > 0)
    notes.push({
      code: 'unseen',
      what: unseen.map(([name, signs]) => `${name}: ${signs.join(' ')}`).join(', '),
    })
  const { pid } = parameters
  const claimed = door === 'hmac' ? payment_id : pid
  if (claimed !== undefined && claimed !== keys.payment_id && claimed !== String(keys.pid))
    notes.push({ code: 'other_application', what: claimed })
  if (door !== 'hmac' && !accepts[door]) notes.push({ code: 'version_off', what: door })
  notes.push(...clockOf(parameters.timestamp, door, now))
  notes.push(...(door === 'hmac' ? amountsOf(parameters) : tradeFaults(parameters, allowedCidrs)))
  return notes
}

/**
 * The fields of a gateway trade that are refused whatever the signature is. Only a new trade has a name or money. The gateway
 * reads a blank field as absent, so only a new trade may lack it.
 */
function tradeFaults(
  parameters: Record<string, string>,
  NOTIFY_ALLOW_CIDRS: Receiver['allowedCidrs'],
): Mistake[] {
  const notes: Mistake[] = []
  const present = withoutBlanks(parameters)
  const { notify_url, return_url } = present
  const isNew = present.name !== undefined || present.money !== undefined
  const { out_trade_no, name, money } = isNew ? parameters : present
  if (money !== undefined && !isMoney(money)) notes.push({ code: 'amount_form', what: money.slice(0, 40) })
  const shape = isNew ? NewTradeNo : OutTradeNo
  if (out_trade_no !== undefined && !shape.safeParse(out_trade_no).success)
    notes.push({ code: 'out_trade_no_form', what: out_trade_no.slice(0, 40) })
  if (name !== undefined && !TradeName.safeParse(name).success) notes.push({ code: 'name_form' })
  for (const [field, url] of Object.entries({ notify_url, return_url })) {
    if (url === undefined) continue
    if (!isMerchantUrl(url)) notes.push({ code: 'url_form', what: field })
    else if (field === 'notify_url' && callRefusal(url, { NOTIFY_ALLOW_CIDRS }) !== undefined)
      notes.push({ code: 'url_never_called', what: new URL(url).host })
  }
  return notes
}

function clockOf(timestamp: string | undefined, door: Door, now: Date): Mistake[] {
  if (door === 'v1') return []
  if (timestamp === undefined || timestamp.trim() === '')
    return door === 'v2' ? [{ code: 'timestamp_missing' }] : []
  if (!Timestamp.safeParse(timestamp).success)
    return [{ code: 'timestamp_form', what: timestamp.slice(0, 40) }]
  const behind = Math.floor(now.getTime() / 1000) - Number(timestamp)
  if (Math.abs(behind) <= DRIFT_SECONDS_MAX) return []
  const hours = Math.round(behind / HOUR_SECONDS)
  const isWhole =
    hours !== 0 && Math.abs(hours) <= 14 && Math.abs(behind - hours * HOUR_SECONDS) <= DRIFT_SECONDS_MAX
  return [
    isWhole ? { code: 'time_zone', what: String(hours) } : { code: 'stale_clock', what: String(behind) },
  ]
}

function amountsOf({ amount, charge_max, period_max, points }: Record<string, string>): Mistake[] {
  const bad = [amount, charge_max, period_max, points].find(
    (value) => value !== undefined && !/^[1-9]\d{0,15}$/.test(value),
  )
  return bad === undefined ? [] : [{ code: 'amount_form', what: bad.slice(0, 40) }]
}
