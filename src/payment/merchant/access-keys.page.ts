// This room: a merchant’s pages: orders, transfers, mandates, statistics, addresses.
// Verbs: ordersOfApp, countOrders, transfersOfApp, salesOf, tryAddress.
// Tables: orders, transfers.
// Clauses: spec/mandates 3.4.
/** …/access-keys: the access keys of an application. Making one asks for a recent sign-in. spec/access-keys 1.1 and 1.2. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import type { Core } from '../../core/core.ts'
import type { AccessScope } from '../../database/tables/access-keys.ts'
import { AppError } from '../../platform/errors.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { isHonestText } from '../../web/parameters.ts'
import { dayIn } from '../../web/periods/days.ts'
import { firstCalls } from '../access-keys/first-calls.ts'
import {
  type AccessKey,
  accessKeysOf,
  createAccessKey,
  DAYS_DEFAULT,
  DAYS_MAX,
  KEYS_MAX,
  mayGive,
  NAME_LENGTH_MAX,
  OWNERS_SCOPES,
  revokeAccessKey,
  SCOPES,
} from '../access-keys/keys.ts'
import { navFor } from '../apps/area.ts'
import { showNewSecret } from '../apps/new-secret.page.ts'
import { APPLICATION, actorOf, CONFIRMED, isConfirmed, type OwnedRequest, pathOf } from '../rights/owned.ts'
import { getPermitted, type Permitted } from '../rights/rights.ts'
import { AddressList } from '../wire-fields/addresses.ts'

const PAGE = '/access-keys'
const PATH = `${APPLICATION}${PAGE}`
const DAY_MS = 86_400_000
const SOON_MS = 7 * DAY_MS
/** How many days a key can be valid, as the page offers it. */
const TERMS = [30, DAYS_DEFAULT, DAYS_MAX]

/** Stands in the first commands until there is a key. */
const MADE_UP = { client_id: 'ak_…', client_secret: '…', scopes: ['orders:read'] } satisfies Parameters<
  typeof firstCalls
>[1]

/** The checkbox of a scope. A refused form keeps one value of each field, so each scope has its own. */
const fieldOf = (scope: AccessScope) => scope.replace(':', '_')

declare module '../../web/views.ts' {
  interface PageData {
    'payment/merchant/access-keys': {
      owned: Permitted
      nav: AreaNav
      keys: (AccessKey & { end: 'later' | 'soon' | 'over' })[]
      /** The scopes that this member may give, with their fields. */
      scopes: { scope: AccessScope; field: string }[]
      /** The scopes that take points out of the owner's wallet. */
      moving: readonly AccessScope[]
      isOn: boolean
      /** The choices of how long a key is valid, with the last day of each. */
      terms: { days: number; until: string }[]
      preset: number
      nameLengthMax: number
      /** The first commands, with a key that is made up. */
      calls: string
    }
  }
  interface PartData {
    'payment/merchant/new-access-key': PageData['payment/merchant/access-keys']
  }
}

const ticked = z.literal('on').optional()
const NewKey = z.object({
  name: z.string().trim().min(1).max(NAME_LENGTH_MAX).refine(isHonestText),
  orders_read: ticked,
  orders_write: ticked,
  transfers: ticked,
  payouts: ticked,
  mandates: ticked,
  days: z
    .string()
    .trim()
    .regex(/^\d{1,3}$/)
    .transform(Number)
    .refine((days) => days >= 1 && days <= DAYS_MAX),
  allowed_addresses: AddressList,
})
const Revocation = z.object({ key: z.string() })

