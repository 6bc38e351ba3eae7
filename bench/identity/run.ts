/**
 * `npm run bench:identity` compares our service with node-oidc-provider, over one Postgres and with the same keys.
 * Rounds are interleaved; it prints medians with the lowest and highest round.
 */
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { openDatabase } from '../../src/database/connection.ts'
import { startEmbedded } from '../../src/database/embedded/embedded.ts'
import { migrate } from '../../src/database/migrate.ts'
import { encryptionContext } from '../../src/identity/keys/keys.ts'
import { ensureSigningKeys } from '../../src/identity/keys/rotation.ts'
import { ALNUM, makeSecrets, randomText } from '../../src/platform/secrets.ts'
import { type Answer, type Connection, type Measured, measure, openConnection, p99AtRate } from '../driver.ts'
import { type ServerProcess, startServer, stopServers } from '../processes.ts'
import { median, spread } from '../statistics.ts'
import { type Member, makeApp, makeCodes, makeMembers, PASSWORD, REDIRECT_URI } from './ours.ts'
import { makeProvider } from './theirs.ts'
import { SCHEMA } from './theirs-adapter.ts'

const OUR_SERVER = join(import.meta.dirname, '../our-server.ts')
const CONNECTIONS = 32
const MEMBERS = 200
const SIGNATURES = 300
/** A text about as long as the signed part of an ID token. */
const TEXT = Buffer.from('x'.repeat(600))
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const ALGORITHMS = ['RS256', 'ES256'] as const
type Algorithm = (typeof ALGORITHMS)[number]

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
    /** Requests per round, as a share of the usual number. */
    scale: { type: 'string', default: '1' },
    'cpu-prof': { type: 'boolean', default: false },
  },
})
const ROUNDS = Number(flags.rounds)
const SCALE = Number(flags.scale)

/** One of the two providers, as the driver sees it. */
type Side = {
  close(): Promise<void>
  name: 'ours' | 'theirs'
  paths: { token: string; userinfo: string; jwks: string }
  server: ServerProcess
  authorization(alg: Algorithm): string
  makeCodes(alg: Algorithm, count: number): Promise<string[]>
}

function start(script: string, port: number, env: Record<string, string>): Promise<ServerProcess> {
  return startServer(script, { port, env, profile: flags['cpu-prof'] })
}

