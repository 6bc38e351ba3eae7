/** Money of the gateway: decimal text in the merchant's currency, converted to points. Uses exact integers only. */

/** At most 29 characters. The check `orders_money_shape` holds the same rule. */
export const MONEY = /^(\d{1,8}(\.\d{0,20})?|\.\d{1,20})$/
/** The decimals that money may have when a shop sends it. */
const MONEY_PLACES = 20
/** The decimals of money that we write. */
const WRITTEN_PLACES = 2
/** The decimals that an exchange rate may have. */
const RATE_PLACES = 6

/** Whether the text is an amount of the protocol: ASCII digits, no sign, up to 20 decimals. */
export function isMoney(text: string): boolean {
  return MONEY.test(text)
}

/** Converts money to points, rounded half up; less than half a point is 0. spec/gateway 1.6. */
export function pointsOf(money: string, rate: string): bigint {
  const scale = 10n ** BigInt(MONEY_PLACES + RATE_PLACES)
  return (scaled(money, MONEY_PLACES) * scaled(rate, RATE_PLACES) + scale / 2n) / scale
}

/** Converts points to money with two decimals, rounded down so that it never overstates them. spec/gateway 1.6. */
export function moneyOf(points: bigint, rate: string): string {
  const cents = (points * 10n ** BigInt(WRITTEN_PLACES + RATE_PLACES)) / scaled(rate, RATE_PLACES)
  const text = cents.toString().padStart(WRITTEN_PLACES + 1, '0')
  return `${text.slice(0, -WRITTEN_PLACES)}.${text.slice(-WRITTEN_PLACES)}`
}

/** Writes a rate between 0 and 1 in percent, without trailing zeros. */
export function percentOf(rate: string): string {
  const text = scaled(rate, RATE_PLACES)
    .toString()
    .padStart(RATE_PLACES - 1, '0')
  return `${text.slice(0, -4)}.${text.slice(-4)}`.replace(/\.?0+$/, '')
}

/** Whether two amounts are the same number: 1, 1. and 1.00 are. */
export function isSameMoney(a: string, b: string): boolean {
  return scaled(a, MONEY_PLACES) === scaled(b, MONEY_PLACES)
}

/** Decimal text as an integer of units of the last place. The text has no more decimals than that. */
function scaled(text: string, places: number): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(places, '0'))
}
