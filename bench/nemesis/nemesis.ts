/** One run: the cluster, its clients, the faults, and the proof. */
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { openDatabase } from '../../src/database/connection.ts'
import { proveBooks } from '../../src/ledger/books.ts'
import { ask } from '../../test/faults/world.ts'
import { type Books, checkBooks } from './books.ts'
import { check, checkNotices } from './checker.ts'
import { startClients } from './clients.ts'
import { type Cluster, obstacle, startCluster } from './cluster.ts'
import type { Act } from './history.ts'
import { startMerchants } from './merchants.ts'
import { hurryNotifications, type People, settle } from './people.ts'
import { type FaultKind, nameOf, plan } from './plan.ts'
import { makeRecorder, type Recorder } from './recorder.ts'
import { heal, possibleKinds, prepare } from './strike.ts'
import { type Summary, summarise } from './summary.ts'
import type { Made } from './waits.ts'

export type Options = {
  seed: number
  minutes: number
  clients: number
  processes: number
  kinds: readonly FaultKind[]
  pace: number
  /** The shortest and the longest pause before a round of faults, in ms. */
  pause: readonly [number, number]
  root: string
  /** A file for the history. */
  history: string | undefined
  isOverAtFirst: boolean
  signal: AbortSignal
  say: (line: string) => void
}

/** How long clients go on asking when the faults are over. */
const ANSWERS_MS = 60_000
const NOTICES_MS = 120_000
const LEAD_MS = 3_000
const CHECK_EVERY_MS = 15_000
const FAULT_MS_MAX = 120_000
/** Room on each disk: the start, and what a minute writes. */
const DISK_MB = 700
const DISK_MB_A_MINUTE = 40

/** Runs, and always ends all that it started. */
export async function nemesis(options: Options): Promise<Summary> {
  const reason = obstacle()
  if (reason !== undefined) throw new Error(reason)
  const { seed, minutes, clients, processes, root, say } = options
  say(`seed ${seed}`)
  const recorder = makeRecorder()
  const merchants = await startMerchants(recorder)
  const diskMb = DISK_MB + Math.ceil(minutes * DISK_MB_A_MINUTE)
  const cluster = await startCluster({ processes, diskMb, root })
  try {
    const people = await ask(cluster.patroni.url, (db) => settle(db, { clients, merchants, minutes }))
    const kinds = possibleKinds(cluster).filter((kind) => options.kinds.includes(kind))
    const left = options.kinds.filter((kind) => !kinds.includes(kind))
    if (left.length > 0) say(`This machine does not allow: ${left.join(', ')}`)
    say(`${clients} clients at ${processes} processes, ${minutes} minutes`)
    const made = await rage({ ...options, kinds }, { cluster, people, recorder, merchants })
    await ask(cluster.patroni.url, async (db) => {
      const deadline = performance.now() + NOTICES_MS
      while ((await hurryNotifications(db)) > 0 && performance.now() < deadline) await sleep(1_000)
    })
    const { acts } = recorder
    const books = await ask(cluster.patroni.url, (db) => readBooks(db, people))
    const findings = [
      ...check(acts, people.opening),
      ...checkNotices(acts),
      ...checkBooks(acts, books, people.opening),
    ]
    if (options.history !== undefined) await writeHistory(options.history, acts, made)
    for (const { name, log } of cluster.services)
      if (findings.length > 0 && log !== '') say(`${name}: ${log.slice(-2_000)}`)
    const ran = recorder.now() / 60_000
    return summarise(
      { seed, minutes: Math.round(Math.min(ran, minutes) * 10) / 10, clients, processes },
      { acts, made, findings },
    )
  } finally {
    await cluster.close()
    await merchants.close()
  }
}

type Stage = {
  cluster: Cluster
  people: People
  recorder: Recorder
  merchants: Awaited<ReturnType<typeof startMerchants>>
}