const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`

async function startOurs(databaseUrl: string): Promise<{ side: Side; members: Member[]; keys: object[] }> {
  await migrate(databaseUrl)
  const db = openDatabase(databaseUrl, { max: 10, onBroken: () => {} })
  const secret = randomText(64, ALNUM)
  const secrets = makeSecrets(secret)
  await ensureSigningKeys({ db, secrets, databaseTime: async () => new Date() })
  // All sign-ins of the bench come from one address, and exceed the limit for pages.
  await db.insertInto('site_settings').values({ name: 'limit_pages', value: '0' }).execute()
  const members = await makeMembers(db, MEMBERS)
  const apps = {
    RS256: await makeApp(db, members[0]!, 'RS256'),
    ES256: await makeApp(db, members[0]!, 'ES256'),
  }
  const rows = await db.selectFrom('signing_keys').select(['kid', 'alg', 'private_encrypted']).execute()
  const keys = rows.map(({ kid, alg, private_encrypted }) => {
    const pem = secrets.decrypt(encryptionContext(kid), private_encrypted!)
    return { ...createPrivateKey(pem).export({ format: 'jwk' }), kid, alg, use: 'sig' }
  })
  const env = { DATABASE_URL: databaseUrl, APP_SECRET: secret, LOG_LEVEL: 'warn' }
  const server = await start(OUR_SERVER, 4801, env)
  const side: Side = {
    name: 'ours',
    paths: { token: '/oauth2/token', userinfo: '/oauth2/userinfo', jwks: '/oauth2/jwks' },
    server,
    authorization: (alg) => basic(apps[alg].client_id, apps[alg].client_secret),
    makeCodes: (alg, count) => makeCodes(db, apps[alg].id, members, count),
    close: () => db.destroy(),
  }
  return { side, members, keys }
}

async function startTheirs(databaseUrl: string, members: Member[], keys: object[]): Promise<Side> {
  const port = 4810
  const { provider, pool } = makeProvider({ issuer: `http://127.0.0.1:${port}`, databaseUrl, jwks: { keys } })
  await pool.query(SCHEMA)
  const secret = randomText(48, ALNUM)
  for (const { id, username } of members) {
    await pool.query('insert into members values ($1, $2, $3, $4, 2)', [
      id,
      username,
      username,
      `${username}@example.org`,
    ])
    const groups = ['trust_level_0', 'trust_level_1', 'trust_level_2', 'crew']
    await pool.query('insert into member_groups select $1, unnest($2::text[])', [id, groups])
  }
  // A service registers applications while it runs, so they are in the database, as ours are.
  for (const alg of ALGORITHMS) {
    const client = {
      client_id: alg,
      client_secret: secret,
      redirect_uris: [REDIRECT_URI],
      grant_types: ['authorization_code', 'refresh_token'],
      id_token_signed_response_alg: alg,
    }
    await pool.query("insert into oidc_payloads (type, id, payload) values ('Client', $1, $2)", [
      alg,
      JSON.stringify(client),
    ])
  }
  const server = await start(join(import.meta.dirname, 'their-server.ts'), port, {
    DATABASE_URL: databaseUrl,
    JWKS: JSON.stringify({ keys }),
  })
  const makeCode = async (alg: Algorithm, member: Member) => {
    const accountId = member.id.toString()
    const client = await provider.Client.find(alg)
    const grant = new provider.Grant({ accountId, clientId: alg })
    grant.addOIDCScope('openid profile')
    const grantId = await grant.save(30 * 86_400)
    return new provider.AuthorizationCode({
      accountId,
      client,
      grantId,
      redirectUri: REDIRECT_URI,
      scope: 'openid profile',
      nonce: 'a nonce of the application',
      authTime: Math.floor(Date.now() / 1000),
      amr: ['pwd'],
      gty: 'authorization_code',
      claims: {},
      expiresWithSession: false,
    }).save(60)
  }
  return {
    name: 'theirs',
    paths: { token: '/token', userinfo: '/me', jwks: '/jwks' },
    server,
    authorization: (alg) => basic(alg, secret),
    async makeCodes(alg, count) {
      const codes: string[] = []
      let made = 0
      const workers = Array.from({ length: 10 }, async () => {
        while (made < count) codes.push(await makeCode(alg, members[made++ % members.length]!))
      })
      await Promise.all(workers)
      return codes
    },
    close: () => pool.end(),
  }
}

/** The processor time of one RSA-2048 signature, in microseconds. */
function signatureCost(): number {
  const before = process.cpuUsage()
  for (let i = 0; i < SIGNATURES; i += 1) sign('sha256', TEXT, RSA)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / SIGNATURES
}

type Operation = {
  name: string
  count: number
  run(side: Side, count: number): Promise<Measured>
  /** The path to request from a bare server too, which shows the upper limit. */
  barePath?: string
}

const DISCOVERY = '/.well-known/openid-configuration'
const BARE_PORT = 4820

/** Starts a bare server on node:http that serves our documents. */
function startBare({ server, paths }: Side): Promise<ServerProcess> {
  const env = { OURS: `http://127.0.0.1:${server.port}`, PATHS: `${DISCOVERY} ${paths.jwks}` }
  return start(join(import.meta.dirname, 'bare-server.ts'), BARE_PORT, env)
}

const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()
const codeForm = (code: string) =>
  form({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI })
const refreshForm = (refresh_token: string) => form({ grant_type: 'refresh_token', refresh_token })

type Tokens = { access_token: string; refresh_token: string; id_token: string }

async function obtainTokens(side: Side, alg: Algorithm, count: number): Promise<Tokens[]> {
  const codes = await side.makeCodes(alg, count)
  const tokens: Tokens[] = []
  await measure({
    servers: [side.server],
    connections: 1,
    count,
    request: (_, n) => tokenRequest(side, alg, codeForm(codes[n]!)),
    onAnswer: (_, { body }) => tokens.push(JSON.parse(body)),
  })
  const header = JSON.parse(Buffer.from(tokens[0]!.id_token.split('.')[0]!, 'base64url').toString())
  if (header.alg !== alg) throw new Error(`${side.name} signed with ${header.alg}, not ${alg}`)
  return tokens
}

function tokenRequest(side: Side, alg: Algorithm, body: string) {
  return {
    method: 'POST' as const,
    path: side.paths.token,
    headers: { authorization: side.authorization(alg) },
    body,
  }
}

