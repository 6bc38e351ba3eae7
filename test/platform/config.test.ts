/** The environment variables: one case per rule, and the errors of the process itself. */
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { ConfigError, loadConfig } from '../../src/platform/config.ts'
import { environment } from '../../src/platform/environment.ts'

const ROOT = join(import.meta.dirname, '../..')
const SECRET = '7f3c9a51e0b84d26a97c18f5e2d0b3467f3c9a51e0b84d26'
const PRODUCTION = {
  PUBLIC_URL: 'https://id.example.org',
  DATABASE_URL: 'postgres://tessera@db.example.org/tessera',
  APP_SECRET: SECRET,
}
const NAMES = Object.keys(environment.shape)
const COMPOSE_ONLY = [
  'HTTPS_PORT',
  'POSTGRES_PASSWORD',
  'BACKUP_HOURS',
  'BACKUP_DAYS',
  'BACKUP_SENT_DAYS',
  'BACKUP_CHECK_DAYS',
  'RESTIC_REPOSITORY',
  'RESTIC_PASSWORD',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_DEFAULT_REGION',
  'PATRONI_PASSWORD',
  'REPLICATION_PASSWORD',
]
/** docker compose sets it. */
const PROJECT = 'COMPOSE_PROJECT_NAME'
const COMPOSE_FILES = ['docker-compose.yml', 'docs/operations/high-availability/compose.yml']

