/**
 * Refuses texts that can be read in two ways. Of all sets of parameters that spell a signed text, at most one is taken,
 * so nobody turns a signature that they hold into one for other parameters. gateway.md 6.1.
 */
import type { AppError } from '../../platform/errors.ts'
import { refusal } from './errors.ts'
import { type Reader, type Reading, readings } from './readings.ts'
import { isOutTradeNo, labelOf } from './trade.ts'

/** Throws parameter_ambiguous, which names the first field that another reading has otherwise. */
export function ambiguous(field: string): AppError {
  return refusal('parameter_ambiguous', `${labelOf(field)}有歧义，签名原文还可读成另一组参数`)
}

/**
 * The rule for what we read: of the readings that we would take, only the first one of `readings` is. It has a separate
 * parameter wherever there can be one, so `name=Tea&note=x` is a name and a note, and `Tea&note=x` is no name.
 * @param sent what was sent, without blanks.
 */
export function requireOneReading(text: string, sent: Reading, reader: Reader): void {
  const [read] = readings(text, reader)
  const other = read && differing(read, sent, Object.keys(reader.takes))
  if (other !== undefined) throw ambiguous(other)
}

/** @param sent what the text says to those whom it is for. */
export function requireNoReading(text: string, sent: Reading, reader: Reader): void {
  const [read] = readings(text, reader)
  if (read !== undefined) throw ambiguous(differing(read, sent, Object.keys(sent)) ?? 'trade_status')
}

function differing(read: Reading, sent: Reading, names: string[]): string | undefined {
  const kept = (value = '') => (value.trim() === '' ? undefined : value)
  return names.sort().find((name) => kept(read[name]) !== kept(sent[name]))
}

const isPaid = (value: string) => value === 'TRADE_SUCCESS'

/** What even a careless shop takes for a notification: it credits this order, and looks at nothing else. */
export const NOTICE: Reader = { needs: ['out_trade_no', 'trade_status'], takes: { trade_status: isPaid } }

/** A number that is followed by text counts as that number: some databases and languages read it so. */
function beginsOtherwise(own: string): (value: string) => boolean {
  return (value) => value.split('&')[0] !== own
}

/**
 * The rule for what we tell shops: their verifiers take any reading. So there must be no other one with all the fields
 * that we always send, and none at all with another order number, other money or another trade_no.
 * @param told the fields of a notification, with any times and a trade_no that no trade has.
 */
export function requireOneNotice(text: string, told: Readonly<Record<string, string>>): void {
  const others: Reader[] = ['out_trade_no', 'money', 'trade_no'].map((name) => ({
    needs: [...NOTICE.needs, name],
    takes: { ...NOTICE.takes, [name]: beginsOtherwise(told[name]!) },
  }))
  for (const other of others) requireNoReading(text, told, other)
  const whole: Reader = {
    needs: Object.keys(told).filter((name) => !['type', 'param', 'buyer'].includes(name)),
    // The two that a field follows which may be missing.
    takes: { ...NOTICE.takes, out_trade_no: isOutTradeNo, api_trade_no: (value) => !value.includes('&') },
  }
  for (const read of readings(text, whole)) {
    const other = differing(read, told, Object.keys(told))
    if (other !== undefined) throw ambiguous(other)
  }
}
