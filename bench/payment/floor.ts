/**
 * `npm run bench:floor` divides the CPU time and the WAL of an act by those of its floor: the smallest function that stores the same
 * rows (floor.sql). One connection makes transfers, payments and charges in batches of 1, 16 and 64. Act and floor alternate.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import type { Core } from '../../src/core/core.ts'
import { openSettings } from '../../src/core/settings.ts'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { migrate } from '../../src/database/migrate.ts'
import { proveBooks } from '../../src/ledger/books.ts'
import { makeChargeMandate } from '../../src/payment/mandates/charge.ts'
import { dayOf } from '../../src/payment/mandates/periods.ts'
import { makePay } from '../../src/payment/orders/pay.ts'
import { makePostTransfer } from '../../src/payment/orders/transfers.ts'
import { LOWER_ALNUM, makeSecrets, randomText } from '../../src/platform/secrets.ts'
import { startPostgres } from '../database.ts'
import { cpuSeconds } from '../driver.ts'
import { median, spread } from '../statistics.ts'
import { makeOrders, makeWorld, newOrderId, type World } from './world.ts'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    /** Acts per round, as a share of the usual number. */
    scale: { type: 'string', default: '1' },
    /** Runs only measurements whose name, such as `payments 16`, contains this text. */
    only: { type: 'string', default: '' },
  },
})

/** The batches, and the acts of a round. Processor time has a resolution of 10 ms. */
const COUNTS = { 1: 256, 16: 1_024, 64: 1_536 }
const SECRET = 'payment-floor-'.repeat(4)
const FEE = 1n
const DESCRIPTION = 'Something of the shop'

/** A wallet, its member, and their application if they own one. */
type Party = { id: bigint; username: string; wallet: bigint; app_id: bigint }
/** One act, with every fact that the floor needs. */
type Act = {
  shop: Party
  member: Party
  order_id: string
  reference: string
  amount: bigint
  mandate?: { id: bigint; mandate_id: string }
  order?: bigint
}
type Side = 'act' | 'floor'
type Measured = { cpu_us: number; wal_bytes: number }
/** Makes the acts of a round, and does a batch of them. */
type Kind = {
  name: string
  make: (count: number, side: Side) => Promise<Act[]>
  act: (one: Act) => Promise<unknown>
  floor: (batch: Act[]) => Promise<unknown>
}

const pick = <T>(list: readonly T[]) => list[Math.floor(Math.random() * list.length)]!
const randomAmount = () => BigInt(2 + Math.floor(Math.random() * 99))
const column = <T>(batch: Act[], value: (act: Act) => T, type: string) =>
  sql`${batch.map(value)}::${sql.raw(type)}[]`

/** Reads the parties. Act and floor have shops and mandates of their own, so neither meets the other's sums. */
async function readParties(db: Db, { mandates: made, shops: made_shops }: World) {
  const { rows } = await sql<Party>`
    select u.id, u.username, l.id as wallet, a.id as app_id from users as u
    join ledger_accounts as l on l.user_id = u.id and l.book = 'live' and l.kind = 'wallet'
    left join payment_apps as a on a.applicant_id = u.id order by u.id`.execute(db)
  const members = new Map(rows.map((party) => [party.id, party]))
  const recipients = rows.filter(({ app_id }) => app_id === null)
  const ofMandate = await db.selectFrom('mandates').select(['id', 'mandate_id', 'user_id']).execute()
  const known = new Map(ofMandate.map((mandate) => [mandate.mandate_id, mandate]))
  const shops = made_shops.map(({ owner_id }) => members.get(owner_id)!)
  const mandates = made.map(({ mandate_id, shop }) => {
    const { id, user_id } = known.get(mandate_id)!
    return { id, mandate_id, member: members.get(user_id!)!, shop: shops[shop]! }
  })
  const half = <T>(list: T[], side: Side) => list.filter((_, n) => n % 2 === (side === 'act' ? 0 : 1))
  const fee = await db
    .selectFrom('ledger_accounts')
    .select('id')
    .where('kind', '=', 'fee')
    .where('book', '=', 'live')
    .executeTakeFirstOrThrow()
  return {
    fee: fee.id,
    recipients,
    shops: (side: Side) => half(shops, side),
    mandates: (side: Side) => half(mandates, side),
  }
}

type Parties = Awaited<ReturnType<typeof readParties>>
const newReference = () => `txn_${randomText(24, LOWER_ALNUM)}`
const randomAct = (parties: Parties, side: Side): Act => ({
  shop: pick(parties.shops(side)),
  member: pick(parties.recipients),
  order_id: newOrderId(),
  reference: newReference(),
  amount: randomAmount(),
})
const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make)