function faultsOf(env: Record<string, string | undefined>): readonly string[] {
  try {
    loadConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
  return []
}

/** The names of the faulty variables, without the explanations. */
function faultyNames(env: Record<string, string | undefined>): string[] {
  return faultsOf(env).map((fault) => fault.split(' ', 1)[0]!)
}

describe('the environment', () => {
  it('need say nothing on loopback', () => {
    expect(loadConfig({})).toEqual({
      HOST: '127.0.0.1',
      PORT: 3000,
      PUBLIC_URL: 'http://127.0.0.1:3000',
      PAYMENT_PUBLIC_URL: 'http://127.0.0.1:3000',
      DATABASE_POOL_MAX: 10,
      DATABASE_NAMED_STATEMENTS: 'on',
      REQUESTS_AT_ONCE_MAX: 256,
      STOP_GRACE_SECONDS: 0,
      DATA_DIR: '.tessera',
      ADMIN_USERNAME: 'admin',
      LOG_LEVEL: 'info',
      METRICS_HOST: '127.0.0.1',
      OTEL_SERVICE_NAME: 'tessera',
      OTEL_TRACES_SAMPLER: 'parentbased_always_on',
      OTEL_TRACES_SAMPLER_ARG: 1,
      DISCOURSE_API_USERNAME: 'system',
      SHOP_PORT: 4000,
      FORUM_PORT: 4001,
      GATEWAY_SHOP_PORT: 4002,
      production: false,
    })
  })

  it('gives a configuration that nobody can change afterwards', () => {
    expect(Object.isFrozen(loadConfig({}))).toBe(true)
  })

  it('counts empty text as absent', () => {
    const empty = Object.fromEntries(NAMES.map((name) => [name, '']))
    expect(loadConfig(empty)).toEqual(loadConfig({}))
  })

  it('may hold variables that are not ours', () => {
    expect(loadConfig({ PATH: '/usr/bin', POSTGRES_PASSWORD: 'x' })).toEqual(loadConfig({}))
  })

  it('derives the public addresses from the port and from each other', () => {
    expect(loadConfig({ PORT: '8080' }).PUBLIC_URL).toBe('http://127.0.0.1:8080')
    expect(loadConfig({ PUBLIC_URL: 'http://localhost:9000' }).PAYMENT_PUBLIC_URL).toBe(
      'http://localhost:9000',
    )
  })

  it('lists every fault in the schema’s order, with what is expected', () => {
    const faults = faultsOf({
      LOG_LEVEL: 'loud',
      PORT: 'abc',
      PUBLIC_URL: 'http://id.example.org',
      TRUST_PROXY: 'true',
      DATABASE_POOL_MAX: '1',
      ADMIN_USERNAME: 'the boss',
      ADMIN_PASSWORD: 'short',
      SHOP_PORT: '0',
    })
    expect(faults).toEqual([
      'PORT must be a whole number from 1 to 65535',
      'PUBLIC_URL must start with https://, unless both public addresses are loopback',
      'TRUST_PROXY must be addresses or CIDR ranges, separated by commas',
      expect.stringMatching(/^DATABASE_URL is required/),
      'DATABASE_POOL_MAX must be a whole number from 2 to 200',
      expect.stringMatching(/^APP_SECRET is required/),
      'ADMIN_USERNAME must have at most 60 characters and no spaces',
      'ADMIN_PASSWORD must have at least 10 characters',
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, silent',
      'SHOP_PORT must be a whole number from 1 to 65535',
    ])
  })

  it.each(['0', '65536', '3000.5', '-1', '1e3', '0x50', ' 80', 'http'])('refuses the port %j', (PORT) => {
    expect(faultyNames({ PORT })).toEqual(['PORT'])
  })

  it.each([
    'https://id.example.org/',
    'https://id.example.org/tessera',
    'https://id.example.org?',
    'https://id.example.org:443',
    'https://ID.example.org',
    'https://me@id.example.org',
    'ftp://id.example.org',
    'id.example.org',
    'localhost:3000',
  ])('refuses %s for a public address', (url) => {
    expect(faultsOf({ ...PRODUCTION, PUBLIC_URL: url })).toEqual([
      'PUBLIC_URL must be an origin such as https://id.example.org, without a path or a trailing slash',
    ])
    expect(faultyNames({ ...PRODUCTION, PAYMENT_PUBLIC_URL: url })).toEqual(['PAYMENT_PUBLIC_URL'])
  })

  it('reads TRUST_PROXY as a list of addresses and ranges', () => {
    const proxies = '10.0.0.1, 172.16.0.0/12,::1,fd00::/8'
    const list = ['10.0.0.1', '172.16.0.0/12', '::1', 'fd00::/8']
    expect(loadConfig({ TRUST_PROXY: proxies }).TRUST_PROXY).toEqual(list)
  })

  it.each([
    'true',
    'loopback',
    'proxy.example.org',
    '10.0.0',
    '10.0.0.1,',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    'fd00::/129',
    '0.0.0.0/0',
    '::/0',
  ])('refuses %j for TRUST_PROXY', (TRUST_PROXY) => {
    expect(faultyNames({ TRUST_PROXY })).toEqual(['TRUST_PROXY'])
  })

  it.each([
    'postgresql://u:p%23@db.example.org:6432/tessera?sslmode=require',
    'postgres://u@/tessera?host=/run/postgresql',
    'postgres://u%40x:p%40@db.example.org/tessera?application_name=a@b',
  ])('takes %s for DATABASE_URL', (DATABASE_URL) => {
    expect(loadConfig({ DATABASE_URL }).DATABASE_URL).toBe(DATABASE_URL)
  })

  it('takes another APP_SECRET only beside the one in use', () => {
    const other = `${SECRET}-other`
    expect(faultyNames({ APP_SECRET_OTHER: other })).toEqual(['APP_SECRET'])
    expect(faultyNames({ APP_SECRET: SECRET, APP_SECRET_OTHER: SECRET })).toEqual(['APP_SECRET_OTHER'])
    expect(faultyNames({ APP_SECRET: SECRET, APP_SECRET_OTHER: 'short' })).toEqual(['APP_SECRET_OTHER'])
    expect(faultyNames({ APP_SECRET: SECRET, APP_SECRET_OTHER: other })).toEqual([])
  })

  it.each([
    'mysql://db.example.org/tessera',
    'postgres://u:p#x@db.example.org/tessera',
    'postgres://u:p@x@db.example.org/tessera',
    'postgres://u@x:p@/tessera?host=/run/postgresql',
    'tessera',
  ])('refuses %s for DATABASE_URL', (DATABASE_URL) => {
    expect(faultyNames({ DATABASE_URL })).toEqual(['DATABASE_URL'])
  })
})

describe('the forum', () => {
  const FORUM = { DISCOURSE_URL: 'https://forum.example.org', DISCOURSE_SECRET: SECRET }

  it.each(['https://forum.example.org', 'https://example.org/forum', 'http://127.0.0.1:5000'])(
    'may live at %s',
    (DISCOURSE_URL) => {
      expect(loadConfig({ ...FORUM, DISCOURSE_URL })).toMatchObject({ DISCOURSE_URL })
    },
  )

  it.each([
    'https://forum.example.org/',
    'https://example.org/forum/',
    'https://forum.example.org?a=b',
    'https://me@forum.example.org',
    'forum.example.org',
  ])('refuses %s for its address', (DISCOURSE_URL) => {
    expect(faultyNames({ ...FORUM, DISCOURSE_URL })).toEqual(['DISCOURSE_URL'])
  })

  it('needs address and secret together', () => {
    const { DISCOURSE_URL, DISCOURSE_SECRET } = FORUM
    expect(faultyNames({ DISCOURSE_URL })).toEqual(['DISCOURSE_SECRET'])
    expect(faultyNames({ DISCOURSE_SECRET })).toEqual(['DISCOURSE_URL'])
    expect(faultyNames({ DISCOURSE_API_KEY: SECRET })).toEqual(['DISCOURSE_URL'])
    expect(faultyNames({ DISCOURSE_WEBHOOK_SECRET: SECRET })).toEqual(['DISCOURSE_URL'])
    expect(faultyNames({ ...FORUM, DISCOURSE_WEBHOOK_SECRET: SECRET })).toEqual([])
    expect(faultyNames({ ...FORUM, DISCOURSE_API_KEY: SECRET, DISCOURSE_WEBHOOK_SECRET: SECRET })).toEqual([])
    for (const key of ['short', 'ten letters and spaces', 'umlauts: ä-ö-ü'])
      expect(faultyNames({ DISCOURSE_URL, DISCOURSE_SECRET: key })).toEqual(['DISCOURSE_SECRET'])
  })

  it('is reached by https in production', () => {
    expect(faultyNames({ ...PRODUCTION, ...FORUM, DISCOURSE_URL: 'http://forum.example.org' })).toEqual([
      'DISCOURSE_URL',
    ])
  })
})

describe('mail', () => {
  const MAIL = {
    SMTP_URL: 'smtps://name:p%40ss@mail.example.org:465',
    SMTP_FROM: 'Tessera <no-reply@example.org>',
  }

  it.each(['smtp://127.0.0.1:2525', 'smtp://mail', 'smtps://name:p%40ss@mail.example.org'])(
    'may leave through %s',
    (SMTP_URL) => {
      expect(loadConfig({ ...MAIL, SMTP_URL })).toMatchObject({ SMTP_URL })
    },
  )

  it.each([
    'mail.example.org',
    'http://mail.example.org',
    'smtp://',
    'smtp://mail/?logger=true',
    'smtp://mail/x',
  ])('refuses %s for its server', (SMTP_URL) => {
    expect(faultyNames({ ...MAIL, SMTP_URL })).toEqual(['SMTP_URL'])
  })

  it.each(['nobody', 'a@b, c@d', 'A <a@b> <c@d>', 'a@b\r\nBcc: c@d', '"A" <a@b>'])(
    'refuses %j for its sender',
    (SMTP_FROM) => {
      expect(faultyNames({ ...MAIL, SMTP_FROM })).toEqual(['SMTP_FROM'])
    },
  )

  it('needs server and sender together', () => {
    expect(faultyNames({ SMTP_URL: MAIL.SMTP_URL })).toEqual(['SMTP_FROM'])
    expect(faultyNames({ SMTP_FROM: MAIL.SMTP_FROM })).toEqual(['SMTP_URL'])
  })
})

describe('traces', () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318'

  it('go where either address says, with headers that are decoded', () => {
    const { OTEL_EXPORTER_OTLP_HEADERS } = loadConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YTpi==, x-tenant = forum',
    })
    expect(OTEL_EXPORTER_OTLP_HEADERS).toEqual({ authorization: 'Basic YTpi==', 'x-tenant': 'forum' })
    const own = 'https://traces.example.org/in/v1/'
    expect(loadConfig({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own })).toMatchObject({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own,
      OTEL_SERVICE_NAME: 'tessera',
      OTEL_TRACES_SAMPLER: 'parentbased_always_on',
      OTEL_TRACES_SAMPLER_ARG: 1,
    })
    expect(faultyNames({ OTEL_EXPORTER_OTLP_HEADERS: 'a=b' })).toEqual(['OTEL_EXPORTER_OTLP_ENDPOINT'])
  })

  it.each(['collector:4318', 'grpc://collector:4317', 'http://me:key@collector', 'http://collector/?key=1'])(
    'refuse to go to %s',
    (url) => {
      const faults = faultyNames({
        OTEL_EXPORTER_OTLP_ENDPOINT: url,
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url,
      })
      expect(faults).toEqual(['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'])
    },
  )

  it.each(['a', 'a=', '=b', 'a=b,', 'a=b c', 'a=%', 'a=%0Ab', 'a:b=c'])(
    'refuse the headers %j, and do not repeat them',
    (OTEL_EXPORTER_OTLP_HEADERS) => {
      expect(faultsOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS })).toEqual([
        'OTEL_EXPORTER_OTLP_HEADERS must be like name=value,name=value, with special characters of values percent-encoded',
      ])
    },
  )

  it('refuse an unknown sampler and a part that is none', () => {
    expect(faultyNames({ OTEL_TRACES_SAMPLER: 'jaeger_remote' })).toEqual(['OTEL_TRACES_SAMPLER'])
    for (const part of ['1.1', '-1', '.5', '5%', '1e-3'])
      expect(faultyNames({ OTEL_TRACES_SAMPLER_ARG: part })).toEqual(['OTEL_TRACES_SAMPLER_ARG'])
    expect(loadConfig({ OTEL_TRACES_SAMPLER_ARG: '0.05' }).OTEL_TRACES_SAMPLER_ARG).toBe(0.05)
  })
})

