/** `tessera doctor`: what is wrong with an installation, in words, and how to mend it. */
import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { sql } from 'kysely'
import { makeTransport } from '../accounts/email.ts'
import { isLoopback } from '../config.ts'
import type { Deps } from '../deps.ts'
import { findPartitionFault } from '../ledger/partitions.ts'
import { lastProof } from '../ledger/proofs.ts'
import { countWaiting } from '../secret-rotation.ts'
import { tracesUrl } from '../trace-export.ts'
import { type Command, withDeps } from './command.ts'

const DRIFT_SECONDS_MAX = 5
const REACH_TIMEOUT_MS = 10_000
const POSTGRES_MIN = 150_000
/** Visitors that must have been seen before their addresses say anything about a proxy. */
const VISITORS_MIN = 5

/** Undefined when all is well; else what is wrong and what to do. */
type Check = { name: string; find(deps: Deps): Promise<string | undefined> }

const CHECKS: Check[] = [
  { name: 'database', find: findDatabaseFault },
  { name: 'APP_SECRET', find: findSecretFault },
  { name: 'books', find: findBooksFault },
  { name: 'partitions', find: findPartitionFault },
  { name: 'clock', find: findClockFault },
  { name: 'public address', find: ({ config }) => findAddressFault(config.PUBLIC_URL) },
  { name: 'payment address', find: ({ config }) => findAddressFault(config.PAYMENT_PUBLIC_URL) },
  { name: 'issuer', find: findIssuerFault },
  { name: 'proxy', find: findProxyFault },
  { name: 'forum', find: findForumFault },
  { name: 'mail', find: findMailFault },
  { name: 'traces', find: findCollectorFault },
]

export const doctorCommands: Command[] = [
  {
    name: 'doctor',
    takes: [],
    summary:
      'Checks configuration, database, secrets, books, partitions, clock, addresses, proxy, forum, mail and traces, and says how to mend each.',
    async run({ config, progress }) {
      const findings = await withDeps(config, async (deps) => {
        const found: { check: string; fault: string | undefined }[] = []
        for (const { name, find } of CHECKS) {
          found.push({ check: name, fault: await find(deps) })
          progress(found.length, CHECKS.length)
        }
        return found
      })
      return {
        lines: findings.map(({ check, fault }) =>
          fault === undefined ? `good   ${check}` : `FAULT  ${check}: ${fault}`,
        ),
        data: findings.map(({ check, fault }) => ({ check, is_good: fault === undefined, fault })),
        isFaulty: findings.some(({ fault }) => fault !== undefined),
      }
    },
  },
]

async function findDatabaseFault({ db }: Deps): Promise<string | undefined> {
  const setting = async (name: string) => {
    const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(db)
    return rows[0]!.value
  }
  if (Number(await setting('server_version_num')) < POSTGRES_MIN)
    return `Postgres ${await setting('server_version')} is too old: 15 or newer is needed`
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    if ((await setting(name)) === 'off')
      return `${name} is off, so a power cut loses payments: turn it on in postgresql.conf`
  }
  return undefined
}

async function findSecretFault(deps: Deps): Promise<string | undefined> {
  try {
    await deps.signingKeys.current()
  } catch (error) {
    return `The signing keys cannot be read: ${(error as Error).message}. Set the APP_SECRET this database was filled under`
  }
  const foreign = await deps.signingKeys.unreadable()
  if (foreign.length > 0)
    return `${foreign.length} signing keys were made under another APP_SECRET and never sign: run tessera keys rotate, which withdraws them`
  const waiting = await countWaiting(deps)
  if (waiting === 0) return undefined
  const first = deps.config.APP_SECRET_OTHER === undefined ? 'set that one as APP_SECRET_OTHER, and ' : ''
  return `${waiting} stored secrets are encrypted under another APP_SECRET: ${first}run tessera keys rotate --app-secret`
}

async function findBooksFault(deps: Deps): Promise<string | undefined> {
  const last = await lastProof(deps)
  if (last === undefined || last.is_sound) return undefined
  return `The books did not pass at ${last.finished_at.toISOString()}: tessera books verify says what is broken`
}

async function findClockFault({ db, clock }: Deps): Promise<string | undefined> {
  const before = clock().getTime()
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
  const middle = (before + clock().getTime()) / 2
  const drift = Math.round((rows[0]!.now.getTime() - middle) / 1000)
  if (Math.abs(drift) <= DRIFT_SECONDS_MAX) return undefined
  return `The database's clock is ${drift} seconds ahead of this machine's: synchronise both by NTP`
}