/** Adds up the amounts of each key over all rounds, as the acts do in the database. */
function makeSums() {
  const sums = new Map<bigint, bigint>()
  return (key: bigint, amount: bigint) => {
    const sum = (sums.get(key) ?? 0n) + amount
    sums.set(key, sum)
    return sum
  }
}

function transfers({ db, ...deps }: Core, parties: Parties): Kind {
  const post = makePostTransfer({ ...deps, db })
  const add = makeSums()
  return {
    name: 'transfers',
    make: async (count, side) => times(count, () => randomAct(parties, side)),
    act: ({ shop, member, order_id, amount }) =>
      post({ app_id: shop.app_id, order_id, to_user_id: member.id, to_username: member.username, amount }),
    floor: (batch) =>
      sql`select floor.transfers(
        ${column(batch, ({ shop }) => shop.app_id, 'bigint')}, ${column(batch, ({ order_id }) => order_id, 'text')},
        ${column(batch, ({ reference }) => reference, 'text')}, ${column(batch, ({ amount }) => amount, 'bigint')},
        ${column(batch, () => FEE, 'bigint')}, ${column(batch, ({ shop }) => shop.id, 'bigint')},
        ${column(batch, ({ shop }) => shop.username, 'text')}, ${column(batch, ({ shop }) => shop.wallet, 'bigint')},
        ${column(batch, ({ member }) => member.id, 'bigint')}, ${column(batch, ({ member }) => member.username, 'text')},
        ${column(batch, ({ member }) => member.wallet, 'bigint')}, ${parties.fee}, ${dayOf(new Date())},
        ${column(batch, ({ shop, amount }) => add(shop.id, amount), 'bigint')}, ${new Date()}
      )`.execute(db),
  }
}

function payments(world: World, { db, ...deps }: Core, parties: Parties): Kind {
  const pay = makePay({ ...deps, db })
  return {
    name: 'payments',
    async make(count, side) {
      const acts = times(count, () => randomAct(parties, side))
      const shops = new Map(world.shops.map((shop) => [shop.app_id, shop]))
      const orders = await makeOrders(
        world,
        acts.map(({ shop }) => shops.get(shop.app_id)!),
      )
      const references = orders.map(({ transaction_id }) => transaction_id)
      const rows = await db
        .selectFrom('orders')
        .select(['id', 'transaction_id'])
        .where('transaction_id', 'in', references)
        .execute()
      const ids = new Map(rows.map(({ id, transaction_id }) => [transaction_id, id]))
      return acts.map((act, n) => {
        const { transaction_id, amount } = orders[n]!
        return { ...act, reference: transaction_id, amount, order: ids.get(transaction_id)! }
      })
    },
    async act({ reference, member, amount }) {
      const { outcome } = await pay({
        transaction_id: reference,
        payer_id: member.id,
        expected_amount: amount,
      })
      if (outcome !== 'paid') throw new Error(`A payment ended as ${outcome}`)
    },
    floor: (batch) =>
      sql`select floor.payments(
        ${column(batch, ({ order }) => order!, 'bigint')}, ${column(batch, ({ reference }) => reference, 'text')},
        ${column(batch, ({ amount }) => amount, 'bigint')},
        ${column(batch, ({ amount }) => (amount > FEE ? FEE : 0n), 'bigint')},
        ${column(batch, ({ member }) => member.id, 'bigint')}, ${column(batch, ({ member }) => member.wallet, 'bigint')},
        ${column(batch, ({ shop }) => shop.id, 'bigint')}, ${column(batch, ({ shop }) => shop.wallet, 'bigint')},
        ${parties.fee}, ${new Date()}
      )`.execute(db),
  }
}

function charges({ db, ...deps }: Core, parties: Parties): Kind {
  const charge = makeChargeMandate({ ...deps, db })
  const add = makeSums()
  return {
    name: 'charges',
    make: async (count, side) =>
      times(count, () => {
        const { member, shop, ...mandate } = pick(parties.mandates(side))
        return { ...randomAct(parties, side), member, shop, mandate }
      }),
    act: ({ shop, order_id, amount, mandate }) =>
      charge({
        ...{ app_id: shop.app_id, owner_id: shop.id, mandate_id: mandate!.mandate_id, order_id, amount },
        ...{ description: DESCRIPTION, access_token: undefined },
      }),
    floor: (batch) =>
      sql`select floor.charges(
        ${column(batch, ({ shop }) => shop.app_id, 'bigint')}, ${column(batch, ({ order_id }) => order_id, 'text')},
        ${column(batch, ({ reference }) => reference, 'text')}, ${column(batch, () => DESCRIPTION, 'text')},
        ${column(batch, ({ amount }) => amount, 'bigint')}, ${column(batch, () => FEE, 'bigint')},
        ${column(batch, ({ member }) => member.id, 'bigint')}, ${column(batch, ({ member }) => member.wallet, 'bigint')},
        ${column(batch, ({ shop }) => shop.id, 'bigint')}, ${column(batch, ({ shop }) => shop.wallet, 'bigint')},
        ${parties.fee}, ${column(batch, ({ mandate }) => mandate!.id, 'bigint')}, ${dayOf(new Date())},
        ${column(batch, ({ mandate, amount }) => add(mandate!.id, amount), 'bigint')}, 100, 1000000000, ${new Date()}
      )`.execute(db),
  }
}

