/**
 * `npm start -- --demo` starts the real service on this machine with members, points and shops. `--forum` adds a forum
 * whose members sign in here. Use it only to try the service: DATA_DIR/demo.json holds the passwords.
 */
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import type { SettingValues } from '../core/setting-values.ts'
import type { Parts } from '../parts.ts'
import { type Config, ConfigError } from '../platform/config.ts'
import { refuseTakenLocalhost, refuseTakenPort } from '../platform/ports.ts'
import { randomToken } from '../platform/secrets.ts'
import { type Running, serve } from '../serve.ts'
import { siteWords } from '../web/site-words.ts'
import { eventsSecretOf } from './apps.ts'
import { openMailbox } from './mailbox.ts'
import { type Demo, forumUrl, PEOPLE, seedDemo } from './world.ts'

const SHOP = join(import.meta.dirname, '../../examples/shop/shop.js')
const GATEWAY_SHOP = join(import.meta.dirname, '../../examples/gateway-shop/shop.js')
const FORUM = join(import.meta.dirname, '../../examples/forum/forum.js')

/** The member to whom the shop passes tips on. */
const ARTIST = 'carol'

/** Stops one started process. They stop in reverse order. */
type Stop = () => Promise<void>

/**
 * Starts the service, the shops and, on request, the forum. Resolves once all answer. Throws ConfigError and ListenError
 * before it starts anything.
 */
export async function startDemo(
  config: Config,
  { withForum = false, logTo }: { withForum?: boolean } & Pick<Parts, 'logTo'> = {},
): Promise<Running<Demo>> {
  await refusePorts(config, withForum)
  const stops: Stop[] = []
  const stop = async () => {
    for (let last = stops.pop(); last !== undefined; last = stops.pop()) await last()
  }
  try {
    const forum = withForum ? forumConfig(config) : {}
    const whole: Config = Object.freeze({ ...config, ...forum, ...(await mailConfig(config, stops, logTo)) })
    const prepare = async (deps: Parts) => {
      const demo = await seedDemo(deps, { withForum })
      // A post of the forum names a payment link. The service asks the forum from its first second on.
      const settings = await deps.settings.read()
      if (withForum) stops.push(await startExample('forum', FORUM, forumEnvironment(whole, demo, settings)))
      // The service sends the shop its events from then on too.
      const events_secret = await eventsSecretOf(deps, demo)
      const shop = {
        ...shopEnvironment(whole, demo, settings),
        ...(events_secret && { EVENTS_SECRET: events_secret }),
      }
      stops.push(await startExample('shop', SHOP, shop))
      return demo
    }
    const service = await serve(whole, prepare, { logTo })
    stops.push(service.stop)
    const demo = service.prepared
    if (withForum) await pingWebhook(whole)
    stops.push(await startExample('gateway shop', GATEWAY_SHOP, gatewayShopEnvironment(whole, demo)))
    return { prepared: demo, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function refusePorts(config: Config, withForum: boolean): Promise<void> {
  const examples = ['SHOP_PORT', 'GATEWAY_SHOP_PORT', ...(withForum ? ['FORUM_PORT' as const] : [])] as const
  const seen: (keyof Config)[] = ['PORT']
  for (const name of examples) {
    const other = seen.find((each) => config[each] === config[name])
    if (other !== undefined) throw new ConfigError([`${name} must differ from ${other}`])
    seen.push(name)
  }
  for (const name of examples) await refuseTakenPort(name, config.HOST, config[name])
  if (new URL(config.PUBLIC_URL).hostname !== 'localhost') return
  for (const name of ['PORT', ...examples] as const) await refuseTakenLocalhost(name, config[name])
}

/** The forum stores nothing, so every start makes new shared secrets. */
function forumConfig(config: Config) {
  return {
    DISCOURSE_URL: forumUrl(config),
    DISCOURSE_SECRET: randomToken(),
    DISCOURSE_API_KEY: randomToken(),
    DISCOURSE_WEBHOOK_SECRET: randomToken(),
  }
}

/** Sends what the button “Ping” of a forum sends, so that the page of the forum says that its webhook works. */
async function pingWebhook({ PUBLIC_URL, DISCOURSE_WEBHOOK_SECRET = '' }: Config): Promise<void> {
  const body = JSON.stringify({ ping: 'OK' })
  const signature = createHmac('sha256', DISCOURSE_WEBHOOK_SECRET).update(body).digest('hex')
  await fetch(`${PUBLIC_URL}/forum/webhook`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-discourse-event-id': '1',
      'x-discourse-event-type': 'ping',
      'x-discourse-event': 'ping',
      'x-discourse-event-signature': `sha256=${signature}`,
    },
  })
}

/** Prints the mails of a demo that has no mail server. */
async function mailConfig({ SMTP_URL }: Config, stops: Stop[], printTo: Parts['logTo'] = process.stdout) {
  if (SMTP_URL !== undefined) return {}
  const mailbox = await openMailbox((mail) => printTo.write(mail))
  stops.push(mailbox.close)
  return { SMTP_URL: mailbox.url, SMTP_FROM: 'noreply@demo.example' }
}

/** The forum has the names of the site, because its members see one community. */
function forumEnvironment(config: Config, { link_url }: Demo, settings: SettingValues): NodeJS.ProcessEnv {
  return {
    ...siteNames(settings),
    ...(link_url !== undefined && { LINK_URL: link_url }),
    TIPS: 'on',
    TESSERA_URL: config.PUBLIC_URL,
    TESSERA_PAYMENT_URL: config.PAYMENT_PUBLIC_URL,
    CONNECT_SECRET: config.DISCOURSE_SECRET,
    API_KEY: config.DISCOURSE_API_KEY,
    WEBHOOK_SECRET: config.DISCOURSE_WEBHOOK_SECRET,
    FORUM_PORT: String(config.FORUM_PORT),
    HOST: config.HOST,
  }
}

const siteNames = (settings: SettingValues) => ({
  SITE_NAME_EN: siteWords(settings, 'en').site,
  SITE_NAME_ZH: siteWords(settings, 'zh-CN').site,
})

/** The shop calls the site by the names that it has when the demo starts. */
function shopEnvironment(config: Config, demo: Demo, settings: SettingValues): NodeJS.ProcessEnv {
  return {
    TESSERA_URL: config.PUBLIC_URL,
    TESSERA_PAYMENT_URL: config.PAYMENT_PUBLIC_URL,
    CLIENT_ID: demo.oauth_app.client_id,
    CLIENT_SECRET: demo.oauth_app.client_secret,
    PAYMENT_ID: demo.payment_app.payment_id,
    PAYMENT_TOKEN: demo.payment_app.token,
    ARTIST_ID: String(demo.people.find(({ username }) => username === ARTIST)!.id),
    ARTIST_NAME: ARTIST,
    ...siteNames(settings),
    SHOP_URL: demo.shop_url,
    SHOP_PORT: String(config.SHOP_PORT),
    HOST: config.HOST,
  }
}

function gatewayShopEnvironment(config: Config, { gateway_app, gateway_shop_url }: Demo): NodeJS.ProcessEnv {
  return {
    V1_ADDRESS: gateway_app.v1_address,
    V2_ADDRESS: gateway_app.v2_address,
    PID: String(gateway_app.pid),
    MERCHANT_KEY: gateway_app.merchant_key,
    MERCHANT_PRIVATE_KEY: gateway_app.merchant_private_key,
    PLATFORM_PUBLIC_KEY: gateway_app.platform_public_key,
    POINTS_RATE: gateway_app.rate,
    SHOP_URL: gateway_shop_url,
    SHOP_PORT: String(config.GATEWAY_SHOP_PORT),
    HOST: config.HOST,
  }
}

/** Starts an example with only these environment variables. Resolves when it listens. */
async function startExample(name: string, script: string, env: NodeJS.ProcessEnv): Promise<Stop> {
  const child = spawn(process.execPath, [script], {
    env,
    // The channel says that the example listens, and ends the example when this process ends.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve())
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`The ${name} did not start: it ended with ${code}`)))
  })
  return async () => {
    child.kill()
    await ended
  }
}

