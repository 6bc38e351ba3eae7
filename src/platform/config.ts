/**
 * Reads the environment once. Only this file reads `process.env`; all other code receives the frozen `Config`.
 * Settings that an administrator changes at run time are in Postgres instead.
 */
import type { z } from 'zod'
import { environment, SAMPLE_SECRET } from './environment.ts'

/** A proxy that asks /readyz every second or two notices a stop in time. */
const GRACE_SECONDS = 5

type Environment = Record<string, string | undefined>

/** The validated configuration. URLs are origins without a trailing slash. */
export type Config = Readonly<
  Omit<z.output<typeof environment>, 'PUBLIC_URL' | 'PAYMENT_PUBLIC_URL' | 'STOP_GRACE_SECONDS'> & {
    PUBLIC_URL: string
    PAYMENT_PUBLIC_URL: string
    STOP_GRACE_SECONDS: number
    /** True when a public URL is not loopback. Then https, a database and real secrets are required. */
    production: boolean
  }
>

/** Reports every fault of the environment together, one sentence each. */
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
 * Reads and validates the environment. Throws ConfigError with every fault found.
 * @param env by default the environment of the process, completed by `.env`.
 * @param loopback the host of PUBLIC_URL where the environment names none.
 */
export function loadConfig(
  env: Environment = processEnvironment(),
  loopback: '127.0.0.1' | 'localhost' = '127.0.0.1',
): Config {
  const given: Environment = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  )
  const parsed = environment.safeParse(given)
  const production = [given.PUBLIC_URL, given.PAYMENT_PUBLIC_URL].some(isPublic)
  // One fault per variable: a second one would repeat the first. The schema's fault replaces ours.
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
  const publicUrl = values.PUBLIC_URL ?? `http://${loopback}:${values.PORT}`
  return Object.freeze({
    ...values,
    PUBLIC_URL: publicUrl,
    PAYMENT_PUBLIC_URL: values.PAYMENT_PUBLIC_URL ?? publicUrl,
    STOP_GRACE_SECONDS: values.STOP_GRACE_SECONDS ?? (production ? GRACE_SECONDS : 0),
    production,
  })
}

/**
 * Reads the environment for `--demo`, which serves this machine only and logs warnings only. It ignores DATABASE_URL,
 * so the demo never touches a real database. Throws ConfigError when a public address is not loopback.
 */
export function loadDemoConfig(env: Environment = processEnvironment()): Config {
  const names = (['PUBLIC_URL', 'PAYMENT_PUBLIC_URL'] as const).filter((name) => isPublic(env[name]))
  if (names.length > 0) {
    throw new ConfigError(
      names.map((name) => `${name} must be loopback or absent: --demo is for this machine only`),
    )
  }
  const whole = {
    ...env,
    DATABASE_URL: undefined,
    LOG_LEVEL: env.LOG_LEVEL || 'warn',
    // The demo's shops receive notifications on loopback.
    NOTIFY_ALLOW_CIDRS: env.NOTIFY_ALLOW_CIDRS || '127.0.0.0/8,::1',
  }
  // Browsers keep no passkeys for an IP address.
  return loadConfig(whole, 'localhost')
}

/** Loads `.env` from the working directory. Variables that are already set keep their values. */
function processEnvironment(): Environment {
  try {
    process.loadEnvFile()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return process.env
}

/** Whether an npm script started this process. npm starts scripts through a shell. */
export function isRunByNpm(): boolean {
  return process.env.npm_lifecycle_event !== undefined
}

/** Whether a URL's host is this machine: `localhost`, 127.0.0.0/8 or `[::1]`. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

/** Runs before the schema validates the text, so that all faults are reported together. */
function isPublic(text: string | undefined): boolean {
  return text !== undefined && /^https?:/.test(text) && URL.canParse(text) && !isLoopback(text)
}

function productionFaults(given: Environment): [name: string, fault: string][] {
  const faults: [string, string][] = []
  for (const name of ['PUBLIC_URL', 'PAYMENT_PUBLIC_URL'] as const) {
    // PAYMENT_PUBLIC_URL defaults to PUBLIC_URL.
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

/** The forum's settings depend on each other. */
function forumFaults(given: Environment, production: boolean): [name: string, fault: string][] {
  const faults: [string, string][] = []
  if (given.DISCOURSE_URL !== undefined && given.DISCOURSE_SECRET === undefined)
    faults.push(['DISCOURSE_SECRET', 'is required with DISCOURSE_URL'])
  for (const name of ['DISCOURSE_SECRET', 'DISCOURSE_API_KEY', 'DISCOURSE_WEBHOOK_SECRET'] as const) {
    if (given[name] !== undefined && given.DISCOURSE_URL === undefined)
      faults.push(['DISCOURSE_URL', `is required with ${name}`])
  }
  if (production && given.DISCOURSE_URL !== undefined && !given.DISCOURSE_URL.startsWith('https://'))
    faults.push(['DISCOURSE_URL', 'must start with https://, unless both public addresses are loopback'])
  return faults
}

/** APP_SECRET_OTHER requires APP_SECRET: without it, the secret kept in DATA_DIR would be used silently. */
function secretFaults(given: Environment): [name: string, fault: string][] {
  if (given.APP_SECRET_OTHER === undefined) return []
  if (given.APP_SECRET === undefined) return [['APP_SECRET', 'is required with APP_SECRET_OTHER']]
  if (given.APP_SECRET === given.APP_SECRET_OTHER)
    return [['APP_SECRET_OTHER', 'must differ from APP_SECRET']]
  return []
}

/** Mail needs both a server and a sender. */
function mailFaults(given: Environment): [name: string, fault: string][] {
  if (given.SMTP_URL !== undefined && given.SMTP_FROM === undefined)
    return [['SMTP_FROM', 'is required with SMTP_URL']]
  if (given.SMTP_FROM !== undefined && given.SMTP_URL === undefined)
    return [['SMTP_URL', 'is required with SMTP_FROM']]
  return []
}

/** Headers without an endpoint have no effect. */
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
