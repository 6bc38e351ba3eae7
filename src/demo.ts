/**
 * `npm start -- --demo`: the real service on this machine with people, points and a shop, to be tried at once.
 * Never for anything but trying out: the passwords stand in DATA_DIR/demo.json.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { type Config, ConfigError } from './config.ts'
import { type Demo, PEOPLE, seedDemo } from './demo-world.ts'
import { refuseTakenPort } from './ports.ts'
import { type Running, serve } from './server.ts'

const SHOP = join(import.meta.dirname, '../examples/shop/shop.js')

/** Starts the service and the shop, and resolves once both answer. Throws PortTakenError before it starts anything. */
export async function startDemo(config: Config): Promise<Running<Demo>> {
  if (config.SHOP_PORT === config.PORT) throw new ConfigError(['SHOP_PORT must differ from PORT'])
  await refuseTakenPort('SHOP_PORT', config.HOST, config.SHOP_PORT)
  const service = await serve(config, seedDemo)
  try {
    const shop = await startShop(config, service.prepared)
    const stop = async () => {
      await shop.stop()
      await service.stop()
    }
    return { prepared: service.prepared, stop }
  } catch (error) {
    await service.stop()
    throw error
  }
}

/** Starts the shop and resolves when it listens. It sees nothing of our environment but what it needs. */
async function startShop(config: Config, demo: Demo): Promise<{ stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [SHOP], {
    env: {
      TESSERA_URL: config.PUBLIC_URL,
      TESSERA_PAYMENT_URL: config.PAYMENT_PUBLIC_URL,
      CLIENT_ID: demo.oauth_app.client_id,
      CLIENT_SECRET: demo.oauth_app.client_secret,
      PAYMENT_ID: demo.payment_app.payment_id,
      PAYMENT_TOKEN: demo.payment_app.token,
      SHOP_URL: demo.shop_url,
      SHOP_PORT: String(config.SHOP_PORT),
      HOST: config.HOST,
    },
    // The channel tells us that it listens, and tells it that we have gone, however we went.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve())
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`The shop did not start: it ended with ${code}`)))
  })
  return {
    async stop() {
      child.kill()
      await ended
    },
  }
}

/** The sign-ins as a table, the addresses, and what to do first. */
export function describeDemo({ base_url, shop_url, people }: Demo): string {
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
  const addresses = [`Tessera   ${base_url}`, `Shop      ${shop_url}`]
  const first = 'Open the shop, sign in as alice, and buy the sticker pack.'
  return [...addresses, '', ...lines, '', first].map((line) => `${line}\n`).join('')
}
