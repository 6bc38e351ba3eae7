/** Shares as people write them: the stored 0.05 is 5 percent. */

/** Returns a stored share as percent: 0.05 as 5. */
export function percentOf(share: string): string {
  const [whole = '0', places = ''] = share.split('.')
  const padded = places.padEnd(2, '0')
  const percent = `${whole}${padded.slice(0, 2)}`.replace(/^0+(?=\d)/, '')
  const rest = padded.slice(2).replace(/0+$/, '')
  return rest === '' ? percent : `${percent}.${rest}`
}

/** Returns typed percent as a stored share: 5 as 0.05. Undefined for anything but 0 to 100 with at most 4 decimals. */
export function shareOf(percent: string): string | undefined {
  const [, whole, places = ''] = /^(\d{1,3})(?:[.](\d{1,4}))?\s*[%％]?$/.exec(percent.trim()) ?? []
  if (whole === undefined) return undefined
  const padded = whole.padStart(3, '0')
  const share = `${padded.slice(0, -2)}.${padded.slice(-2)}${places}`.replace(/0+$/, '').replace(/\.$/, '')
  return share === '' ? '0' : share
}
