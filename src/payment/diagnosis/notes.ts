/** The problems of a request besides its signature, such as its clock and its amounts. */
import { deceptiveIn } from '../../web/parameters.ts'
import { isMoney } from '../values/money.ts'
import { DRIFT_SECONDS_MAX, Timestamp } from '../values/timestamp.ts'
import type { Mistake } from './mistakes.ts'
import type { Door, Request, Standing } from './request.ts'

const HOUR_SECONDS = 3_600

/** Notes every problem that would refuse the request even with a valid signature. */
export function notesOn(
  { fields, payment_id, charset, nested = [] }: Request,
  parameters: Record<string, string>,
  door: Door,
  { keys, accepts, now }: Standing,
): Mistake[] {
  const notes: Mistake[] = []
  const names = fields.map(([name]) => name)
  const doubled = [...new Set(names.filter((name, i) => names.indexOf(name) !== i))]
  if (charset !== undefined) notes.push({ code: 'sent_charset', what: charset })
  if (doubled.length > 0) notes.push({ code: 'doubled', what: doubled.join(', ') })
  if (nested.length > 0) notes.push({ code: 'nested', what: nested.join(', ') })
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
  notes.push(...clockOf(parameters.timestamp, door, now), ...amountsOf(parameters, door))
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

function amountsOf(
  { amount, charge_max, period_max, points, money }: Record<string, string>,
  door: Door,
): Mistake[] {
  if (door !== 'hmac')
    return money === undefined || isMoney(money) ? [] : [{ code: 'amount_form', what: money.slice(0, 40) }]
  const bad = [amount, charge_max, period_max, points].find(
    (value) => value !== undefined && !/^[1-9]\d{0,15}$/.test(value),
  )
  return bad === undefined ? [] : [{ code: 'amount_form', what: bad.slice(0, 40) }]
}