/** Describes the demo to its user: the addresses, the sign-ins as a table, and the first steps. */
export function describeDemo({ base_url, shop_url, gateway_shop_url, forum_url, people }: Demo): string {
  const rows = people.map(({ username, password, points, trust_level }, i) => [
    username,
    password,
    points.toLocaleString('en'),
    `TL${trust_level}`,
    PEOPLE[i]!.part,
  ])
  const table = [['sign in as', 'password', 'points', 'trust', 'who is'], ...rows]
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  const isNumber = (column: number) => column === 2
  const lines = table.map((row) =>
    row
      .map((cell, column) =>
        isNumber(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join('   ')
      .trimEnd(),
  )
  const addresses = [`Tessera   ${base_url}`, `Shop      ${shop_url}`, `Mug shop  ${gateway_shop_url}`]
  const first = [
    'Open the shop, sign in as alice, and buy the sticker pack.',
    'The plugin of the mug shop speaks the epay protocol: it needs an address, a pid and keys.',
    'Mails to these members are printed here.',
  ]
  if (forum_url !== undefined) {
    addresses.push(`Forum     ${forum_url}`)
    first.push(
      'Or sign in with the forum: its members need no password, and have the points for their score at once.',
      'Then open the menu of the forum: it shows the wallet. Posts have buttons to pay and to tip.',
    )
  }
  return [...addresses, '', ...lines, '', ...first].map((line) => `${line}\n`).join('')
}
