/** The doctor's checks from outside, as a visitor: the public addresses, the issuer, and the proxy. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { sql } from 'kysely'
import { relyingPartyId } from '../../accounts/session/relying-party.ts'
import { SEEN_HEADER, type Seen, seenTicket } from '../../core/health.ts'
import type { Db } from '../../database/connection.ts'
import { isAllowedAddress } from '../../payment/values/addresses.ts'
import { isLoopback } from '../../platform/config.ts'
import { makeSecrets } from '../../platform/secrets.ts'
import {
  ask,
  DRIFT_SECONDS_MAX,
  type Finding,
  fault,
  GOOD,
  type Installation,
  off,
  reasonOf,
  skippedFor,
} from './finding.ts'

export const ADDRESS = 'public address'
export const PAYMENT_ADDRESS = 'payment address'

/** At least this many members with one address cannot share the doctor's machine by chance. */
const MEMBERS_MIN = 5

/** Checks that the service answers at the address, and that its clock is right. */
export async function examineAddress(url: string): Promise<Finding> {
  const { hostname } = new URL(url)
  if (!isLoopback(url)) {
    const unknown = await lookup(hostname).then(
      () => undefined,
      (error: Error) => error.message,
    )
    if (unknown !== undefined) return fault(`${hostname} has no address (${unknown}): add it to the DNS`)
  }
  const answer = await ask(`${url}/healthz`)
  if (answer instanceof Error)
    return fault(
      `${url}/healthz cannot be reached: ${reasonOf(answer)}. Start the service, and check the proxy in front of it`,
    )
  if (answer.status !== 200)
    return fault(`${url}/healthz answers ${answer.status}: the proxy leads elsewhere`)
  const drift = Math.abs(Date.parse(answer.headers.get('date') ?? '') - Date.now()) / 1000
  if (drift > DRIFT_SECONDS_MAX)
    return fault(
      `The clock there is ${Math.round(drift)} seconds off this machine's: synchronise both by NTP`,
    )
  return GOOD
}

/** Checks that browsers keep passkeys for this site. */
export async function examinePasskeys({ config }: Installation): Promise<Finding> {
  if (relyingPartyId(config) !== undefined) return GOOD
  return off(
    `PUBLIC_URL names an IP address, for which browsers keep no passkeys. For trials, open http://localhost:${config.PORT} and set PUBLIC_URL to it`,
  )
}

/** Checks that discovery names the issuer that ID tokens name. */
export async function examineIssuer({ config: { PUBLIC_URL } }: Installation): Promise<Finding> {
  const answer = await ask(`${PUBLIC_URL}/.well-known/openid-configuration`)
  if (answer instanceof Error) return fault(`Discovery cannot be reached: ${reasonOf(answer)}`)
  const { issuer } = (await answer.json().catch(() => ({}))) as { issuer?: unknown }
  if (issuer === PUBLIC_URL) return GOOD
  return fault(
    `Discovery names the issuer ${issuer}, and this configuration ${PUBLIC_URL}: the two must be one`,
  )
}

/**
 * Checks TRUST_PROXY. Behind a proxy that is not trusted every visitor has the proxy's address, so all limits count
 * them as one. The doctor visits the service and asks which address the service sees.
 */
export async function examineProxies(installation: Installation): Promise<Finding> {
  const { config, clock } = installation
  if (!config.production || config.APP_SECRET === undefined)
    return off('both public addresses are of this machine')
  const secrets = makeSecrets(config.APP_SECRET, config.APP_SECRET_OTHER)
  const headers = { [SEEN_HEADER]: seenTicket(secrets, clock()) }
  const examineDoor = async (name: string, url: string) => {
    const answer = await ask(`${url}/healthz`, { headers })
    if (answer instanceof Error || !answer.ok) return skippedFor(name)
    const { seen } = (await answer.json().catch(() => ({}))) as { seen?: Seen }
    return seen === undefined ? silentAt(url) : judgeProxy(installation, url, seen)
  }
  const findings = [
    await examineDoor(ADDRESS, config.PUBLIC_URL),
    await examineDoor(PAYMENT_ADDRESS, config.PAYMENT_PUBLIC_URL),
  ]
  const first = (state: Finding['state']) => findings.find((finding) => finding.state === state)
  return first('fault') ?? first('skipped') ?? first('unknown') ?? findings[0]!
}

function silentAt(url: string): Finding {
  return {
    state: 'unknown',
    note: `the service at ${url} does not say which address it sees: it has another APP_SECRET, or another version`,
  }
}

async function judgeProxy(installation: Installation, url: string, seen: Seen): Promise<Finding> {
  const { address, peer, forwarded_for } = seen
  const { TRUST_PROXY } = installation.config
  // The doctor sends no such header. The outermost proxy put the doctor's address first.
  const visitor = forwarded_for?.split(',')[0]?.trim()
  if (visitor === undefined || visitor === '') return judgeSilentProxy(installation, url, seen)
  if (isIP(visitor) === 0)
    return fault(`The proxy of ${url} sends X-Forwarded-For: ${visitor}, which must be an address`)
  const cure = TRUST_PROXY === undefined ? `set TRUST_PROXY=${address}` : `add ${address} to TRUST_PROXY`
  if (!isAllowedAddress(address, [visitor]))
    return fault(
      `Visitors of ${url} come through a proxy that is not trusted, and all count as one: this machine is seen as ${address} and not as ${visitor}: ${cure}, or the range that all proxies are in`,
    )
  if (address !== peer || isTrusted(peer, TRUST_PROXY))
    return { state: 'good', note: `this machine is seen as ${address}` }
  // The doctor and the proxy have the same address, as on one machine: the address cannot tell them apart.
  return judgeAlike(
    installation,
    address,
    `the proxy of ${url} is not trusted, and this machine is seen as ${address}`,
    cure,
  )
}

/** Judges a proxy that sends no X-Forwarded-For. */
async function judgeSilentProxy(
  installation: Installation,
  url: string,
  { address, peer }: Seen,
): Promise<Finding> {
  const what = `the proxy of ${url} sends no X-Forwarded-For, and this machine is seen as ${address}`
  const cure = 'let it send the header, and name it in TRUST_PROXY'
  return isTrusted(peer, installation.config.TRUST_PROXY)
    ? fault(`Every visitor counts as one: ${what}: ${cure}`)
    : judgeAlike(installation, address, what, cure)
}

/** Judges a proxy that may keep the visitors' own addresses. The addresses of sessions decide, once there are enough. */
async function judgeAlike(
  { db }: Installation,
  address: string,
  what: string,
  cure: string,
): Promise<Finding> {
  const members = await countMembersFrom(db, address)
  if (members >= MEMBERS_MIN)
    return fault(`${members} members have signed in from one address, because ${what}: ${cure}`)
  return { state: 'unknown', note: `${what}: unless visitors keep their own addresses, ${cure}` }
}

function isTrusted(address: string, ranges: readonly string[] | undefined): boolean {
  return ranges !== undefined && isAllowedAddress(address, ranges)
}

async function countMembersFrom(db: Db, address: string): Promise<number> {
  const counted = sql<{ count: bigint }>`
    select count(distinct user_id) as count from sessions where ip = ${address}`.execute(db)
  // Another check reports a database that cannot be used.
  return counted.then(
    ({ rows }) => Number(rows[0]!.count),
    () => 0,
  )
}
