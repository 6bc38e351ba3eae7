/**
 * The environment, read once. This file is the only reader of `process.env`; everything else receives the
 * frozen `Config` as a value. Settings that an administrator changes while running live in Postgres instead.
 */
import { isIP } from 'node:net'
import { z } from 'zod'

/** The most that REQUESTS_AT_ONCE_MAX may say; as many may wait for one of the batches. */
export const AT_ONCE_LIMIT = 1_000

const SAMPLE_SECRET = 'change-me-to-64-random-hex-characters'

/** An http(s) origin without path, query or trailing slash: the issuer is compared byte for byte by clients. */
const origin = z.string().refine((text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text
}, 'must be an origin such as https://id.example.org, without a path or a trailing slash')

/** Decimal digits only: `Number` would also take 0x50 and 1e3. */
function wholeNumber(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((n) => n >= min && n <= max, message)
}

const port = wholeNumber(1, 65_535)
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const

const ranges = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine((list) => list.every(isRange), 'must be addresses or CIDR ranges, separated by commas')

/** A range of no bits is everyone: then any caller could claim any address, or be called, so it is refused. */
function isRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || rest.length > 0) return false
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

/** A socket's address has no host (`postgres://name@/database?host=/run/postgresql`), which `URL` does not allow. */
const databaseUrl = z
  .string()
  .refine(
    (text) => /^postgres(ql)?:\/\//.test(text) && URL.canParse(text.replace('@/', '@socket/')),
    'must be like postgres://name:password@host:5432/database, with special characters percent-encoded',
  )

/** Unlike our own addresses, a forum may live under a path. */
const forumUrl = z.string().refine((text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return (
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    `${url.origin}${url.pathname}`.replace(/\/$/, '') === text
  )
}, 'must be an address such as https://forum.example.org, without a trailing slash')

/** Printable ASCII: what may stand in a header or be typed into the forum's settings. */
const forumKey = z.string().regex(/^[\x21-\x7e]{10,200}$/, 'must have at least 10 characters and no spaces')

const smtpUrl = z.string().refine((text) => {
  const url = /^smtps?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined
  return (
    url !== undefined && url.hostname !== '' && /^\/?$/.test(url.pathname) && url.search + url.hash === ''
  )
}, 'must be like smtps://name:password@mail.example.org:465, with special characters percent-encoded')

/** `no-reply@example.org` or `Tessera <no-reply@example.org>`. */
const sender = z
  .string()
  .regex(
    /^(?:[^\s<>@"]+@[^\s<>@,]+|[^<>@",\p{Cc}]{1,100} <[^\s<>@"]+@[^\s<>@,]+>)$/u,
    'must be an address such as no-reply@example.org or Tessera <no-reply@example.org>',
  )

/** Where traces go. A key in the address would be logged by whatever stands between: OTEL_EXPORTER_OTLP_HEADERS is for keys. */
const collectorUrl = z.string().refine((text) => {
  const url = /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && url.username + url.password + url.search + url.hash === ''
}, 'must be an address such as http://127.0.0.1:4318, without a name, a password or a query')

/** `name=value,name=value`, values percent-encoded. */
const headerList = z.string().transform((text, context) => {
  const headers: Record<string, string> = {}
  for (const part of text.split(',')) {
    const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x21-\x7e]+)\s*$/.exec(part) ?? []
    const decoded = decodedHeader(value)
    if (name === undefined || decoded === undefined) {
      context.addIssue(
        'must be like name=value,name=value, with special characters of values percent-encoded',
      )
      return z.NEVER
    }
    headers[name] = decoded
  }
  return headers
})

/** Printable ASCII, or nothing. */
function decodedHeader(value = '%'): string | undefined {
  try {
    const text = decodeURIComponent(value)
    return /^[\x20-\x7e]+$/.test(text) ? text : undefined
  } catch {
    return undefined
  }
}

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

const ratio = z
  .string()
  .regex(/^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/, 'must be a number from 0 to 1, such as 0.05')
  .transform(Number)

const appSecret = z.string().min(32, 'must have at least 32 characters')

/** What is wrong with an APP_SECRET that is kept in a file, if anything. */
export function appSecretFault(text: string): string | undefined {
  return appSecret.safeParse(text).error?.issues[0]?.message
}

