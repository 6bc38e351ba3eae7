/** The problems of a request besides its signature, such as its clock and its amounts. */
import { z } from 'zod'
import { deceptiveIn, isCleanText } from '../../web/parameters.ts'
import { TradeRequest } from '../gateway/shapes.ts'
import { ChargeRequest, OfferRequest, RevokeRequest } from '../hmac/mandate-shapes.ts'
import { ProcessRequest, page, QueryRequest, TransferRequest } from '../hmac/shapes.ts'
import { callRefusal, isMerchantUrl } from '../wire-fields/addresses.ts'
import { DRIFT_SECONDS_MAX, OutTradeNo, Timestamp, withoutBlanks } from '../wire-fields/fields.ts'
import { isMoney, pointsOf } from '../wire-fields/money.ts'
import type { Mistake, NoteCode } from './mistakes.ts'
import type { Door, Receiver, Request } from './request.ts'

const HOUR_SECONDS = 3_600
const SHOWN_MAX = 40

/** The fields whose faults have texts of their own. */
const FORMS: Record<string, NoteCode> = {
  amount: 'amount_form',
  charge_max: 'amount_form',
  period_max: 'amount_form',
  money: 'amount_form',
  out_trade_no: 'out_trade_no_form',
  name: 'name_form',
  notify_url: 'url_form',
  return_url: 'url_form',
}

/** The shapes of the HMAC API's requests, each by parameters that tell it from those below. */
const HMAC_SHAPES: [names: string[], shape: z.ZodObject][] = [
  [['purpose'], OfferRequest],
  [['to_user_id'], TransferRequest],
  [['to_username'], TransferRequest],
  [['reason'], RevokeRequest],
  [['mandate_id', 'amount'], ChargeRequest],
  [['mandate_id', 'order_id'], ChargeRequest],
  [['amount'], ProcessRequest],
  [['description'], ProcessRequest],
  [['order_id'], QueryRequest],
  [['limit'], z.object(page)],
  [['since'], z.object(page)],
  [['until'], z.object(page)],
]

/** Notes every problem that would refuse the request even with a valid signature. */
export function notesOn(
  { fields, payment_id, nested = [], isUnescaped = false }: Request,
  parameters: Record<string, string>,
  door: Door,
  receiver: Receiver,
): Mistake[] {
  const { keys, accepts, now } = receiver
  const notes: Mistake[] = []
  const names = fields.map(([name]) => name)
  const doubled = [...new Set(names.filter((name, i) => names.indexOf(name) !== i))]
  if (!fields.flat().every(isCleanText)) notes.push({ code: 'not_utf8' })
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
 * The fields of a gateway trade that are refused whatever the signature is. Only a new trade has a name or money, and it alone
 * needs both. The gateway reads a blank field as absent.
 */
function tradeFaults(
  parameters: Record<string, string>,
  { allowedCidrs: NOTIFY_ALLOW_CIDRS, exchange_rate }: Receiver,
): Mistake[] {
  const present = withoutBlanks(parameters)
  const { money, notify_url } = present
  // Answers and notifications have a trade_no.
  const isNew = present.trade_no === undefined && (present.name !== undefined || money !== undefined)
  const notes = isNew
    ? formFaults(TradeRequest, present)
    : formFaults(z.object({ out_trade_no: OutTradeNo.optional() }), present)
  if (money !== undefined && isMoney(money) && pointsOf(money, exchange_rate) < 1n)
    notes.push({ code: 'amount_too_small', what: money })
  const isAddress = notify_url !== undefined && isMerchantUrl(notify_url)
  if (isAddress && callRefusal(notify_url, { NOTIFY_ALLOW_CIDRS }) !== undefined)
    notes.push({ code: 'url_never_called', what: new URL(notify_url).host })
  return notes
}

/** The fields of a request of the HMAC API that are refused whatever the signature is. It reads an empty field as absent. */
function fieldFaults(parameters: Record<string, string>): Mistake[] {
  const present = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ''))
  // Orders and transfers as answers and callbacks describe them have a transaction_id.
  if (present.transaction_id !== undefined) return []
  // Some clients call the amount of a transfer points.
  const { amount = present.points } = present
  const named = amount === undefined ? present : { ...present, amount }
  const [, shape] = HMAC_SHAPES.find(([names]) => names.every((name) => name in named)) ?? []
  return shape === undefined ? [] : formFaults(shape, named)
}

/** The parameters that the door refuses by this shape: the absent ones together, and each one of a wrong form. */
function formFaults(shape: z.ZodObject, present: Readonly<Record<string, string>>): Mistake[] {
  const issues = shape.safeParse(present).error?.issues ?? []
  const faulty = [...new Set(issues.map(({ path }) => String(path[0])))].filter(
    // Notes of their own tell of the clock and the application; the verdict tells of the signature.
    (name) => !['timestamp', 'pid', 'sign', 'sign_type', 'signature'].includes(name),
  )
  const missing = faulty.filter((name) => present[name] === undefined)
  const wrong = faulty.filter((name) => present[name] !== undefined)
  return [
    ...(missing.length === 0 ? [] : [{ code: 'field_missing' as const, what: missing.join(', ') }]),
    ...wrong.map((name): Mistake => {
      const code = FORMS[name] ?? 'field_form'
      const isShown = code === 'amount_form' || code === 'out_trade_no_form'
      return { code, what: isShown ? present[name]!.slice(0, SHOWN_MAX) : name }
    }),
  ]
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
