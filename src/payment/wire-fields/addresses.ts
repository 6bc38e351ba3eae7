// This room: how amounts, money, addresses and numbers are written on the wire.
// Verbs: pointsOf, moneyOf, isMerchantUrl, isPaymentId.
// Clauses: spec/payment-api 2.4; spec/gateway 1.6.
/** Addresses: those that an application allows to call, as CIDR ranges, and those that it is called at. */
import { isIP } from 'node:net'
import { z } from 'zod'
import { blockListOf, refusalWithoutDns } from '../../egress/guard.ts'
import type { Config } from '../../platform/config.ts'

const ALLOWED_ADDRESSES_MAX = 50
const URL_LENGTH_MAX = 1_000

/** Whether the text is an IP address or a CIDR range such as 203.0.113.0/24. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || rest.length > 0) return false
  if (bits === undefined) return true
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)
}

/** The addresses of a form: addresses and ranges, apart by white space or commas. */
export const AddressList = z
  .string()
  .transform((text) => text.split(/[\s,]+/).filter((part) => part !== ''))
  .refine((list) => list.length <= ALLOWED_ADDRESSES_MAX && list.every(isAddressRange))

/** Whether one of the ranges contains the address. An empty list allows all. IPv4 mapped into IPv6 counts as IPv4. */
export function isAllowedAddress(address: string, ranges: readonly string[]): boolean {
  if (ranges.length === 0) return true
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  return blockListOf(ranges).check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6')
}

/**
 * Whether the text is an address for notifications and returns: absolute, http or https, without userinfo. It refuses a
 * backslash, because some parsers read it as a slash and then see another host.
 */
export function isMerchantUrl(text: string): boolean {
  if (text.length > URL_LENGTH_MAX) return false
  if (!/^https?:\/\/[^/\s\\\p{Cc}][^\s\\\p{Cc}]*$/iu.test(text)) return false
  const url = URL.parse(text)
  return url !== null && url.username === '' && url.password === ''
}

/** Why an address can never be called, as far as this is known without asking name servers. spec/payment-api 1.6. */
export function callRefusal(
  url: string,
  { NOTIFY_ALLOW_CIDRS = [] }: Pick<Config, 'NOTIFY_ALLOW_CIDRS'>,
): 'port' | 'host' | undefined {
  return refusalWithoutDns(new URL(url), NOTIFY_ALLOW_CIDRS)
}
