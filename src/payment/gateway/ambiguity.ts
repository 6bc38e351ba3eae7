// This room: the epay gateway: V1 with MD5 and V2 with RSA, from submit.php to the notification.
// Verbs: makeCreateTrade, makeFindTrade, authenticate, signReply, v1Routes, v2Routes.
// Clauses: spec/payment-api 1.6; spec/gateway 1.1–1.3, 1.5–1.9, 2.2–2.4, 3.1–3.3, 4.1–4.2.
/**
 * Refuses signed texts with two readings. At most one set of parameters is accepted for each text, so an attacker cannot
 * reuse a signature for other parameters. spec/gateway 1.5.
 */
import type { AppError } from '../../platform/errors.ts'
import { refusal } from './errors.ts'
import { findReading, type Reader, type Reading, withHeld } from './readings.ts'
import { isOutTradeNo, labelOf } from './trade.ts'

/** Makes the refusal parameter_ambiguous, which names the first field that differs between two readings. */
export function ambiguous(field: string): AppError {
  return refusal('parameter_ambiguous', `${labelOf(field)}有歧义，签名原文还可读成另一组参数`)
}

/**
 * The rule for requests: the sent parameters must be the first reading of the text that the reader accepts. That reading
 * splits at every known name, so `name=Tea&type=x` never is one name if it can be two parameters. An unknown name belongs to
 * the value before it, so `name=Tea&note=x` is one name. Throws parameter_ambiguous.
 * @param sent the sent parameters, without blanks.
 */
export function requireOneReading(text: string, sent: Reading, reader: Reader): void {
  const read = findReading(text, reader)
  const other = read && differing(read, sent, Object.keys(reader.takes))
  if (other !== undefined) throw ambiguous(other)
}

/**
 * Throws parameter_ambiguous if the reader accepts any reading of the text.
 * @param sent the intended parameters of the text.
 */
export function requireNoReading(text: string, sent: Reading, reader: Reader): void {
  const read = findReading(text, reader)
  if (read !== undefined) throw ambiguous(differing(read, sent, Object.keys(sent)) ?? 'trade_status')
}

function differing(read: Reading, sent: Reading, names: string[]): string | undefined {
  const kept = (value = '') => (value.trim() === '' ? undefined : value)
  return names.sort().find((name) => kept(read[name]) !== kept(sent[name]))
}

const isPaid = (value: string) => value === 'TRADE_SUCCESS'

const isOneValue = (value: string) => !value.includes('&')

/** Whether a value has the shape of a pid: a number or a Payment ID. */
const isPid = (value: string) => /^\w+$/.test(value)

/** The minimum of a notification: a careless shop credits the order without reading other fields. */
export const NOTICE: Reader = { needs: ['out_trade_no', 'trade_status'], takes: { trade_status: isPaid } }

/** Whether a value begins with another number. Some languages ignore text after a number. */
function beginsOtherwise(own: string): (value: string) => boolean {
  return (value) => value.split('&')[0] !== own
}

/**
 * Whether every reading of the text has this value at the beginning of the field: the value has no `&`, and only one
 * parameter of the text can have this name.
 */
function beginsOneWay(text: string, name: string, value: string | undefined): boolean {
  if (value === undefined || value.includes('&')) return false
  const [whole, begin] = [`&${text}`, `&${name}=`]
  const at = whole.indexOf(begin)
  return at !== -1 && whole.indexOf(begin, at + 1) === -1
}

/**
 * The rule for notifications, whose verifiers accept any reading. No other reading may have all the fields that we always
 * send and differ in a field of the protocol. No reading at all may have another order number, other money or another trade_no.
 * Throws parameter_ambiguous.
 * @param notice the fields of a notification, with any times and a trade_no that no trade has.
 */
export function requireOneNotice(text: string, notice: Readonly<Record<string, string>>): void {
  const others: Reader[] = ['out_trade_no', 'money', 'trade_no']
    // Saves the search in nearly every notification.
    .filter((name) => !beginsOneWay(text, name, notice[name]))
    .map((name) => ({
      needs: [...NOTICE.needs, name],
      takes: { ...NOTICE.takes, [name]: beginsOtherwise(notice[name]!) },
    }))
  for (const other of others) requireNoReading(text, notice, other)
  const whole: Reader = {
    needs: Object.keys(notice).filter((name) => !['type', 'param', 'buyer'].includes(name)),
    takes: { ...NOTICE.takes, out_trade_no: isOutTradeNo, api_trade_no: isOneValue, pid: isPid },
  }
  const names = Object.keys(notice)
  const other = findReading(text, whole, (read) => differing(withHeld(read), notice, names) !== undefined)
  if (other !== undefined) throw ambiguous(differing(withHeld(other), notice, names)!)
}