/** One entry per variable, in the order of `.env.example`. Empty text counts as absent. */
export const environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(3000),
  PUBLIC_URL: origin.optional(),
  PAYMENT_PUBLIC_URL: origin.optional(),
  TRUST_PROXY: ranges.optional(),
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_POOL_MAX: wholeNumber(2, 200).default(10),
  REQUESTS_AT_ONCE_MAX: wholeNumber(16, AT_ONCE_LIMIT).default(256),
  DATA_DIR: z.string().default('.tessera'),
  APP_SECRET: appSecret.optional(),
  APP_SECRET_OTHER: appSecret.optional(),
  ADMIN_USERNAME: z
    .string()
    .regex(/^[^\s\p{Cc}]{1,60}$/u, 'must have at most 60 characters and no spaces')
    .default('admin'),
  ADMIN_PASSWORD: z.string().min(10, 'must have at least 10 characters').optional(),
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
  METRICS_HOST: z.string().default('127.0.0.1'),
  METRICS_PORT: port.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collectorUrl.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headerList.optional(),
  OTEL_SERVICE_NAME: z
    .string()
    .regex(/^[^\p{Cc}]{1,100}$/u, 'must have at most 100 characters')
    .default('tessera'),
  OTEL_TRACES_SAMPLER: z
    .enum(samplers, `must be one of ${samplers.join(', ')}`)
    .default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: ratio.default(1),
  DISCOURSE_URL: forumUrl.optional(),
  DISCOURSE_SECRET: forumKey.optional(),
  DISCOURSE_API_KEY: forumKey.optional(),
  DISCOURSE_API_USERNAME: z
    .string()
    .regex(/^[^\s\p{Cc}]{1,60}$/u, 'must have at most 60 characters and no spaces')
    .default('system'),
  DISCOURSE_WEBHOOK_SECRET: forumKey.optional(),
  SMTP_URL: smtpUrl.optional(),
  SMTP_FROM: sender.optional(),
  NOTIFY_ALLOW_CIDRS: ranges.optional(),
  SHOP_PORT: port.default(4000),
  FORUM_PORT: port.default(4001),
  GATEWAY_SHOP_PORT: port.default(4002),
})

type Environment = Record<string, string | undefined>

/** The validated configuration. URLs are origins without a trailing slash. */
export type Config = Readonly<
  Omit<z.output<typeof environment>, 'PUBLIC_URL' | 'PAYMENT_PUBLIC_URL'> & {
    PUBLIC_URL: string
    PAYMENT_PUBLIC_URL: string
    /** A public URL is not loopback: https and real secrets are required, and nothing is invented. */
    production: boolean
  }
>

/** Every fault of the environment at once, one sentence each. */
export class ConfigError extends Error {
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    )
    this.name = 'ConfigError'
    this.faults = faults
  }
}

/**
 * Reads the environment. Throws ConfigError with every fault found.
 * @param env the process's own, with `.env`, unless a test says otherwise.
 */
export function loadConfig(env: Environment = processEnvironment()): Config {
  const given: Environment = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  )
  const parsed = environment.safeParse(given)
  const production = [given.PUBLIC_URL, given.PAYMENT_PUBLIC_URL].some(isPublic)
  // By variable, since the first fault of one explains it, and a later one could only repeat it.
  const faults = new Map([
    ...forumFaults(given, production),
    ...mailFaults(given),
    ...tracingFaults(given),
    ...secretFaults(given),
    ...(production ? productionFaults(given) : []),
  ])
  for (const { path, message } of parsed.error?.issues ?? []) faults.set(path.join('.'), message)
  if (!parsed.success || faults.size > 0) throw new ConfigError(inOrder(faults))
  const values = parsed.data
  const publicUrl = values.PUBLIC_URL ?? `http://127.0.0.1:${values.PORT}`
  return Object.freeze({
    ...values,
    PUBLIC_URL: publicUrl,
    PAYMENT_PUBLIC_URL: values.PAYMENT_PUBLIC_URL ?? publicUrl,
    production,
  })
}

/**
 * The environment as `--demo` reads it: for this machine only, quiet, and blind to DATABASE_URL, so that no real
 * database can ever be met. Throws ConfigError for an address that is not loopback.
 */
export function loadDemoConfig(env: Environment = processEnvironment()): Config {
  const names = (['PUBLIC_URL', 'PAYMENT_PUBLIC_URL'] as const).filter((name) => isPublic(env[name]))
  if (names.length > 0) {
    throw new ConfigError(
      names.map((name) => `${name} must be loopback or absent: --demo is for this machine only`),
    )
  }
  return loadConfig({
    ...env,
    DATABASE_URL: undefined,
    LOG_LEVEL: env.LOG_LEVEL || 'warn',
    // The shops of the demo.
    NOTIFY_ALLOW_CIDRS: env.NOTIFY_ALLOW_CIDRS || '127.0.0.0/8,::1',
  })
}

