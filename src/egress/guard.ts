// This room: requests to addresses that members registered, and the guard of those addresses.
// Verbs: makeEgressGuard, makeSendRequest, refusalWithoutDns.
/**
 * Guards the addresses that members register for us to call, because they could otherwise make us call hosts that only we
 * can reach. The guard resolves a name and judges its addresses. The connection uses those addresses, so a later change of the name
 * has no effect.
 */
import { BlockList, isIP } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** The addresses of one name that fit into the time of an attempt. */
const ADDRESSES_MAX = 4
/** How long the IPv4 answer waits for the IPv6 answer (RFC 8305, 3). */
const RESOLUTION_DELAY_MS = 50

/**
 * Addresses that are not public, by the registries of special-purpose addresses (RFC 6890 and successors). In IPv6 only
 * global unicast is public; forms that contain an IPv4 address (mapped, compatible, NAT64) are outside it or listed here.
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
  // Azure's internal address for its machines, among public addresses.
  '168.63.129.16',
  // Teredo, ORCHID and other protocols; documentation; 6to4.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
]
const GLOBAL_UNICAST = ['2000::/3']
/** Open ranges for an address that the operator names, and not a member. */
export const EVERYWHERE = ['0.0.0.0/1', '128.0.0.0/1', '::/1', '8000::/1']

export type Address = { address: string; family: 4 | 6 }

/** The used part of `Resolver` in node:dns/promises. */
export type NameResolver = {
  resolve4(name: string): Promise<string[]>
  resolve6(name: string): Promise<string[]>
}

/** The refusal to call an address: it is not allowed, or its name does not resolve. */
export class EgressError extends Error {
  readonly reason: 'bad_address' | 'blocked' | 'dns'
  readonly detail: string | null

  constructor(reason: EgressError['reason'], detail: string | null = null) {
    super(reason)
    this.reason = reason
    this.detail = detail
  }
}

/** Returns the allowed addresses of a URL, the preferred one first. Throws EgressError. */
export type EgressGuard = (url: URL) => Promise<Address[]>

/**
 * Makes the guard.
 * @param openRanges NOTIFY_ALLOW_CIDRS, which count as public.
 */
export function makeEgressGuard(openRanges: readonly string[], resolver: NameResolver): EgressGuard {
  const isAllowed = makeIsAllowed(openRanges)
  return async (url) => {
    refuseUnusual(url)
    const addresses = await resolve(bareHost(url), resolver)
    const allowed = addresses.filter(isAllowed)
    // Does not reveal the address, because an internal name server may have answered.
    if (allowed.length === 0) throw new EgressError('blocked')
    return allowed.slice(0, ADDRESSES_MAX)
  }
}

/**
 * Why the guard refuses an address whatever name servers answer: its port, or what it says of its host. Undefined if the
 * guard has to ask them.
 * @param openRanges NOTIFY_ALLOW_CIDRS.
 */
export function refusalWithoutDns(url: URL, openRanges: readonly string[]): 'port' | 'host' | undefined {
  try {
    refuseUnusual(url)
  } catch (error) {
    return (error as EgressError).detail === 'port' ? 'port' : 'host'
  }
  const addresses = knownAddresses(bareHost(url))
  return addresses === undefined || addresses.some(makeIsAllowed(openRanges)) ? undefined : 'host'
}

function makeIsAllowed(openRanges: readonly string[]): (address: Address) => boolean {
  const [special, globalUnicast, open] = [SPECIAL, GLOBAL_UNICAST, openRanges].map(blockListOf)
  return ({ address, family }) => {
    const type = family === 4 ? 'ipv4' : 'ipv6'
    if (open!.check(address, type)) return true
    return !special!.check(address, type) && (family === 4 || globalUnicast!.check(address, type))
  }
}

/** The host to resolve, without brackets and final dots. `URL` has normalised every spelling of an IPv4 address. */
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

/** The addresses of a host that no name server is asked for. */
function knownAddresses(host: string): Address[] | undefined {
  const family = isIP(host)
  if (family === 4 || family === 6) return [{ address: host, family }]
  // RFC 6761: always this machine.
  return /(^|\.)localhost$/i.test(host) ? [v4('127.0.0.1'), v6('::1')] : undefined
}

async function resolve(host: string, resolver: NameResolver): Promise<Address[]> {
  const known = knownAddresses(host)
  if (known !== undefined) return known
  const answers = { 4: resolver.resolve4(host), 6: resolver.resolve6(host) }
  const second = answers[6].then((list) => list.map(v6))
  second.catch(() => {})
  try {
    const first = (await answers[4]).map(v4)
    const late = sleep(RESOLUTION_DELAY_MS, [], { ref: false })
    return [...first, ...(await Promise.race([second.catch(() => []), late]))]
  } catch (error) {
    // Many names have no IPv4 address. If both answers fail, the error of the first one is reported.
    return second.catch(() => {
      throw new EgressError('dns', (error as NodeJS.ErrnoException).code ?? null)
    })
  }
}

const v4 = (address: string): Address => ({ address, family: 4 })
const v6 = (address: string): Address => ({ address, family: 6 })

/** Builds a list that addresses can be looked up in. */
export function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    const family = isIP(network) === 4 ? 'ipv4' : 'ipv6'
    list.addSubnet(network, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family)
  }
  return list
}
