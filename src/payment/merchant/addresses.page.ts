/**
 * …/addresses: a merchant tests whether the shop's addresses can be reached. The test sends one empty request with the guard and
 * the limits of notifications, and reports the outcome in their words.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { sql } from 'kysely'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { rowsOfApp } from '../../database/paging.ts'
import { readForm } from '../../web/forms/forms.ts'
import { navFor } from '../apps/area.ts'
import type { Attempt } from '../notifications/delivery.ts'
import { makeDeliver, type NotifierOptions } from '../notifications/worker.ts'
import { actorOf, type OwnedRequest, pathOf } from '../rights/owned.ts'
import { type Actor, audit, getPermitted, type Permitted } from '../rights/rights.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/merchant/addresses': {
      owned: Permitted
      nav: AreaNav
      tried: TriedAddress | undefined
      known: Awaited<ReturnType<typeof addressesOf>>
      address: string
    }
  }
}

const PATH = '/payment/applications/:payment_id/addresses'
const UrlForm = z.object({ url: z.string().trim().min(1).max(1_000) })

/** Registers the page within a browser scope of signed-in members. */
export function addressPages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (request: OwnedRequest, reply) => showAddresses(request, reply, deps))

  app.post(PATH, { config: { admission: 'slow' } }, async (request: OwnedRequest, reply) => {
    const { url } = readForm(request, UrlForm)
    const tried = await tryAddress(deps, request.params.payment_id, url, actorOf(request))
    return showAddresses(request, reply, deps, tried)
  })
}

async function showAddresses(
  request: OwnedRequest,
  reply: FastifyReply,
  deps: Core,
  tried?: TriedAddress,
): Promise<FastifyReply> {
  const { payment_id } = request.params
  const owned = await getPermitted(deps.db, payment_id, sessionOf(request).user.id, 'addresses.try')
  return reply.page('payment/merchant/addresses', {
    owned,
    nav: await navFor(deps, request, owned),
    tried,
    known: await addressesOf(deps.db, owned),
    address: `${pathOf(request)}/addresses`,
  })
}

/** Bounds the search for the latest gateway order, because a shop may have many orders and none of the gateway. */
const LOOKED_THROUGH_MAX = 1_000

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
