/** `tessera doctor`: what is wrong with an installation, in words, and how to mend it. It writes nothing to the database. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { sql } from 'kysely'
import { makeTransport } from '../accounts/email.ts'
import { apiHeaders, SYSTEM_PATH } from '../accounts/forum/api.ts'
import { type Config, ConfigError, isLoopback } from '../config.ts'
import { type Db, openDatabase } from '../database/connection.ts'
import { connectionFault, databaseFault } from '../database/faults.ts'
import { requireMigrated } from '../database/migrate.ts'
import { provideDatabase } from '../database/url.ts'
import type { Clock } from '../deps.ts'
import { openSecrets } from '../first-start.ts'
import { SEEN_HEADER, type Seen, seenTicket } from '../health.ts'
import { openSigningKeys } from '../identity/keys.ts'
import { findPartitionFault } from '../ledger/partitions.ts'
import { lastProof } from '../ledger/proofs.ts'
import { isAllowedAddress } from '../payment/addresses.ts'
import { holdsSecrets } from '../secret-proof.ts'
import { countWaiting } from '../secret-rotation.ts'
import { makeSecrets } from '../secrets.ts'
import { tracesUrl } from '../trace-export.ts'
import type { Command, Progress, Result } from './command.ts'

const DRIFT_SECONDS_MAX = 5
const REACH_TIMEOUT_MS = 10_000
const POSTGRES_MIN = 150_000
/** So many members from one address are not by chance on the same machine as the doctor. */
const MEMBERS_MIN = 5

/**
 * What a check has found. Off: it is not configured, or not needed. Unknown: nothing can tell yet. Skipped: another check
 * must be good first.
 */
type Finding =
  | { state: 'good' | 'off' | 'unknown' | 'skipped'; note?: string }
  | { state: 'fault'; fault: string }
type Found = Finding & { check: string }

type World = {
  config: Config
  clock: Clock
  db: Db
  /** Why the built-in Postgres does not start; `db` leads nowhere then. */
  refusal: Error | undefined
}

type Check = {
  name: string
  /** The check without which this one cannot be made. It stands before it. */
  needs?: string
  /** What it throws is a fault. */
  examine(world: World): Promise<Finding>
}

const DATABASE = 'database'
const SCHEMA = 'schema'
const ADDRESS = 'public address'
const PAYMENT_ADDRESS = 'payment address'

const CHECKS: Check[] = [
  { name: DATABASE, examine: examineDatabase },
  { name: 'database writes', needs: DATABASE, examine: examineWrites },
  { name: SCHEMA, needs: DATABASE, examine: examineSchema },
  { name: 'APP_SECRET', needs: SCHEMA, examine: examineSecret },
  { name: 'books', needs: SCHEMA, examine: examineBooks },
  { name: 'partitions', needs: SCHEMA, examine: async (world) => judged(await findPartitionFault(world)) },
  { name: 'clock', needs: DATABASE, examine: examineClock },
  { name: ADDRESS, examine: ({ config }) => examineAddress(config.PUBLIC_URL) },
  { name: PAYMENT_ADDRESS, examine: ({ config }) => examineAddress(config.PAYMENT_PUBLIC_URL) },
  { name: 'issuer', needs: ADDRESS, examine: examineIssuer },
  { name: 'proxy', examine: examineProxies },
  { name: 'forum', examine: examineForum },
  { name: 'mail', examine: examineMail },
  { name: 'traces', examine: examineCollector },
]

const GOOD: Finding = { state: 'good' }
const fault = (text: string): Finding => ({ state: 'fault', fault: text })
const off = (note: string): Finding => ({ state: 'off', note })
const judged = (text: string | undefined): Finding => (text === undefined ? GOOD : fault(text))

export const doctorCommands: Command[] = [
  {
    name: 'doctor',
    takes: [],
    summary:
      'Checks configuration, database, schema, secrets, books, partitions, clock, addresses, proxy, forum, mail and traces, and says how to mend each. Whatever is amiss, it prints its whole list.',
    run: async ({ config, progress }) => report(await examineAll(config, progress)),
    judgeConfig: ({ faults }) =>
      report([
        { check: 'configuration', ...fault(faults.join('; ')) },
        ...CHECKS.map(({ name }) => ({ check: name, ...skippedFor('configuration') })),
      ]),
  },
]

async function examineAll(config: Config, progress: Progress): Promise<Found[]> {
  const clock = () => new Date()
  const database = await provideDatabase(config).catch((error: Error) => error)
  const refusal = database instanceof Error ? database : undefined
  const url = database instanceof Error ? '' : database.url
  const db = openDatabase(url, { max: 2, onBroken: () => {} })
  const found: Found[] = [{ check: 'configuration', ...GOOD }]
  try {
    for (const check of CHECKS) {
      found.push({ check: check.name, ...(await examine(check, { config, clock, db, refusal }, found)) })
      progress(found.length - 1, CHECKS.length)
    }
  } finally {
    await db.destroy()
    if (!(database instanceof Error)) await database.stop()
  }
  return found
}

