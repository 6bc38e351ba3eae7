// This room: the checks of `tessera doctor`: each finds a fault and says its remedy.
// Verbs: examineDatabase, examineSecret, examineAddress, examineVersion, examineProxies, examineForum.
/** The doctor's checks from outside, as a visitor: the public addresses, the issuer, and the proxy. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { sql } from 'kysely'
import { relyingPartyId } from '../../accounts/session/relying-party.ts'
import { type DoctorsAnswer, SEEN_HEADER, type Seen, seenTicket } from '../../core/health.ts'
import type { Db } from '../../database/connection.ts'
import { findAppSecret } from '../../operations/first-start.ts'
import { isAllowedAddress } from '../../payment/wire-fields/addresses.ts'
import { isLoopback } from '../../platform/config.ts'
import { makeSecrets } from '../../platform/secrets.ts'
import { VERSION } from '../../platform/version.ts'
import {
  ask,
  cannotReach,
  DRIFT_SECONDS_MAX,
  type Finding,
  fault,
  GOOD,
  type Installation,
  off,
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
    return cannotReach(`${url}/healthz`, answer, 'start the service, and check the proxy in front of it')
  if (answer.status !== 200)
    return fault(`${url}/healthz answers ${answer.status}: the proxy leads elsewhere`)
  const drift = Math.abs(Date.parse(answer.headers.get('date') ?? '') - Date.now()) / 1000
  if (drift > DRIFT_SECONDS_MAX)
    return fault(
      `The clock there is ${Math.round(drift)} seconds off this machine's: synchronise both by NTP`,
    )
  return examineServiceClock(url)
}

/** Asks the service whether its clock differs from Postgres'. A proxy such as nginx writes the date of an answer itself. */
async function examineServiceClock(url: string): Promise<Finding> {
  const answer = await ask(`${url}/readyz`)
  if (answer instanceof Error) return cannotReach(`${url}/readyz`, answer)
  const { checks } = (await answer.json().catch(() => ({}))) as { checks?: Record<string, boolean> }
  // Readiness does not come to the clock while the database fails.
  if (checks?.['writes'] !== true || checks['clock'] !== false) return GOOD
  return fault(
    `The clock of a process at ${url} differs from Postgres' by more than two minutes, so it is not ready: synchronise both machines by NTP`,
  )
}

/**
 * Asks /healthz for what it tells the doctor alone: nothing when it does not know the doctor's APP_SECRET. Undefined
 * when the address does not answer.
 */
async function askAsDoctor(
  { config, clock }: Installation,
  appSecret: string,
  url: string,
): Promise<Partial<DoctorsAnswer> | undefined> {
  const secrets = makeSecrets(appSecret, config.APP_SECRET_OTHER)
  const answer = await ask(`${url}/healthz`, { headers: { [SEEN_HEADER]: seenTicket(secrets, clock()) } })
  if (answer instanceof Error || !answer.ok) return undefined
  return (await answer.json().catch(() => ({}))) as Partial<DoctorsAnswer>
}

/** Checks that the service runs this program's version. After an upgrade, a process that nobody restarted does not. */
export async function examineVersion(installation: Installation): Promise<Finding> {
  const { config } = installation
  const appSecret = await findAppSecret(config)
  if (appSecret === undefined)
    return {
      state: 'unknown',
      note: `this program is ${VERSION}; without APP_SECRET the service tells nothing`,
    }
  const { version } = (await askAsDoctor(installation, appSecret, config.PUBLIC_URL)) ?? {}
  if (version === undefined) return silentAt(config.PUBLIC_URL)
  if (version === VERSION) return { state: 'good', note: VERSION }
  return fault(
    `The service is version ${version}, and this program is ${VERSION}: restart the service, or run the tessera of its version`,
  )
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
  if (answer instanceof Error) return cannotReach('Discovery', answer)
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
  const { config } = installation
  const { APP_SECRET } = config
  if (!config.production || APP_SECRET === undefined) return off('both public addresses are of this machine')
  const examineDoor = async (name: string, url: string) => {
    const answer = await askAsDoctor(installation, APP_SECRET, url)
    if (answer === undefined) return skippedFor(name)
    if (answer.seen === undefined)
      return fault(
        `TRUST_PROXY cannot be checked, because the service at ${url} does not say which address it sees: give this command the service's APP_SECRET, and synchronise both clocks by NTP`,
      )
    return judgeProxy(installation, url, answer.seen)
  }
  const findings = [
    await examineDoor(ADDRESS, config.PUBLIC_URL),
    await examineDoor(PAYMENT_ADDRESS, config.PAYMENT_PUBLIC_URL),
  ]
  const first = (state: Finding['state']) => findings.find((finding) => finding.state === state)
  return first('fault') ?? first('skipped') ?? findings[0]!
}

function silentAt(url: string): Finding {
  return {
    state: 'unknown',
    note: `the service at ${url} does not say which version it is: it has another APP_SECRET, or its clock is five minutes off`,
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

/**
 * Judges a proxy that may keep the visitors' own addresses. The addresses of sessions decide, once there are enough. Until
 * then it is a fault, because every limit depends on it.
 */
async function judgeAlike(
  { db }: Installation,
  address: string,
  what: string,
  cure: string,
): Promise<Finding> {
  const { here, elsewhere } = await countMembersFrom(db, address)
  if (here >= MEMBERS_MIN)
    return fault(`${here} members have signed in from one address, because ${what}: ${cure}`)
  if (elsewhere >= MEMBERS_MIN)
    return { state: 'good', note: `${what}, but ${elsewhere} members have signed in from other addresses` }
  return fault(
    `It cannot be known whether visitors keep their own addresses, because ${what}: ${cure}; or run this again when ${MEMBERS_MIN} members have signed in`,
  )
}

function isTrusted(address: string, ranges: readonly string[] | undefined): boolean {
  return ranges !== undefined && isAllowedAddress(address, ranges)
}

async function countMembersFrom(db: Db, address: string): Promise<{ here: number; elsewhere: number }> {
  const counted = sql<{ here: bigint; elsewhere: bigint }>`
    select count(distinct user_id) filter (where ip = ${address}) as here,
      count(distinct user_id) filter (where ip <> ${address}) as elsewhere
    from sessions`.execute(db)
  // Another check reports a database that cannot be used.
  return counted.then(
    ({ rows }) => ({ here: Number(rows[0]!.here), elsewhere: Number(rows[0]!.elsewhere) }),
    () => ({ here: 0, elsewhere: 0 }),
  )
}