async function exchangeCodes(side: Side, alg: Algorithm, count: number): Promise<Measured> {
  const codes = await side.makeCodes(alg, count + CONNECTIONS)
  const request = (_: number, n: number) => tokenRequest(side, alg, codeForm(codes[n]!))
  return measure({ servers: [side.server], connections: CONNECTIONS, count, request })
}

async function refreshTokens(side: Side, alg: Algorithm, count: number): Promise<Measured> {
  const held = (await obtainTokens(side, alg, CONNECTIONS)).map(({ refresh_token }) => refresh_token)
  return measure({
    servers: [side.server],
    connections: CONNECTIONS,
    count,
    request: (i) => tokenRequest(side, alg, refreshForm(held[i]!)),
    onAnswer: (i, { body }) => {
      held[i] = JSON.parse(body).refresh_token
    },
  })
}

function get(
  server: ServerProcess,
  path: string,
  count: number,
  headers: Record<string, string> = {},
): Promise<Measured> {
  const request = () => ({ method: 'GET' as const, path, headers })
  return measure({ servers: [server], connections: CONNECTIONS, count, request })
}

const OPERATIONS: Operation[] = [
  ...ALGORITHMS.map((alg) => ({
    name: `code exchange ${alg}`,
    count: 1_500,
    run: (side: Side, count: number) => exchangeCodes(side, alg, count),
  })),
  ...ALGORITHMS.map((alg) => ({
    name: `refresh ${alg}`,
    count: 1_500,
    run: (side: Side, count: number) => refreshTokens(side, alg, count),
  })),
  {
    name: 'userinfo',
    count: 4_000,
    async run(side, count) {
      const [tokens] = await obtainTokens(side, 'RS256', 1)
      return get(side.server, side.paths.userinfo, count, { authorization: `Bearer ${tokens!.access_token}` })
    },
  },
  {
    name: 'discovery',
    count: 10_000,
    run: ({ server }, count) => get(server, DISCOVERY, count),
    barePath: DISCOVERY,
  },
  {
    name: 'JWKS',
    count: 10_000,
    run: ({ server, paths }, count) => get(server, paths.jwks, count),
    barePath: '/oauth2/jwks',
  },
]

/** Signs members in by password, ten per second, until `stop`, which returns the sign-ins per second. */
async function signInSteadily(port: number, members: Member[]): Promise<{ stop(): Promise<number> }> {
  const browsers = await Promise.all(Array.from({ length: 10 }, () => openConnection(port)))
  const forms = await Promise.all(browsers.map(readSignInForm))
  let isStopped = false
  let count = 0
  const start = performance.now()
  const running = browsers.map(async (browser, i) => {
    for (let n = i; !isStopped; n += browsers.length) {
      const wait = start + n * 100 - performance.now()
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
      const { cookie, form_token } = forms[i]!
      const { username } = members[n % members.length]!
      const { status, body } = await browser.ask({
        method: 'POST',
        path: '/sign-in',
        headers: { cookie, accept: 'text/html', 'sec-fetch-site': 'same-origin' },
        body: form({ form_token, username, password: PASSWORD }),
      })
      if (status !== 303) throw new Error(`sign-in: ${status} ${body.slice(0, 300)}`)
      count += 1
    }
    browser.close()
  })
  return {
    async stop() {
      isStopped = true
      await Promise.all(running)
      return count / ((performance.now() - start) / 1000)
    },
  }
}

async function readSignInForm(browser: Connection): Promise<{ cookie: string; form_token: string }> {
  const { headers, body } = await browser.ask({
    method: 'GET',
    path: '/sign-in',
    headers: { accept: 'text/html' },
  })
  const cookie = /set-cookie: ([^;]+)/i.exec(headers)![1]!
  const form_token = /name="form_token" value="([^"]+)"/.exec(body)![1]!
  return { cookie, form_token }
}

const TOKEN_CALLS_PER_SECOND = 100
const P99_SECONDS = 10

/** The 99th percentile of refreshes at a steady rate, in milliseconds. */
async function refreshP99(side: Side): Promise<number> {
  const held = (await obtainTokens(side, 'RS256', CONNECTIONS)).map(({ refresh_token }) => refresh_token)
  const load = { per_second: TOKEN_CALLS_PER_SECOND, seconds: P99_SECONDS * SCALE, connections: CONNECTIONS }
  return p99AtRate(side.server.port, load, async (connection, i) => {
    const answer: Answer = await connection.ask(tokenRequest(side, 'RS256', refreshForm(held[i]!)))
    held[i] = JSON.parse(answer.body).refresh_token
    return answer
  })
}