async function examine({ needs, examine: act }: Check, world: World, found: Found[]): Promise<Finding> {
  const needed = found.find(({ check }) => check === needs)
  if (needed?.state === 'skipped') return { state: 'skipped', ...(needed.note && { note: needed.note }) }
  if (needed?.state === 'fault') return skippedFor(needed.check)
  return act(world).catch((error: Error) => fault(sentenceFor(error)))
}

function sentenceFor(error: Error): string {
  if (error instanceof ConfigError) return error.faults.join('; ')
  return databaseFault(error) ?? error.message
}

function skippedFor(check: string): Finding {
  return { state: 'skipped', note: `cannot be told while ${check} is at fault` }
}

function report(found: Found[]): Result {
  return {
    lines: found.map((each) => {
      const text = each.state === 'fault' ? each.fault : each.note
      const label = each.state === 'fault' ? 'FAULT' : each.state
      return `${label.padEnd(8)} ${each.check}${text === undefined ? '' : `: ${text}`}`
    }),
    data: found.map(({ check, state, ...more }) => ({
      check,
      state,
      is_good: state !== 'fault' && state !== 'skipped',
      ...more,
    })),
    isFaulty: found.some(({ state }) => state === 'fault'),
  }
}

async function examineDatabase({ db, refusal }: World): Promise<Finding> {
  if (refusal !== undefined) return fault(sentenceFor(refusal))
  try {
    return judged((await findVersionFault(db)) ?? (await findRightsFault(db)))
  } catch (error) {
    return fault(connectionFault(error))
  }
}

async function settingOf(db: Db, name: string): Promise<string> {
  const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(db)
  return rows[0]!.value
}

async function findVersionFault(db: Db): Promise<string | undefined> {
  if (Number(await settingOf(db, 'server_version_num')) >= POSTGRES_MIN) return undefined
  return `Postgres ${await settingOf(db, 'server_version')} is too old: 15 or newer is needed`
}

/** What the service needs of its role: tables to read and write, and a schema in which its migrations make more. */
async function findRightsFault(db: Db): Promise<string | undefined> {
  const { rows } = await sql<{ role: string; database: string; is_open: boolean | null }>`
    select quote_ident(current_user) as role, quote_ident(current_database()) as database,
      has_schema_privilege(current_schema(), 'create') as is_open`.execute(db)
  const { role, database, is_open } = rows[0]!
  if (!is_open)
    return `The role ${role} may not make tables in the schema public: as a superuser \`alter database ${database} owner to ${role}\`, or \`grant usage, create on schema public to ${role}\` in that database`
  const { rows: closed } = await sql<{ name: string; owner: string }>`
    select relname as name, quote_ident(pg_get_userbyid(relowner)) as owner
    from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not (
      has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
      and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete')
    )
    order by relname`.execute(db)
  const [first] = closed
  if (first === undefined) return undefined
  return `The role ${role} may not read and write ${closed.length} tables, such as ${first.name}: which belongs to ${first.owner}: set DATABASE_URL to that role, or give each to this one by \`alter table … owner to ${role}\``
}

async function examineWrites({ db }: World): Promise<Finding> {
  const { rows } = await sql<{ is_standby: boolean }>`select pg_is_in_recovery() as is_standby`.execute(db)
  if (rows[0]!.is_standby)
    return fault('DATABASE_URL leads to a standby, which takes no writes: set it to the primary')
  if ((await settingOf(db, 'transaction_read_only')) === 'on')
    return fault(
      'Transactions are read only, so every write fails: `alter role … reset default_transaction_read_only`, and the same for `alter database`, unless postgresql.conf or DATABASE_URL says it',
    )
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    if ((await settingOf(db, name)) === 'off')
      return fault(`${name} is off, so a power cut loses payments: turn it on in postgresql.conf`)
  }
  return GOOD
}

async function examineSchema({ db }: World): Promise<Finding> {
  await requireMigrated(db)
  return GOOD
}

async function examineSecret({ config, db, clock }: World): Promise<Finding> {
  if (!(await holdsSecrets(db)))
    return { state: 'unknown', note: 'nothing is encrypted under it before the first start' }
  const secrets = await openSecrets(config, db)
  const foreign = await openSigningKeys({ db, secrets, clock }).unreadable()
  if (foreign.length > 0)
    return fault(
      `${foreign.length} signing keys were made under another APP_SECRET and never sign: run tessera keys rotate, which withdraws them`,
    )
  const waiting = await countWaiting({ db, secrets })
  if (waiting === 0) return GOOD
  const first = config.APP_SECRET_OTHER === undefined ? 'set that one as APP_SECRET_OTHER, and ' : ''
  return fault(
    `${waiting} stored secrets are encrypted under another APP_SECRET: ${first}run tessera keys rotate --app-secret`,
  )
}

