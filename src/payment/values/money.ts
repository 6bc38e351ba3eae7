/** Money of the gateway: decimal text in the merchant's currency, and what it is in points. Exact integers only. */

export const MONEY = /^(?=.{1,20}$)\d{1,8}(\.\d{1,2}0*)?$/
const MONEY_PLACES = 2
/** As many as an exchange rate has at most. */
const RATE_PLACES = 6

/** Whether this is an amount as the protocol writes it: ASCII digits, no sign, at most two decimals and zeros behind them. */
export function isMoney(text: string): boolean {
  return MONEY.test(text)
}

/** Money in points, rounded half up; 0 for less than half a point. interface.md, gateway rule 1. */
export function pointsOf(money: string, rate: string): bigint {
  const scale = 10n ** BigInt(MONEY_PLACES + RATE_PLACES)
  return (scaled(money, MONEY_PLACES) * scaled(rate, RATE_PLACES) + scale / 2n) / scale
}

/** Points in money with two decimals, rounded down: nobody is told of more than there is. decisions.md 6.3. */
export function moneyOf(points: bigint, rate: string): string {
  const cents = (points * 10n ** BigInt(MONEY_PLACES + RATE_PLACES)) / scaled(rate, RATE_PLACES)
  const text = cents.toString().padStart(MONEY_PLACES + 1, '0')
  return `${text.slice(0, -MONEY_PLACES)}.${text.slice(-MONEY_PLACES)}`
}

/** A rate between 0 and 1 in percent, without needless zeros. */
export function percentOf(rate: string): string {
  const text = scaled(rate, RATE_PLACES)
    .toString()
    .padStart(RATE_PLACES - 1, '0')
  return `${text.slice(0, -4)}.${text.slice(-4)}`.replace(/\.?0+$/, '')
}

/** Whether two amounts are the same number, however they are written. */
export function isSameMoney(a: string, b: string): boolean {
  return scaled(a, MONEY_PLACES) === scaled(b, MONEY_PLACES)
}

/** Decimal text as an integer of its last place. What stands behind that place is zeros. */
function scaled(text: string, places: number): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(places, '0').slice(0, places))
}
