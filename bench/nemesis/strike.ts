/** What each fault does to the cluster, and how it ends. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { ask } from '../../test/faults/world.ts'
import { fillDisk } from '../../test/harness/full-disk.ts'
import { waitUntil } from '../../test/harness/waiting.ts'
import { type Node, postmasterOf, signal, urlOf } from '../failover/patroni.ts'
import { type Cluster, HAS_CLOCKS, processesOf } from './cluster.ts'
import type { Merchants } from './merchants.ts'
import { type FaultKind, KINDS, type Planned } from './plan.ts'
import type { Touch } from './waits.ts'

const BACK_MS = 90_000
const EVERYBODY: Touch = { everybody: true }
const BOUNCE_MS = 1_000

type Strike = { touch: Touch; act(): Promise<void> }

/** The kinds of faults that this machine allows. */
export function possibleKinds({ disks }: Cluster): FaultKind[] {
  return KINDS.filter((kind) => (kind === 'clock' ? HAS_CLOCKS : kind !== 'disk full' || disks.size > 0))
}

/** Makes the fault ready. `act` resolves when it is over: what it struck works again, or could. */
export function prepare(fault: Planned, cluster: Cluster, merchants: Merchants): Strike {
  const { kind, ms, isLoud, amount } = fault
  const service = cluster.services[fault.process]!
  const ours: Touch = { process: service.name }
  const number = fault.process + 1
  const state = isLoud ? 'refuse' : 'hold'
  const linked = (names: string[], value: 'refuse' | 'hold' | number) => async () => {
    for (const name of names) await cluster.links.set(name, value)
    await sleep(ms)
    for (const name of names) await cluster.links.set(name, 'open')
  }
  const onPrimary = (act: (node: Node) => Promise<void>) => async () => {
    const node = await cluster.patroni.primary()
    if (node !== undefined) await act(node)
  }
  const onStandby = (act: (node: Node) => Promise<void>) => async () => {
    const primary = await cluster.patroni.primary()
    const node = cluster.patroni.nodes.find((each) => each !== primary)
    if (primary !== undefined && node !== undefined) await act(node)
  }
  const stop = (node: Node) => stopPostgres(node, ms)
  const kill = (node: Node) => killPostgres(node)
  const strikes: Record<FaultKind, Strike> = {
    'stop process': { touch: ours, act: () => stopFor([service.server?.child.pid ?? 0], ms) },
    'kill process': {
      touch: ours,
      async act() {
        await cluster.killService(service)
        await cluster.startService(service)
      },
    },
    'stop pgbouncer': {
      touch: EVERYBODY,
      act: async () => stopFor([await cluster.pgbouncer().pid()], ms),
    },
    'kill pgbouncer': {
      touch: EVERYBODY,
      async act() {
        process.kill(await cluster.pgbouncer().pid(), 'SIGKILL')
        await sleep(BOUNCE_MS)
        await cluster.restartPgbouncer()
      },
    },
    'stop postgres': { touch: EVERYBODY, act: onPrimary(stop) },
    'kill postgres': { touch: EVERYBODY, act: onPrimary(kill) },
    'stop standby': { touch: EVERYBODY, act: onStandby(stop) },
    'kill standby': { touch: EVERYBODY, act: onStandby(kill) },
    'cut front': { touch: ours, act: linked([`front ${number}`], state) },
    'cut process': { touch: ours, act: linked([`process ${number}`], state) },
    'cut database': { touch: EVERYBODY, act: linked(['database'], state) },
    'cut standby': { touch: EVERYBODY, act: linked(['node1 postgres', 'node2 postgres'], state) },
    'cut etcd': {
      touch: EVERYBODY,
      act: onPrimary((node) => linked([`${node.name} etcd`], state)()),
    },
    'delay process': { touch: ours, act: linked([`process ${number}`], amount) },
    'delay database': { touch: EVERYBODY, act: linked(['database'], amount) },
    clock: {
      touch: ours,
      async act() {
        await cluster.setClock(service, amount)
        await sleep(ms)
        await cluster.setClock(service, 0)
      },
    },
    'disk full': { touch: EVERYBODY, act: onPrimary((node) => withoutRoom(node, ms)) },
    'read only': { touch: EVERYBODY, act: onPrimary((node) => readOnly(node, ms)) },
    'merchant hangs': { touch: { shops: merchants.faulty }, act: () => merchants.misbehave('hang', ms) },
    'merchant lies': { touch: { shops: merchants.faulty }, act: () => merchants.misbehave('lie', ms) },
    'merchant floods': { touch: { shops: merchants.faulty }, act: () => merchants.misbehave('flood', ms) },
    switchover: { touch: EVERYBODY, act: () => cluster.patroni.switchOver() },
    failover: {
      touch: EVERYBODY,
      act: onPrimary(async (node) => {
        await cluster.patroni.killPrimary()
        cluster.patroni.revive(node)
      }),
    },
  }
  return strikes[kind]
}

/** Undoes whatever a fault may have left, and waits until the cluster is whole. */
export async function heal(cluster: Cluster): Promise<void> {
  for (const node of cluster.patroni.nodes) cluster.patroni.revive(node)
  await waitUntil(() => cluster.patroni.isWhole(), {
    timeout: BACK_MS,
    interval: 250,
    what: 'a primary with a standby',
  })
}

async function stopFor(pids: number[], ms: number): Promise<void> {
  const stopped = pids.filter((pid) => pid > 0 && signal(pid, 'SIGSTOP'))
  await sleep(ms)
  for (const pid of stopped) signal(pid, 'SIGCONT')
}

async function stopPostgres(node: Node, ms: number): Promise<void> {
  const pid = await postmasterOf(node)
  if (pid !== undefined) await stopFor(await processesOf(pid), ms)
}

/** Patroni starts it again. The fault is over when it serves again, here or at the other node. */
async function killPostgres(node: Node): Promise<void> {
  const pid = await postmasterOf(node)
  if (pid === undefined) return
  signal(pid, 'SIGKILL')
  const isBack = async () => {
    const now = await postmasterOf(node)
    return now !== undefined && now !== pid && (await serves(node))
  }
  await waitUntil(isBack, { timeout: BACK_MS, interval: 50, what: `${node.name} to serve again` })
}

const serves = (node: Node) =>
  ask(urlOf(node), (db) => sql`select 1`.execute(db)).then(
    () => true,
    () => false,
  )

async function withoutRoom(node: Node, ms: number): Promise<void> {
  const file = join(node.data, 'filler')
  await fillDisk(file)
  await sleep(ms)
  await rm(file)
  await waitUntil(() => serves(node), { timeout: BACK_MS, interval: 50, what: `${node.name} to serve again` })
}

async function readOnly(node: Node, ms: number): Promise<void> {
  const tell = (statement: string) =>
    ask(urlOf(node), async (db) => {
      await sql.raw(statement).execute(db)
      await sql`select pg_reload_conf()`.execute(db)
    }).catch(() => {})
  await tell('alter system set default_transaction_read_only = on')
  await sleep(ms)
  // A fault beside this one may refuse the first tries.
  await waitUntil(
    async () => {
      await tell('alter system reset default_transaction_read_only')
      const rows = await ask(urlOf(node), (db) =>
        sql<{ value: string }>`select current_setting('default_transaction_read_only') as value`.execute(db),
      ).catch(() => undefined)
      return rows?.rows[0]?.value === 'off'
    },
    { timeout: BACK_MS, interval: 100, what: `${node.name} to take writes` },
  )
}
