/**
 * The environment, read once. This file is the only reader of `process.env`; everything else receives the
 * frozen `Config` as a value. Settings that an administrator changes while running live in Postgres instead.
 */
import { isIP } from 'node:net'
import { z } from 'zod'

const SAMPLE_SECRET = 'change-me-to-64-random-hex-characters'

/** An http(s) origin without path, query or trailing slash: the issuer is compared byte for byte by clients. */
const origin = z.string().refine((text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text
}, 'must be an origin such as https://id.example.org, without a path or a trailing slash')

const port = z.coerce.number().int().min(1).max(65_535)

const proxies = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine((list) => list.every(isProxy), 'must be addresses or CIDR ranges, separated by commas')

function isProxy(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

/** One entry per variable, in the order of `.env.example`. Empty text counts as absent. */
export const environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(3000),
  PUBLIC_URL: origin.optional(),
  PAYMENT_PUBLIC_URL: origin.optional(),
  TRUST_PROXY: proxies.optional(),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must start with postgres://')
    .optional(),
  DATABASE_POOL_MAX: z.coerce.number().int().min(2).max(200).default(10),
  DATA_DIR: z.string().default('.tessera'),
  APP_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  ADMIN_USERNAME: z.string().default('admin'),
  ADMIN_PASSWORD: z.string().min(10, 'must have at least 10 characters').optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent']).default('info'),
  SHOP_PORT: port.default(4000),
})

/** The validated configuration. URLs are origins without a trailing slash. */
export type Config = Readonly<
  Omit<z.output<typeof environment>, 'PUBLIC_URL' | 'PAYMENT_PUBLIC_URL'> & {
    PUBLIC_URL: string
    PAYMENT_PUBLIC_URL: string
    /** PUBLIC_URL is not loopback: https and real secrets are required, and nothing is invented. */
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
 * @param env `process.env` unless a test says otherwise.
 */
export function loadConfig(env: Record<string, string | undefined> = process.env): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  )
  const parsed = environment.safeParse(given)
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`))
  }
  const values = parsed.data
  const publicUrl = values.PUBLIC_URL ?? `http://127.0.0.1:${values.PORT}`
  const config = {
    ...values,
    PUBLIC_URL: publicUrl,
    PAYMENT_PUBLIC_URL: values.PAYMENT_PUBLIC_URL ?? publicUrl,
    production: !isLoopback(publicUrl),
  }
  const faults = config.production ? productionFaults(config) : []
  if (faults.length > 0) throw new ConfigError(faults)
  return Object.freeze(config)
}

/** Whether a URL's host is this machine: `localhost`, 127.0.0.0/8 or `[::1]`. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

function productionFaults(config: Omit<Config, 'production'>): string[] {
  const faults: string[] = []
  for (const name of ['PUBLIC_URL', 'PAYMENT_PUBLIC_URL'] as const) {
    if (!config[name].startsWith('https://')) faults.push(`${name} must be https when it is not loopback`)
  }
  if (config.DATABASE_URL === undefined) {
    faults.push(
      'DATABASE_URL is required when PUBLIC_URL is not loopback: the built-in Postgres is for trying things out',
    )
  }
  if (config.APP_SECRET === undefined)
    faults.push('APP_SECRET is required: make one with `openssl rand -hex 32`')
  if (config.APP_SECRET === SAMPLE_SECRET)
    faults.push('APP_SECRET is the sample value: make one with `openssl rand -hex 32`')
  return faults
}