describe('production', () => {
  it('is a public address that is not loopback, either of the two', () => {
    expect(loadConfig(PRODUCTION)).toMatchObject({
      production: true,
      STOP_GRACE_SECONDS: 5,
      PAYMENT_PUBLIC_URL: 'https://id.example.org',
    })
    const PAYMENT_PUBLIC_URL = 'https://pay.example.org'
    expect(loadConfig({ ...PRODUCTION, PAYMENT_PUBLIC_URL }).production).toBe(true)
    expect(faultyNames({ PAYMENT_PUBLIC_URL })).toEqual(['PUBLIC_URL', 'DATABASE_URL', 'APP_SECRET'])
  })

  it.each(['http://localhost:3000', 'http://127.0.0.1:3000', 'http://127.8.4.2', 'http://[::1]:3000'])(
    'is not %s, which needs no secrets and no https',
    (PUBLIC_URL) => {
      expect(loadConfig({ PUBLIC_URL }).production).toBe(false)
    },
  )

  it.each(['http://0.0.0.0:3000', 'http://192.168.1.7:3000', 'http://127.0.0.1.example.org'])(
    'is %s, which is not this machine alone',
    (PUBLIC_URL) => {
      expect(faultyNames({ PUBLIC_URL })).toEqual(['PUBLIC_URL', 'DATABASE_URL', 'APP_SECRET'])
    },
  )

  it('requires https of both public addresses', () => {
    expect(faultyNames({ ...PRODUCTION, PUBLIC_URL: 'http://id.example.org' })).toEqual(['PUBLIC_URL'])
    for (const PAYMENT_PUBLIC_URL of ['http://pay.example.org', 'http://127.0.0.1:3000'])
      expect(faultyNames({ ...PRODUCTION, PAYMENT_PUBLIC_URL })).toEqual(['PAYMENT_PUBLIC_URL'])
  })

  it.each(['DATABASE_URL', 'APP_SECRET'])('requires %s, and empty text is none', (name) => {
    for (const value of [undefined, '']) expect(faultyNames({ ...PRODUCTION, [name]: value })).toEqual([name])
  })

  it('refuses an APP_SECRET that is short', () => {
    expect(faultyNames({ ...PRODUCTION, APP_SECRET: SECRET.slice(0, 31) })).toEqual(['APP_SECRET'])
  })
})

