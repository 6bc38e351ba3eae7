/** The problems of a request besides its signature, such as its clock and its amounts. */
import type { z } from 'zod'
import { deceptiveIn } from '../../web/parameters.ts'
import { TradeRequest } from '../gateway/shapes.ts'
import { callRefusal, isMerchantUrl } from '../wire-fields/addresses.ts'
import {
  Amount,
  Description,
  DRIFT_SECONDS_MAX,
  MandateId,
  NewTradeNo,
  OrderId,
  OutTradeNo,
  Timestamp,
  TradeName,
  TransactionId,
  UserId,
  withoutBlanks,
} from '../wire-fields/fields.ts'
import { isMoney, pointsOf } from '../wire-fields/money.ts'
import type { Mistake } from './mistakes.ts'
import type { Door, Receiver, Request } from './request.ts'

const HOUR_SECONDS = 3_600
const SHOWN_MAX = 40
/** Fields of the HMAC API that mean the same in all its requests. */
const AMOUNTS = ['amount', 'charge_max', 'period_max', 'points']
const FIELDS = {
  order_id: OrderId,
  transaction_id: TransactionId,
  description: Description,
  to_user_id: UserId,
  mandate_id: MandateId,
}

/** Notes every problem that would refuse the request even with a valid signature. */
export function notesOn(
  { fields, payment_id, charset, nested = [], isUnescaped = false }: Request,
  parameters: Record<string, string>,
  door: Door,
  receiver: Receiver,
): Mistake[] {
  const { keys, accepts, now } = receiver
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
  notes.push(...(door === 'hmac' ? fieldFaults(parameters) : tradeFaults(parameters, receiver)))
  return notes
}

/**
 * The fields of a gateway trade that are refused whatever the signature is. Only a new trade has a name or money. The gateway
 * reads a blank field as absent, so only a new trade may lack it.
 */
function tradeFaults(
  parameters: Record<string, string>,
  { allowedCidrs: NOTIFY_ALLOW_CIDRS, exchange_rate }: Receiver,
): Mistake[] {
  const notes: Mistake[] = []
  const present = withoutBlanks(parameters)
  const { notify_url, return_url } = present
  // Answers and notifications have a trade_no.
  const isNew = present.trade_no === undefined && (present.name !== undefined || present.money !== undefined)
  const { out_trade_no, name, money } = isNew ? parameters : present
  const missing = ['out_trade_no', 'name', 'money'].filter((field) => parameters[field] === undefined)
  if (isNew && missing.length > 0) notes.push({ code: 'field_missing', what: missing.join(', ') })
  if (money !== undefined && !isMoney(money))
    notes.push({ code: 'amount_form', what: money.slice(0, SHOWN_MAX) })
  else if (money !== undefined && pointsOf(money, exchange_rate) < 1n)
    notes.push({ code: 'amount_too_small', what: money })
  for (const field of ['type', 'param'] as const)
    if (!TradeRequest.shape[field].safeParse(present[field]).success)
      notes.push({ code: 'field_form', what: field })
  const shape = isNew ? NewTradeNo : OutTradeNo
  if (out_trade_no !== undefined && !shape.safeParse(out_trade_no).success)
    notes.push({ code: 'out_trade_no_form', what: out_trade_no.slice(0, SHOWN_MAX) })
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
    return [{ code: 'timestamp_form', what: timestamp.slice(0, SHOWN_MAX) }]
  const behind = Math.floor(now.getTime() / 1000) - Number(timestamp)
  if (Math.abs(behind) <= DRIFT_SECONDS_MAX) return []
  const hours = Math.round(behind / HOUR_SECONDS)
  const isWhole =
    hours !== 0 && Math.abs(hours) <= 14 && Math.abs(behind - hours * HOUR_SECONDS) <= DRIFT_SECONDS_MAX
  return [
    isWhole ? { code: 'time_zone', what: String(hours) } : { code: 'stale_clock', what: String(behind) },
  ]
}

/** The fields of a request of the HMAC API that are refused whatever the signature is. */
function fieldFaults(parameters: Record<string, string>): Mistake[] {
  const isBad = (field: string, schema: z.ZodType) =>
    parameters[field] !== undefined && !schema.safeParse(parameters[field]).success
  const amount = AMOUNTS.find((field) => isBad(field, Amount))
  const bad = Object.entries(FIELDS).filter(([field, schema]) => isBad(field, schema))
  return [
    ...(amount === undefined
      ? []
      : [{ code: 'amount_form' as const, what: parameters[amount]!.slice(0, SHOWN_MAX) }]),
    ...bad.map(([field]) => ({ code: 'field_form' as const, what: field })),
  ]
}