/** The environment of the process, completed by a file `.env` where it was started. What is set already wins. */
function processEnvironment(): Environment {
  try {
    process.loadEnvFile()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return process.env
}

/** Whether a script of npm started this process, through a shell of its own. */
export function isRunByNpm(): boolean {
  return process.env.npm_lifecycle_event !== undefined
}

/** Whether a URL's host is this machine: `localhost`, 127.0.0.0/8 or `[::1]`. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

/** Judged before the schema has accepted the text, so that the faults of both are reported together. */
function isPublic(text: string | undefined): boolean {
  return text !== undefined && /^https?:/.test(text) && URL.canParse(text) && !isLoopback(text)
}

function productionFaults(given: Environment): [name: string, fault: string][] {
  const faults: [string, string][] = []
  for (const name of ['PUBLIC_URL', 'PAYMENT_PUBLIC_URL'] as const) {
    // PAYMENT_PUBLIC_URL follows PUBLIC_URL when it is absent.
    const isAbsent = given[name] === undefined && name === 'PAYMENT_PUBLIC_URL'
    if (!isAbsent && !given[name]?.startsWith('https://'))
      faults.push([name, 'must start with https://, unless both public addresses are loopback'])
  }
  if (given.DATABASE_URL === undefined) {
    faults.push([
      'DATABASE_URL',
      'is required when PUBLIC_URL is not loopback: the built-in Postgres is for trying things out',
    ])
  }
  if (given.APP_SECRET === undefined)
    faults.push(['APP_SECRET', 'is required: make one with `openssl rand -hex 32`'])
  for (const name of ['APP_SECRET', 'APP_SECRET_OTHER'] as const) {
    if (given[name] === SAMPLE_SECRET)
      faults.push([name, 'is the sample value: make one with `openssl rand -hex 32`'])
  }
  return faults
}

/** The forum's settings need one another. */
function forumFaults(given: Environment, production: boolean): [name: string, fault: string][] {
  const faults: [string, string][] = []
  if (given.DISCOURSE_URL !== undefined && given.DISCOURSE_SECRET === undefined)
    faults.push(['DISCOURSE_SECRET', 'is required with DISCOURSE_URL'])
  for (const name of ['DISCOURSE_SECRET', 'DISCOURSE_API_KEY'] as const) {
    if (given[name] !== undefined && given.DISCOURSE_URL === undefined)
      faults.push(['DISCOURSE_URL', `is required with ${name}`])
  }
  if (given.DISCOURSE_WEBHOOK_SECRET !== undefined && given.DISCOURSE_API_KEY === undefined)
    faults.push([
      'DISCOURSE_API_KEY',
      'is required with DISCOURSE_WEBHOOK_SECRET: a webhook only says whom to ask about',
    ])
  if (production && given.DISCOURSE_URL !== undefined && !given.DISCOURSE_URL.startsWith('https://'))
    faults.push(['DISCOURSE_URL', 'must start with https://, unless both public addresses are loopback'])
  return faults
}

/** One that is changed must be named, or the one kept in DATA_DIR would stand in its place unseen. */
function secretFaults(given: Environment): [name: string, fault: string][] {
  if (given.APP_SECRET_OTHER === undefined) return []
  if (given.APP_SECRET === undefined) return [['APP_SECRET', 'is required with APP_SECRET_OTHER']]
  if (given.APP_SECRET === given.APP_SECRET_OTHER)
    return [['APP_SECRET_OTHER', 'must be another one than APP_SECRET']]
  return []
}

/** A server without a sender, or the other way round, sends nothing. */
function mailFaults(given: Environment): [name: string, fault: string][] {
  if (given.SMTP_URL !== undefined && given.SMTP_FROM === undefined)
    return [['SMTP_FROM', 'is required with SMTP_URL']]
  if (given.SMTP_FROM !== undefined && given.SMTP_URL === undefined)
    return [['SMTP_URL', 'is required with SMTP_FROM']]
  return []
}

/** Headers alone send nothing. */
function tracingFaults(given: Environment): [name: string, fault: string][] {
  const { OTEL_EXPORTER_OTLP_HEADERS: headers } = given
  const endpoint = given.OTEL_EXPORTER_OTLP_ENDPOINT ?? given.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  return headers !== undefined && endpoint === undefined
    ? [['OTEL_EXPORTER_OTLP_ENDPOINT', 'is required with OTEL_EXPORTER_OTLP_HEADERS']]
    : []
}

function inOrder(faults: Map<string, string>): string[] {
  const names = Object.keys(environment.shape).filter((name) => faults.has(name))
  return names.map((name) => `${name} ${faults.get(name)}`)
}