describe('.env.example', () => {
  let text: string
  /** The environment with every default from the example file. */
  let spelledOut: Record<string, string | undefined>

  beforeAll(async () => {
    text = await readFile(join(ROOT, '.env.example'), 'utf8')
    spelledOut = parseEnv(text.replace(/^# (?=[A-Z_]+=)/gm, ''))
  })

  it('names every variable in order, then those of docker compose', async () => {
    const names = [...text.matchAll(/^(?:# )?([A-Z_]+)=/gm)].map((match) => match[1])
    expect(names).toEqual([...NAMES, ...(await composeOnlyNames())])
  })

  it('changes nothing when it is copied as it is', () => {
    expect(loadConfig(parseEnv(text))).toEqual(loadConfig({}))
  })

  it('shows the defaults as they are', () => {
    expect(loadConfig({ ...spelledOut, APP_SECRET: '' })).toEqual(loadConfig({}))
  })

  it('holds no secret that production accepts', () => {
    expect(spelledOut).toMatchObject({ DATABASE_URL: '', ADMIN_PASSWORD: '' })
    expect(spelledOut['APP_SECRET']).not.toBe('')
    expect(faultsOf({ ...PRODUCTION, APP_SECRET: spelledOut['APP_SECRET'] })).toEqual([
      expect.stringMatching(/^APP_SECRET is the sample value/),
    ])
  })
})

/** The variables that docker-compose.yml reads beside the schema, in the order of .env.example. */
async function composeOnlyNames(): Promise<string[]> {
  const texts = await Promise.all(COMPOSE_FILES.map((file) => readFile(join(ROOT, file), 'utf8')))
  const read = new Set([...texts.join('\n').matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name!))
  expect([...read].filter((name) => name !== PROJECT && !NAMES.includes(name)).sort()).toEqual(
    [...COMPOSE_ONLY].sort(),
  )
  return COMPOSE_ONLY
}

describe('docker-compose.yml', () => {
  it('passes on every variable that the container can use', async () => {
    const text = await readFile(join(ROOT, 'docker-compose.yml'), 'utf8')
    // The image does not contain the demo with its shops and forum.
    const names = NAMES.filter((name) => !['SHOP_PORT', 'FORUM_PORT', 'GATEWAY_SHOP_PORT'].includes(name))
    expect(names.filter((name) => !text.includes(`\n      ${name}: `))).toEqual([])
  })
})

describe('the server process', () => {
  it('lists every fault of a production environment, without stack or secret', () => {
    const env = {
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PUBLIC_URL: 'http://id.example.org',
      PORT: '99999',
      DATABASE_URL: 'mysql://tessera:hunter2-of-the-database@db.example.org/tessera',
      APP_SECRET: 'a-secret-too-short',
      ADMIN_PASSWORD: 'letmein',
    }
    const { status, stdout, stderr } = spawnSync(process.execPath, ['src/start.js'], {
      cwd: ROOT,
      env,
      encoding: 'utf8',
    })
    const output = stdout + stderr
    expect(status).toBe(1)
    expect(output.split('\n').map((line) => /^ {2}- (\w+)/.exec(line)?.[1] ?? line)).toEqual([
      'The configuration has 5 faults:',
      'PORT',
      'PUBLIC_URL',
      'DATABASE_URL',
      'APP_SECRET',
      'ADMIN_PASSWORD',
      '',
    ])
    expect(output).not.toMatch(/hunter2|a-secret-too-short|letmein|\n\s+at /)
  })
})