/** Of the proof that is made once a day: one of now would take as long as the ledger is big. */
async function examineBooks({ db }: World): Promise<Finding> {
  const last = await lastProof({ db })
  if (last === undefined)
    return {
      state: 'unknown',
      note: 'never proven: a running service proves them once a day, and tessera books verify at any time',
    }
  const at = last.finished_at.toISOString()
  if (last.is_sound) return { state: 'good', note: `passed at ${at}` }
  return fault(`The books did not pass at ${at}: tessera books verify says what is broken`)
}

async function examineClock({ db, clock }: World): Promise<Finding> {
  const before = clock().getTime()
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
  const middle = (before + clock().getTime()) / 2
  const drift = Math.round((rows[0]!.now.getTime() - middle) / 1000)
  if (Math.abs(drift) <= DRIFT_SECONDS_MAX) return GOOD
  return fault(`The database's clock is ${drift} seconds ahead of this machine's: synchronise both by NTP`)
}

async function examineAddress(url: string): Promise<Finding> {
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

async function examineIssuer({ config: { PUBLIC_URL } }: World): Promise<Finding> {
  const answer = await ask(`${PUBLIC_URL}/.well-known/openid-configuration`)
  if (answer instanceof Error) return fault(`Discovery cannot be reached: ${reasonOf(answer)}`)
  const { issuer } = (await answer.json().catch(() => ({}))) as { issuer?: unknown }
  if (issuer === PUBLIC_URL) return GOOD
  return fault(
    `Discovery names the issuer ${issuer}, and this configuration ${PUBLIC_URL}: the two must be one`,
  )
}

/**
 * Behind a proxy that is not trusted every visitor has the proxy's address, and all limits count them as one. The doctor
 * comes as a visitor, says nothing of its way, and asks the service as whom it sees it.
 */
async function examineProxies(world: World): Promise<Finding> {
  const { config, clock } = world
  if (!config.production || config.APP_SECRET === undefined)
    return off('both public addresses are of this machine')
  const secrets = makeSecrets(config.APP_SECRET, config.APP_SECRET_OTHER)
  const headers = { [SEEN_HEADER]: seenTicket(secrets, clock()) }
  const examineDoor = async (name: string, url: string) => {
    const answer = await ask(`${url}/healthz`, { headers })
    if (answer instanceof Error || !answer.ok) return skippedFor(name)
    const { seen } = (await answer.json().catch(() => ({}))) as { seen?: Seen }
    return seen === undefined ? silentAt(url) : judgeWay(world, url, seen)
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
    note: `the service at ${url} does not say as whom it sees its visitors: it has another APP_SECRET, or is of another version`,
  }
}

async function judgeWay(world: World, url: string, seen: Seen): Promise<Finding> {
  const { address, peer, forwarded_for } = seen
  const { TRUST_PROXY } = world.config
  // The doctor sends no such header: the first address in it is the doctor's, as the outermost proxy saw it.
  const visitor = forwarded_for?.split(',')[0]?.trim()
  if (visitor === undefined || visitor === '') return judgeUntoldWay(world, url, seen)
  if (isIP(visitor) === 0)
    return fault(`The proxy of ${url} sends X-Forwarded-For: ${visitor}, which must be an address`)
  const cure = TRUST_PROXY === undefined ? `set TRUST_PROXY=${address}` : `add ${address} to TRUST_PROXY`
  if (!isAllowedAddress(address, [visitor]))
    return fault(
      `Visitors of ${url} come through a proxy that is not trusted, and all count as one: this machine is seen as ${address} and not as ${visitor}: ${cure}, or the range that all proxies are in`,
    )
  if (address !== peer || isTrusted(peer, TRUST_PROXY))
    return { state: 'good', note: `this machine is seen as ${address}` }
  // It comes from where the proxy comes from, as on one machine: its own address cannot tell them apart.
  return judgeAlike(
    world,
    address,
    `the proxy of ${url} is not trusted, and this machine is seen as ${address}`,
    cure,
  )
}

/** What ends TLS in front of the service does not say who comes. */
async function judgeUntoldWay(world: World, url: string, { address, peer }: Seen): Promise<Finding> {
  const what = `the proxy of ${url} sends no X-Forwarded-For, and this machine is seen as ${address}`
  const cure = 'let it send the header, and name it in TRUST_PROXY'
  return isTrusted(peer, world.config.TRUST_PROXY)
    ? fault(`Every visitor counts as one: ${what}: ${cure}`)
    : judgeAlike(world, address, what, cure)
}

/** Right only where what ends TLS keeps the visitors' own addresses: their sessions tell, once there are some. */
async function judgeAlike({ db }: World, address: string, what: string, cure: string): Promise<Finding> {
  const members = await countMembersFrom(db, address)
  if (members >= MEMBERS_MIN)
    return fault(`${members} members have signed in from one address, for ${what}: ${cure}`)
  return { state: 'unknown', note: `${what}: unless visitors keep their own addresses, ${cure}` }
}

function isTrusted(address: string, ranges: readonly string[] | undefined): boolean {
  return ranges !== undefined && isAllowedAddress(address, ranges)
}

async function countMembersFrom(db: Db, address: string): Promise<number> {
  const counted = sql<{ count: bigint }>`
    select count(distinct user_id) as count from sessions where ip = ${address}`.execute(db)
  // Without a database that can be used, which is a fault of its own, nobody is known.
  return counted.then(
    ({ rows }) => Number(rows[0]!.count),
    () => 0,
  )
}

async function examineForum({ config }: World): Promise<Finding> {
  const { DISCOURSE_URL, DISCOURSE_API_KEY } = config
  if (DISCOURSE_URL === undefined) return off('DISCOURSE_URL is not set')
  const answer = await ask(`${DISCOURSE_URL}/srv/status`)
  if (answer instanceof Error) return fault(`${DISCOURSE_URL} cannot be reached: ${reasonOf(answer)}`)
  if (!answer.ok) return fault(`${DISCOURSE_URL}/srv/status answers ${answer.status}`)
  return DISCOURSE_API_KEY === undefined
    ? { state: 'good', note: 'it answers; DISCOURSE_API_KEY is not set, so it tells no trust level' }
    : examineForumKey(config)
}

/** Asks what every key must be good for, as the service itself does of members. */
async function examineForumKey(config: Config): Promise<Finding> {
  const { DISCOURSE_URL, DISCOURSE_API_USERNAME } = config
  const answer = await ask(`${DISCOURSE_URL}${SYSTEM_PATH}`, { headers: apiHeaders(config) })
  if (answer instanceof Error) return fault(`The forum's API cannot be reached: ${reasonOf(answer)}`)
  const { status } = answer
  if (status === 401 || status === 403)
    return fault(
      `The forum refuses DISCOURSE_API_KEY (${status}): copy it again, or make one for the user ${DISCOURSE_API_USERNAME} with the scope read-only`,
    )
  // To those who may not see it, Discourse says that it is not there.
  if (status === 404)
    return fault(
      `DISCOURSE_API_KEY may not read members (404): make it for the user system, and set DISCOURSE_API_USERNAME, now ${DISCOURSE_API_USERNAME}, to an administrator of the forum`,
    )
  if (status === 429)
    return { state: 'unknown', note: 'the forum is asked too much just now (429) to try DISCOURSE_API_KEY' }
  if (!answer.ok) return fault(`The forum's API answers ${status} at ${DISCOURSE_URL}${SYSTEM_PATH}`)
  return { state: 'good', note: 'it answers, and DISCOURSE_API_KEY may read members' }
}

async function examineMail({ config }: World): Promise<Finding> {
  if (config.SMTP_URL === undefined) return off('SMTP_URL is not set')
  const transport = await makeTransport(config)
  try {
    await transport.verify()
    return GOOD
  } catch (error) {
    return fault(`The mail server of SMTP_URL refuses us: ${(error as Error).message}`)
  } finally {
    transport.close()
  }
}

/** A collector takes a message without any span in it as it would take one with some. */
async function examineCollector({ config }: World): Promise<Finding> {
  const url = tracesUrl(config)
  if (url === undefined) return off('OTEL_EXPORTER_OTLP_ENDPOINT is not set')
  const headers = { ...config.OTEL_EXPORTER_OTLP_HEADERS, 'content-type': 'application/json' }
  const answer = await ask(url, { method: 'POST', headers, body: '{"resourceSpans":[]}' })
  if (answer instanceof Error) return fault(`The collector at ${url} cannot be reached: ${reasonOf(answer)}`)
  if (answer.ok) return GOOD
  return fault(`The collector at ${url} answers ${answer.status}: it must take OTLP over HTTP with JSON`)
}

async function ask(url: string, init: RequestInit = {}): Promise<Response | Error> {
  try {
    return await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(REACH_TIMEOUT_MS) })
  } catch (error) {
    const { cause } = error as Error
    return cause instanceof Error ? cause : (error as Error)
  }
}

/** Of several addresses tried in vain the error says nothing but its code. */
function reasonOf({ message, code }: NodeJS.ErrnoException): string {
  return message || String(code)
}