/** Clients act while faults come and go. Resolves when all is whole again and everybody has an answer. */
async function rage(
  { seed, minutes, kinds, processes, pace, pause, isOverAtFirst, signal, say }: Options,
  { cluster, people, recorder, merchants }: Stage,
): Promise<Made[]> {
  const until = performance.now() + minutes * 60_000
  let lastCall = Infinity
  const database = openDatabase(cluster.patroni.url, { max: 2, onBroken: () => {} })
  const load = startClients({
    people,
    merchants,
    recorder,
    url: cluster.url,
    withDatabase: (use) => use(database),
    seed,
    pace,
    hasEnded: () => performance.now() > lastCall,
  })
  // An error of theirs is reported where they are awaited.
  load.ended.catch(() => {})
  const made: Made[] = []
  let checked = performance.now()
  try {
    await sleep(LEAD_MS)
    let round = 0
    for (const { pause: before, faults } of plan(seed, { kinds, processes, pause })) {
      await sleep(Math.min(before, Math.max(0, until - performance.now())), undefined, { signal }).catch(
        () => {},
      )
      if (performance.now() >= until || signal.aborted) break
      round += 1
      const strikes = faults.map((fault) => ({ fault, ...prepare(fault, cluster, merchants) }))
      say(`${(recorder.now() / 1000).toFixed(0)} s, round ${round}: ${faults.map(nameOf).join(' + ')}`)
      await Promise.all(
        strikes.map(async ({ fault, touch, act }) => {
          const from = recorder.now()
          await inTime(act()).catch((error) => say(`${nameOf(fault)}: ${error.message}`))
          made.push({ name: nameOf(fault), kind: fault.kind, from, to: recorder.now(), touch, round })
        }),
      )
      await heal(cluster)
      if (isOverAtFirst && performance.now() - checked > CHECK_EVERY_MS) {
        checked = performance.now()
        if (check(recorder.acts, people.opening).length > 0) break
      }
    }
  } finally {
    load.stop()
    lastCall = performance.now() + ANSWERS_MS
    await load.ended.finally(() => database.destroy())
  }
  return made
}

/** No fault holds up the end of a run, whatever it meets. */
async function inTime(act: Promise<void>): Promise<void> {
  const late = new AbortController()
  const timeout = sleep(FAULT_MS_MAX, undefined, { signal: late.signal }).then(() => {
    throw new Error(`not over after ${FAULT_MS_MAX} ms`)
  })
  // Its end by the abort concerns nobody.
  timeout.catch(() => {})
  await Promise.race([act, timeout]).finally(() => late.abort())
}

async function readBooks(
  db: Parameters<Parameters<typeof ask>[1]>[0],
  { sellers, keepers, names }: People,
): Promise<Books> {
  const { invariants } = await proveBooks(db)
  const shops = new Map([...sellers, ...keepers].map(({ id, name }) => [id, name]))
  const orders = await db
    .selectFrom('orders')
    .select(['app_id', 'door', 'order_id', 'transaction_id', 'status', 'amount', 'payer_id'])
    .execute()
  const transfers = await db
    .selectFrom('transfers')
    .select(['app_id', 'order_id', 'transaction_id', 'amount', 'to_username'])
    .execute()
  const { rows: payouts } = await sql<{ app_id: bigint; reference: string; status: string; paid: number }>`
    select app_id, reference, status, sums.paid from payouts cross join lateral payout_sums(id) as sums`.execute(
    db,
  )
  const { rows: wallets } = await sql<{ username: string; balance: bigint }>`
    select u.username, a.balance from ledger_accounts as a join users as u on u.id = a.user_id
    where a.kind = 'wallet' and a.book = 'live'`.execute(db)
  return {
    orders: orders.map(({ app_id, door, order_id, transaction_id, status, amount, payer_id }) => ({
      key: `${shops.get(app_id)}/${order_id}`,
      transaction: transaction_id,
      status,
      amount: Number(amount),
      payer: payer_id === null ? null : names.get(String(payer_id))!,
      isOfLink: door === 'link',
    })),
    transfers: transfers.map(({ app_id, order_id, transaction_id, amount, to_username }) => ({
      key: `${shops.get(app_id)}/${order_id}`,
      transaction: transaction_id,
      amount: Number(amount),
      recipient: to_username,
    })),
    payouts: payouts.map(({ app_id, reference, status, paid }) => ({
      key: `${shops.get(app_id)}/${reference}`,
      ...{ status, paid },
    })),
    balances: new Map(wallets.map(({ username, balance }) => [username, Number(balance)])),
    broken: invariants.filter(({ broken }) => broken !== 0n).map(({ name }) => name),
  }
}

/** One act a line, and the faults in front. */
async function writeHistory(file: string, acts: readonly Act[], made: readonly Made[]): Promise<void> {
  const lines = [...made.map(({ touch: _, ...fault }) => ({ fault })), ...acts].map((each) =>
    JSON.stringify(each),
  )
  await writeFile(file, `${lines.join('\n')}\n`)
}
