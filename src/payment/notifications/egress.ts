/**
 * Where a notification may go: a merchant names the address, so without this guard a merchant could make us call
 * whatever only we can reach. decisions.md 8.5. A name is resolved here, and the connection is made to an address that
 * was judged, never to the name: what the name says a moment later does not matter.
 */
import { isIP } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { blockListOf } from '../values/addresses.ts'

/** Of one name no more are tried than fit into the time of an attempt. */
const ADDRESSES_MAX = 4
/** How long an answer for IPv6 is waited for when there is one for IPv4 (RFC 8305, 3). */
const RESOLUTION_DELAY_MS = 50

/**
 * What is not public, after the registries of special-purpose addresses (RFC 6890 and successors). Of IPv6 only global
 * unicast is: all that carries an IPv4 address inside (mapped, compatible, NAT64) is outside of it or listed here.
 */
const SPECIAL = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // Azure answers its machines here, in the middle of public addresses.
  '168.63.129.16',
  // Teredo, ORCHID and other protocols; documentation; 6to4.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
]
const GLOBAL_UNICAST = ['2000::/3']

export type Address = { address: string; family: 4 | 6 }

/** Of `Resolver` in node:dns/promises, what is used of it. */
export type NameResolver = {
  resolve4(name: string): Promise<string[]>
  resolve6(name: string): Promise<string[]>
}

/** Why nothing is sent to an address: it is none of ours to call, or its name leads nowhere. */
export class EgressError extends Error {
  readonly reason: 'bad_address' | 'blocked' | 'dns'
  readonly detail: string | null

  constructor(reason: EgressError['reason'], detail: string | null = null) {
    super(reason)
    this.reason = reason
    this.detail = detail
  }
}

/** Answers the addresses that a URL may be called at, the preferred one first. Throws EgressError. */
export type EgressGuard = (url: URL) => Promise<Address[]>

/** @param openRanges NOTIFY_ALLOW_CIDRS: allowed as if they were public. */
export function makeEgressGuard(openRanges: readonly string[], resolver: NameResolver): EgressGuard {
  const [special, globalUnicast, open] = [SPECIAL, GLOBAL_UNICAST, openRanges].map(blockListOf)
  const isAllowed = ({ address, family }: Address) => {
    const type = family === 4 ? 'ipv4' : 'ipv6'
    if (open!.check(address, type)) return true
    return !special!.check(address, type) && (family === 4 || globalUnicast!.check(address, type))
  }
  return async (url) => {
    refuseUnusual(url)
    const addresses = await resolve(bareHost(url), resolver)
    const allowed = addresses.filter(isAllowed)
    // Which address it was is not told: the name may have been looked up on a network of ours.
    if (allowed.length === 0) throw new EgressError('blocked')
    return allowed.slice(0, ADDRESSES_MAX)
  }
}

/** The host as it is resolved: without brackets and final dots. `URL` has made one form of all spellings of an IPv4. */
export function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '')
}

function refuseUnusual(url: URL): void {
  const { protocol, username, password, port } = url
  if (bareHost(url) === '') throw new EgressError('bad_address', 'host')
  if (protocol !== 'http:' && protocol !== 'https:') throw new EgressError('bad_address', 'scheme')
  if (username !== '' || password !== '') throw new EgressError('bad_address', 'user')
  const isUsual = port === '' || port === '80' || port === '443' || Number(port) >= 1_024
  if (!isUsual) throw new EgressError('bad_address', 'port')
}

async function resolve(host: string, resolver: NameResolver): Promise<Address[]> {
  const family = isIP(host)
  if (family === 4 || family === 6) return [{ address: host, family }]
  // RFC 6761: this machine, whatever a server says.
  if (/(^|\.)localhost$/i.test(host)) return [v4('127.0.0.1'), v6('::1')]
  const answers = { 4: resolver.resolve4(host), 6: resolver.resolve6(host) }
  const second = answers[6].then((list) => list.map(v6))
  second.catch(() => {})
  try {
    const first = (await answers[4]).map(v4)
    const late = sleep(RESOLUTION_DELAY_MS, [], { ref: false })
    return [...first, ...(await Promise.race([second.catch(() => []), late]))]
  } catch (error) {
    // Many names have no IPv4 address; what is wrong with one that has neither is told by the first answer.
    return second.catch(() => {
      throw new EgressError('dns', (error as NodeJS.ErrnoException).code ?? null)
    })
  }
}

const v4 = (address: string): Address => ({ address, family: 4 })
const v6 = (address: string): Address => ({ address, family: 6 })
