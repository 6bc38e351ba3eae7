/** The schema of every environment variable. `.env.example` explains them. */
import { isIP } from 'node:net'
import { z } from 'zod'

/** The largest REQUESTS_AT_ONCE_MAX. As many callers may wait in one batcher. */
export const AT_ONCE_LIMIT = 1_000

export const SAMPLE_SECRET = 'change-me-to-64-random-hex-characters'
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const

/** An http(s) origin without path, query or trailing slash, because clients compare the issuer byte for byte. */
const origin = z.string().refine((text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text
}, 'must be an origin such as https://id.example.org, without a path or a trailing slash')

/** Accepts decimal digits only; `Number` would also accept 0x50 and 1e3. */
function wholeNumber(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((n) => n >= min && n <= max, message)
}

const port = wholeNumber(1, 65_535)

const ranges = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine((list) => list.every(isRange), 'must be addresses or CIDR ranges, separated by commas')

/** Refuses a range of 0 bits. It contains all addresses, so any caller could claim any address, or be called. */
function isRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || rest.length > 0) return false
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

/** A socket's address has no host (`postgres://name@/database?host=/run/postgresql`), and `URL` requires one. */
const databaseUrl = z
  .string()
  .refine(
    (text) => /^postgres(ql)?:\/\//.test(text) && URL.canParse(text.replace('@/', '@socket/')),
    'must be like postgres://name:password@host:5432/database, with special characters percent-encoded',
  )
  .refine(
    (text) => !/^[^/]*:\/\/[^/?#]*@[^/?#]*@/.test(text),
    'has an @ in its name or password: write it as %40, because psql and pg_dump take what follows for the host',
  )

/** Unlike our own addresses, a forum's address may have a path. */
const forumUrl = z.string().refine((text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return (
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    `${url.origin}${url.pathname}`.replace(/\/$/, '') === text
  )
}, 'must be an address such as https://forum.example.org, without a trailing slash')

/** Printable ASCII, which fits into a header and into the forum's settings. */
const forumKey = z.string().regex(/^[\x21-\x7e]{10,200}$/, 'must have at least 10 characters and no spaces')

const smtpUrl = z.string().refine((text) => {
  const url = /^smtps?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined
  return (
    url !== undefined && url.hostname !== '' && /^\/?$/.test(url.pathname) && url.search + url.hash === ''
  )
}, 'must be like smtps://name:password@mail.example.org:465, with special characters percent-encoded')

/** `no-reply@example.org` or `Tessera <no-reply@example.org>`. */
export const sender = z
  .string()
  .regex(
    /^(?:[^\s<>@"]+@[^\s<>@,]+|[^<>@",\p{Cc}]{1,100} <[^\s<>@"]+@[^\s<>@,]+>)$/u,
    'must be an address such as no-reply@example.org or Tessera <no-reply@example.org>',
  )

/** The address of a trace collector. Proxies would log a key in it, so keys go into OTEL_EXPORTER_OTLP_HEADERS. */
const collectorUrl = z.string().refine((text) => {
  const url = /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && url.username + url.password + url.search + url.hash === ''
}, 'must be an address such as http://127.0.0.1:4318, without a name, a password or a query')

/** The address of a changelog. Its request names nobody, so it carries no name and no password. */
const changelogUrl = z.string().refine((text) => {
  const url = /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && url.username + url.password + url.hash === ''
}, 'must be an address such as https://example.org/CHANGELOG.md, without a name or a password')

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

/** Returns undefined unless the decoded value is printable ASCII. */
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

/** Returns the fault of an APP_SECRET that was read from a file, or undefined. */
export function appSecretFault(text: string): string | undefined {
  return appSecret.safeParse(text).error?.issues[0]?.message
}

/** The schema, one entry for each variable in the order of `.env.example`. Empty text counts as absent. */
export const environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(3000),
  PUBLIC_URL: origin.optional(),
  PAYMENT_PUBLIC_URL: origin.optional(),
  TRUST_PROXY: ranges.optional(),
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_POOL_MAX: wholeNumber(2, 200).default(10),
  DATABASE_NAMED_STATEMENTS: z.enum(['on', 'off'], 'must be on or off').default('on'),
  REQUESTS_AT_ONCE_MAX: wholeNumber(16, AT_ONCE_LIMIT).default(256),
  STOP_GRACE_SECONDS: wholeNumber(0, 60).optional(),
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
  UPDATE_NOTICE_URL: changelogUrl.optional(),
  SHOP_PORT: port.default(4000),
  FORUM_PORT: port.default(4001),
  GATEWAY_SHOP_PORT: port.default(4002),
})
