/**
 * Tests an address of a shop. It sends one empty request with the guard and the limits of notifications, and reports the
 * outcome in their words.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { rowsOfApp } from '../../database/paging.ts'
import type { Attempt } from '../notifications/delivery.ts'
import { makeDeliver, type NotifierOptions } from '../notifications/worker.ts'
import { type Actor, audit, getPermitted } from '../rights/rights.ts'

/** Bounds the search for the latest gateway order, because a shop may have many orders and none of the gateway. */
const LOOKED_THROUGH_MAX = 20_000

export type AddressKind = 'callback' | 'own_notify' | 'notify' | 'return'
export type KnownAddress = { kind: AddressKind; url: string }

export type TriedAddress = Attempt & { url: string; duration_ms: number }

/** The addresses of an application: its callback, its notification address, and those of its latest gateway order. */
export async function addressesOf(
  db: Db,
  { id, callback_url, notify_url }: { id: bigint; callback_url: string; notify_url: string | null },
): Promise<KnownAddress[]> {
  const { rows } = await sql<{ notify_url: string | null; return_url: string | null }>`
    select notify_url, return_url from (
      select id, door, notify_url, return_url from orders
      where ${rowsOfApp('orders', id)}
      order by app_id desc, id desc limit ${LOOKED_THROUGH_MAX}
    ) as latest
    where door = 'gateway' order by id desc limit 1`.execute(db)
  const [latest] = rows
  const known: KnownAddress[] = [{ kind: 'callback', url: callback_url }]
  if (notify_url !== null) known.push({ kind: 'own_notify', url: notify_url })
  if (latest?.notify_url && latest.notify_url !== notify_url)
    known.push({ kind: 'notify', url: latest.notify_url })
  if (latest?.return_url) known.push({ kind: 'return', url: latest.return_url })
  return known
}

/**
 * Calls the address and returns the outcome, even of a failure. Throws too_many_attempts and what getPermitted throws.
 * The audit log keeps only the host, because the rest of an address may be a secret of the shop.
 */
export async function tryAddress(
  deps: Core,
  payment_id: string,
  url: string,
  actor: Actor,
  options: NotifierOptions = {},
): Promise<TriedAddress> {
  const { id } = await getPermitted(deps.db, payment_id, actor.user_id, 'addresses.try')
  await deps.limits.hit('address_tries', id.toString())
  const start = performance.now()
  const attempt = await makeDeliver(deps, options)({ url })
  const duration_ms = Math.round(performance.now() - start)
  await deps.db.transaction().execute(async (tx) => {
    const detail = { host: URL.parse(url)?.host ?? null, outcome: attempt.outcome }
    await audit(tx, 'payment_app.try_address', payment_id, detail, actor)
  })
  return { ...attempt, url, duration_ms }
}