async function compare(ours: Side, theirs: Side, bare: ServerProcess): Promise<void> {
  const operations = OPERATIONS.filter(({ name }) => flags.only === undefined || name.includes(flags.only))
  const results = new Map<string, Record<Side['name'] | 'bare', Measured[]>>()
  const signatures: number[] = []
  for (const { name } of operations) results.set(name, { ours: [], theirs: [], bare: [] })
  // Round 0 is a warm-up and is not counted.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { name, count, run, barePath } of operations) {
      const sides = round % 2 === 0 ? [ours, theirs] : [theirs, ours]
      for (const side of sides) {
        const measured = await run(side, Math.ceil(count * SCALE))
        if (round > 0) results.get(name)![side.name].push(measured)
      }
      if (barePath === undefined) continue
      const limit = await get(bare, barePath, Math.ceil(count * SCALE))
      if (round > 0) results.get(name)!.bare.push(limit)
    }
    if (round > 0) signatures.push(signatureCost())
  }
  console.log(
    '\noperation             requests/s: ours, theirs, ratio                    CPU µs/request: ours, theirs, ratio',
  )
  for (const [name, { ours: own, theirs: other, bare: limit }] of results) {
    printRow(name, own, other)
    if (limit.length > 0) printRow('  bare node:http', limit, other)
  }
  console.log(`\none RSA-2048 signature takes ${spread(signatures)} µs`)
  for (const [name, { ours: own, theirs: other }] of results) {
    if (!name.endsWith('RS256')) continue
    const rest = (all: Measured[]) => median(all.map(({ cpu_us }) => cpu_us)) - median(signatures)
    console.log(`CPU of ${name} without it, ours ÷ theirs: ×${(rest(own) / rest(other)).toFixed(2)}`)
  }
}

function printRow(name: string, own: Measured[], other: Measured[]): void {
  const rate = [own, other].map((all) => all.map(({ per_second }) => per_second)) as [number[], number[]]
  const cpu = [own, other].map((all) => all.map(({ cpu_us }) => cpu_us)) as [number[], number[]]
  const [rates, cpus] = [rate, cpu].map(
    ([a, b]) => `${spread(a)}, ${spread(b)}, ×${(median(a) / median(b)).toFixed(2)}`,
  )
  console.log(name.padEnd(21), rates!.padEnd(52), cpus)
}

async function compareUnderSignIns(ours: Side, members: Member[]): Promise<void> {
  const [alone, beside]: [number[], number[]] = [[], []]
  const rates: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    alone.push(await refreshP99(ours))
    const load = await signInSteadily(ours.server.port, members)
    beside.push(await refreshP99(ours))
    rates.push(await load.stop())
  }
  console.log(
    `\np99 of refreshes at ${TOKEN_CALLS_PER_SECOND}/s: ${spread(alone, 1)} ms alone, ${spread(beside, 1)} ms beside ${median(rates).toFixed(1)} sign-ins/s, ×${(median(beside) / median(alone)).toFixed(2)}`,
  )
}

const dataDir = await mkdtemp(join(tmpdir(), 'tessera-bench-'))
const postgres = await startEmbedded({ dataDir })
const servers: ServerProcess[] = []
const sides: Side[] = []
try {
  const admin = new pg.Client({ connectionString: postgres.url })
  await admin.connect()
  await admin.query('create database ours')
  await admin.query('create database theirs')
  await admin.end()
  const named = (name: string) => Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
  const { side: ours, members, keys } = await startOurs(named('ours'))
  servers.push(ours.server)
  const theirs = await startTheirs(named('theirs'), members, keys)
  servers.push(theirs.server)
  sides.push(ours, theirs)
  if (flags.only !== 'p99') {
    const bare = await startBare(ours)
    servers.push(bare)
    await compare(ours, theirs, bare)
  }
  if (flags.only === undefined || flags.only === 'p99') await compareUnderSignIns(ours, members)
} finally {
  await stopServers(servers)
  for (const side of sides) await side.close()
  await postgres.stop()
  await rm(dataDir, { recursive: true, force: true })
}
process.exit()