/** GET and POST …/access-keys, and POST …/access-keys/revoke. */
export function accessKeyPages(app: FastifyInstance, deps: Core): void {
  const guarded = { preHandler: requireFreshSignIn(deps) }

  app.get(PATH, async (request: OwnedRequest, reply) => showKeys(request, reply, deps))

  app.post(PATH, guarded, async (request: OwnedRequest, reply) => {
    const { accessKeys, paymentApps } = request.locale.t
    const { problems } = accessKeys
    await permitted(request, deps)
    const form = readForm(request, NewKey, {
      name: problems.name,
      days: problems.days(DAYS_MAX),
      allowed_addresses: paymentApps.problems.allowed_addresses,
    })
    const scopes = SCOPES.filter((scope) => form[fieldOf(scope) as keyof typeof form] === 'on')
    if (scopes.length === 0) throw new FormRefused({ [fieldOf(SCOPES[0])]: problems.scopes })
    const { name, days, allowed_addresses } = form
    const { payment_id } = request.params
    const made = await createAccessKey(
      deps,
      payment_id,
      { name, scopes, days, allowed_addresses },
      actorOf(request),
    )
    if (typeof made === 'string')
      throw new FormRefused({ '': made === 'full' ? problems.full(KEYS_MAX) : problems.off }, 'conflict')
    const secret = { kind: 'access', ...made, scopes } as const
    return showNewSecret(reply, deps, { payment_id, secret, done: { text: accessKeys.made(name) } })
  })

  app.post(`${PATH}/revoke`, async (request: OwnedRequest, reply) => {
    const owned = await permitted(request, deps)
    const { key } = readForm(request, Revocation)
    const { accessKeys } = request.locale.t
    if (isConfirmed(request)) {
      const name = await revokeAccessKey(deps, owned.payment_id, key, actorOf(request))
      return reply.done(pathOf(request) + PAGE, { text: accessKeys.revoked(name) })
    }
    return askToRevoke(request, reply, deps, owned, key)
  })
}

async function askToRevoke(
  request: OwnedRequest,
  reply: FastifyReply,
  deps: Core,
  owned: Permitted,
  public_id: string,
): Promise<FastifyReply> {
  const key = (await accessKeysOf(deps.db, owned.id, deps.clock())).find(
    (each) => each.public_id === public_id,
  )
  if (key === undefined) throw new AppError('not_found', 'There is no such access key')
  const { locale } = request
  const { accessKeys: a, developers } = locale.t
  return reply.page('confirm', {
    title: a.ask.revoke(key.name),
    shop: owned.name,
    lead: developers.ask.which(owned.name, String(owned.pid)),
    facts: [
      { term: a.clientId, value: key.public_id },
      {
        term: developers.lastUsed,
        value: key.last_used_at ? locale.time(key.last_used_at) : developers.never,
      },
    ],
    notes: [a.ask.note],
    action: `${pathOf(request)}${PAGE}/revoke`,
    fields: { key: public_id, ...CONFIRMED },
    button: a.ask.button,
    isDanger: true,
    cancel: pathOf(request) + PAGE,
  })
}

function permitted(request: OwnedRequest, { db }: Core): Promise<Permitted> {
  return getPermitted(db, request.params.payment_id, actorOf(request).user_id, 'keys.manage')
}

async function showKeys(request: OwnedRequest, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const owned = await permitted(request, deps)
  const now = deps.clock()
  const [nav, keys, { access_keys, mandates, time_zone: zone }] = await Promise.all([
    navFor(deps, request, owned),
    accessKeysOf(deps.db, owned.id, now),
    deps.settings.read(),
  ])
  const endOf = ({ expires_at }: AccessKey) => {
    const left = expires_at.getTime() - now.getTime()
    return left <= 0 ? 'over' : left <= SOON_MS ? 'soon' : 'later'
  }
  const offered = SCOPES.filter(
    (scope) => mayGive(owned, [scope]) && (scope !== 'mandates' || mandates === 'on'),
  )
  return reply.page('payment/merchant/access-keys', {
    owned,
    nav,
    keys: keys.map((key) => ({ ...key, end: endOf(key) })),
    scopes: offered.map((scope) => ({ scope, field: fieldOf(scope) })),
    moving: OWNERS_SCOPES,
    isOn: access_keys === 'on',
    terms: TERMS.map((days) => ({ days, until: dayIn(zone, new Date(now.getTime() + days * DAY_MS)) })),
    preset: DAYS_DEFAULT,
    nameLengthMax: NAME_LENGTH_MAX,
    calls: firstCalls(deps.config.PAYMENT_PUBLIC_URL, sampleOf(keys)),
  })
}

/** The commands of the page have the ID of the only key. */
function sampleOf(keys: AccessKey[]): Parameters<typeof firstCalls>[1] {
  const [only, ...others] = keys
  if (only === undefined || others.length > 0) return MADE_UP
  return { ...MADE_UP, client_id: only.public_id, scopes: only.scopes }
}