/** The CPU time and WAL of one act on this connection, in batches of `size`. */
async function measure(db: Db, kind: Kind, side: Side, size: number, count: number): Promise<Measured> {
  const acts = await kind.make(count, side)
  const now = async () => {
    const { rows } = await sql<{ pid: number; wal: string }>`
      select pg_backend_pid() as pid, pg_current_wal_insert_lsn() - '0/0'::pg_lsn as wal`.execute(db)
    return { cpu: await cpuSeconds([rows[0]!.pid]), wal: Number(rows[0]!.wal) }
  }
  const before = await now()
  for (let start = 0; start < count; start += size) {
    const batch = acts.slice(start, start + size)
    await (side === 'act' ? Promise.all(batch.map(kind.act)) : kind.floor(batch))
  }
  const after = await now()
  return { cpu_us: ((after.cpu - before.cpu) * 1e6) / count, wal_bytes: (after.wal - before.wal) / count }
}

async function compare(db: Db, vacuum: () => Promise<unknown>, kinds: Kind[]): Promise<void> {
  const results = new Map<string, Record<Side, Measured[]>>()
  for (let round = 0; round <= Number(flags.rounds); round += 1) {
    for (const kind of kinds)
      for (const [size, usual] of Object.entries(COUNTS)) {
        const key = `${kind.name} ${size}`
        if (!key.includes(flags.only)) continue
        const count = Math.ceil((usual * Number(flags.scale)) / Number(size)) * Number(size)
        const sides: Side[] = round % 2 === 0 ? ['act', 'floor'] : ['floor', 'act']
        for (const side of sides) {
          const measured = await measure(db, kind, side, Number(size), count)
          // Round 0 is a warm-up.
          if (round === 0) continue
          if (!results.has(key)) results.set(key, { act: [], floor: [] })
          results.get(key)![side].push(measured)
        }
      }
    await vacuum()
  }
  console.log('\n| | act ÷ floor | CPU µs: act | floor | WAL ÷ floor | WAL bytes: act | floor |')
  console.log('|---|---|---|---|---|---|---|')
  for (const [key, { act, floor }] of results) {
    const ratio = (figure: keyof Measured) => act.map((each, n) => each[figure] / floor[n]![figure])
    const cpu = (rounds: Measured[]) => spread(rounds.map(({ cpu_us }) => cpu_us))
    const wal = (rounds: Measured[]) => median(rounds.map(({ wal_bytes }) => wal_bytes)).toFixed(0)
    console.log(
      `| ${key} | ${spread(ratio('cpu_us'), 2)} | ${cpu(act)} | ${cpu(floor)} | ${median(ratio('wal_bytes')).toFixed(2)} | ${wal(act)} | ${wal(floor)} |`,
    )
  }
}

const postgres = await startPostgres()
try {
  await migrate(postgres.url)
  const open = (max: number) => openDatabase(postgres.url, { max, onBroken: () => {} })
  const [db, others] = [open(1), open(5)]
  const run = (text: string) => sql.raw(text).execute(others)
  // Neither a checkpoint nor autovacuum writes into a measurement.
  for (const setting of ["autovacuum = 'off'", "checkpoint_timeout = '1d'", "max_wal_size = '16GB'"])
    await run(`alter system set ${setting}`)
  await run('select pg_reload_conf()')
  const coreOver = (pool: Db) =>
    ({
      db: pool,
      clock: () => new Date(),
      secrets: makeSecrets(SECRET),
      settings: openSettings(pool),
    }) as Core
  const world = await makeWorld(coreOver(others))
  await run(await readFile(join(import.meta.dirname, 'floor.sql'), 'utf8'))
  await run('vacuum analyze')
  // The wait for the disk is no processor time.
  await sql`set synchronous_commit = off`.execute(db)
  const core = coreOver(db)
  const parties = await readParties(others, world)
  const kinds = [transfers(core, parties), payments(world, core, parties), charges(core, parties)]
  await compare(db, () => run('vacuum analyze'), kinds)
  const { invariants } = await proveBooks(others, makeSecrets(SECRET))
  const broken = invariants.filter((invariant) => invariant.broken > 0n)
  if (broken.length > 0) throw new Error(`The books do not pass: ${JSON.stringify(broken, String)}`)
  console.log('\nThe books pass.')
} finally {
  await postgres.stop()
}
process.exit()