async function findAddressFault(url: string): Promise<string | undefined> {
  const { hostname } = new URL(url)
  if (!isLoopback(url)) {
    const fault = await lookup(hostname).then(
      () => undefined,
      (error: Error) => error.message,
    )
    if (fault !== undefined) return `${hostname} has no address (${fault}): add it to the DNS`
  }
  const answer = await ask(`${url}/healthz`)
  if (answer instanceof Error)
    return `${url}/healthz cannot be reached: ${answer.message}. Start the service, and check the proxy in front of it`
  if (answer.status !== 200) return `${url}/healthz answers ${answer.status}: the proxy leads elsewhere`
  const drift = Math.abs(Date.parse(answer.headers.get('date') ?? '') - Date.now()) / 1000
  if (drift > DRIFT_SECONDS_MAX) return `The clock there is ${Math.round(drift)} seconds off this machine's`
  return undefined
}

async function findIssuerFault({ config: { PUBLIC_URL } }: Deps): Promise<string | undefined> {
  const answer = await ask(`${PUBLIC_URL}/.well-known/openid-configuration`)
  if (answer instanceof Error) return 'Discovery cannot be reached'
  const { issuer } = (await answer.json().catch(() => ({}))) as { issuer?: unknown }
  if (issuer === PUBLIC_URL) return undefined
  return `Discovery names the issuer ${issuer}, and this configuration ${PUBLIC_URL}: the two must be one`
}

/** Behind a proxy that is not trusted every visitor has the proxy's address, and all limits count them as one. */
async function findProxyFault({ db, config }: Deps): Promise<string | undefined> {
  if (!config.production) return undefined
  const rows = await db
    .selectFrom('sessions')
    .where('ip', '<>', '')
    .orderBy('id', 'desc')
    .limit(VISITORS_MIN * 4)
    .select('ip')
    .execute()
  if (rows.length < VISITORS_MIN || !rows.every(({ ip }) => isPrivate(ip))) return undefined
  const seen = [...new Set(rows.map(({ ip }) => ip))].join(', ')
  return config.TRUST_PROXY === undefined
    ? `Every visitor comes from ${seen}: set TRUST_PROXY to the proxy's address`
    : `Every visitor comes from ${seen}: the proxy must send X-Forwarded-For, and TRUST_PROXY must name it`
}

async function findForumFault({ config: { DISCOURSE_URL } }: Deps): Promise<string | undefined> {
  if (DISCOURSE_URL === undefined) return undefined
  const answer = await ask(`${DISCOURSE_URL}/srv/status`)
  if (answer instanceof Error) return `${DISCOURSE_URL} cannot be reached: ${answer.message}`
  return answer.ok ? undefined : `${DISCOURSE_URL}/srv/status answers ${answer.status}`
}

async function findMailFault({ config }: Deps): Promise<string | undefined> {
  if (config.SMTP_URL === undefined) return undefined
  const transport = await makeTransport(config)
  try {
    await transport.verify()
    return undefined
  } catch (error) {
    return `The mail server of SMTP_URL refuses us: ${(error as Error).message}`
  } finally {
    transport.close()
  }
}

/** A collector takes a message without any span in it as it would take one with some. */
async function findCollectorFault({ config }: Deps): Promise<string | undefined> {
  const url = tracesUrl(config)
  if (url === undefined) return undefined
  const headers = { ...config.OTEL_EXPORTER_OTLP_HEADERS, 'content-type': 'application/json' }
  const answer = await ask(url, { method: 'POST', headers, body: '{"resourceSpans":[]}' })
  if (answer instanceof Error) return `The collector at ${url} cannot be reached: ${answer.message}`
  if (answer.ok) return undefined
  return `The collector at ${url} answers ${answer.status}: it must take OTLP over HTTP with JSON`
}

async function ask(url: string, init: RequestInit = {}): Promise<Response | Error> {
  try {
    return await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(REACH_TIMEOUT_MS) })
  } catch (error) {
    const { cause } = error as Error
    return cause instanceof Error ? cause : (error as Error)
  }
}

const PRIVATE = new BlockList()
for (const [network, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  PRIVATE.addSubnet(network, bits)
PRIVATE.addSubnet('fc00::', 7, 'ipv6')
PRIVATE.addAddress('::1', 'ipv6')

function isPrivate(address: string): boolean {
  const version = isIP(address)
  return version !== 0 && PRIVATE.check(address, version === 4 ? 'ipv4' : 'ipv6')
}
