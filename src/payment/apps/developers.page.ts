/** …/developers: the numbers, keys and gateway addresses of an application. Replacing a key asks first. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import type { Locale } from '../../web/languages.ts'
import type { AreaNav, PartData } from '../../web/views.ts'
import { APPLICATION, actorOf, CONFIRMED, isConfirmed, type OwnedRequest, pathOf } from '../rights/owned.ts'
import type { Actor } from '../rights/rights.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { readPublicKey } from '../signing/public-key.ts'
import { slow } from './apps.page.ts'
import { navFor } from './area.ts'
import { gatewayCard, platformSpki } from './gateway-card.ts'
import {
  endOfOverlap,
  endOverlap,
  makeMerchantPair,
  OVERLAP_HOURS_DEFAULT,
  resetMerchantKey,
  rotateToken,
  setPublicKey,
  waitingNotifications,
} from './key-changes.ts'
import { newSecretPage, showNewSecret } from './new-secret.page.ts'
import { switchVersions } from './own-app.ts'
import { type Owned, overlapIn, ownedFor } from './settings.page.ts'

type Gateway = Omit<Awaited<ReturnType<typeof gatewayCard>>, 'merchantKey'>
type Sample = { c: Locale['t']['merchantGateway']['comments']; gateway: Gateway; pid: bigint }
type Guard = { preHandler: ReturnType<typeof requireFreshSignIn>; config: { page: string } }
type Card = {
  owned: Owned
  nav: AreaNav
  gateway: Gateway
  /** The Merchant KEY, only on the page that shows it after a fresh sign-in. */
  merchantKey: string | undefined
  /** The end of the Merchant KEY, for those who may see it. */
  keyEnd: string | undefined
  mayManage: boolean
}

type Round = PartData['payment/merchant/round']['round']

/** The check of an order's round, which a room above makes. Without a number it is the newest order. */
export type RoundPages = {
  show(actor: Actor, owned: Owned, number: string | undefined): Promise<Round>
  /** Also calls the address to which buyers return. */
  tryReturn(actor: Actor, owned: Owned, number: string | undefined): Promise<Round>
}

declare module '../../web/views.ts' {
  interface PageData {
    'payment/apps/developers': Card & { overlapHours: number; round: Round; asked: string | undefined }
  }
  interface PartData {
    'payment/apps/gateway': Card
    'payment/apps/sample-v1': Sample
    'payment/apps/sample-v2': Sample
    'payment/apps/which-key': object
  }
}

const PAGE = '/developers'
const PATH = `${APPLICATION}${PAGE}`
const FINGERPRINT_SHOWN = 16
const KEY_END_SHOWN = 4
const KeyForm = z.object({ public_key: z.string() })
const OrderNumber = z.string().trim().max(128)

/** GET …/developers, and the forms that replace the keys of an application. */
export function developerPages(app: FastifyInstance, deps: GatewayCore, rounds: RoundPages): void {
  const preHandler = requireFreshSignIn(deps)
  const guarded = { preHandler, config: { page: PATH } }

  app.get(PATH, async (request: OwnedRequest, reply) => {
    const { show, order } = request.query as Record<string, unknown>
    const asked = { round: rounds.show, number: numberIn(order) }
    if (show !== 'key') return showDevelopers(request, reply, deps, asked)
    await ownedFor(request, deps, 'keys.manage')
    await preHandler(request, reply)
    if (reply.sent) return reply
    return showDevelopers(request, reply, deps, { ...asked, showsKey: true })
  })

  app.post(`${PATH}/return`, slow, async (request: OwnedRequest, reply) =>
    showDevelopers(request, reply, deps, {
      round: rounds.tryReturn,
      number: numberIn((request.body as Record<string, unknown>).order),
    }),
  )

  newSecretPage(app, deps)
  tokenForms(app, deps, guarded)
  gatewayForms(app, deps, guarded)
}

/** Reads the number of an order. What is none asks for no order. */
const numberIn = (sent: unknown) => OrderNumber.safeParse(sent).data || undefined

/** The forms that replace and end tokens. */
function tokenForms(app: FastifyInstance, deps: GatewayCore, guarded: Guard): void {
  app.post(`${APPLICATION}/rotate`, guarded, async (request: OwnedRequest, reply) => {
    const { payment_id } = request.params
    const overlap_hours = overlapIn(request)
    const until = endOfOverlap(deps.clock(), overlap_hours)
    const owned = await ownedFor(request, deps, 'keys.manage')
    const { locale } = request
    if (isConfirmed(request)) {
      const made = await rotateToken(deps, payment_id, overlap_hours, actorOf(request))
      const { token, secret_key, previous_until } = made
      return showNewSecret(reply, deps, {
        payment_id,
        secret: { kind: 'token', token, secret_key },
        done: { text: locale.t.developers.rotated(overlap_hours === 0 ? '' : locale.time(previous_until)) },
      })
    }
    const { ask } = locale.t.developers
    const [current] = owned.tokens
    return askFirst(request, reply, owned, {
      title: ask.rotate,
      facts: [
        { term: ask.newKey, value: ask.shownOnce },
        { term: ask.oldKey, value: overlap_hours === 0 ? ask.atOnce : ask.until(locale.time(until)) },
        {
          term: ask.lastUsed,
          value: current?.last_used_at ? locale.time(current.last_used_at) : locale.t.developers.never,
        },
      ],
      notes: [ask.rotateNote, ...(overlap_hours === 0 ? [ask.rotateNow] : [])],
      act: 'rotate',
      fields: { overlap_hours: String(overlap_hours) },
      button: ask.rotateButton,
    })
  })

  app.post(`${APPLICATION}/end-overlap`, guarded, async (request: OwnedRequest, reply) => {
    const { locale } = request
    const { ask, done } = locale.t.developers
    if (isConfirmed(request)) {
      await endOverlap(deps, request.params.payment_id, actorOf(request))
      return reply.done(`${pathOf(request)}${PAGE}`, { text: done.ended })
    }
    const owned = await ownedFor(request, deps, 'keys.manage')
    const previous = owned.tokens.find(({ valid_to }) => valid_to !== null)
    return askFirst(request, reply, owned, {
      title: ask.end,
      facts: [
        { term: ask.endFact, value: previous?.valid_to ? locale.time(previous.valid_to) : '–' },
        {
          term: ask.lastUsed,
          value: previous?.last_used_at ? locale.time(previous.last_used_at) : locale.t.developers.never,
        },
      ],
      notes: [ask.endNote],
      act: 'end-overlap',
      fields: {},
      button: ask.endButton,
    })
  })
}

/** The forms for the keys and versions of the gateway. */
function gatewayForms(app: FastifyInstance, deps: GatewayCore, guarded: Guard): void {
  app.post(`${APPLICATION}/reset-key`, guarded, async (request: OwnedRequest, reply) => {
    const owned = await ownedFor(request, deps, 'keys.manage')
    const { locale } = request
    const { ask, done } = locale.t.developers
    const waiting = await waitingNotifications(deps.db, owned.id)
    if (isConfirmed(request)) {
      const key = await resetMerchantKey(deps, request.params.payment_id, actorOf(request))
      const text = done.reset(key.slice(-KEY_END_SHOWN), locale.points(waiting), waiting)
      const { payment_id } = owned
      return showNewSecret(reply, deps, { payment_id, secret: { kind: 'key', key }, done: { text } })
    }
    return askFirst(request, reply, owned, {
      title: ask.reset,
      facts: [
        { term: ask.newKey, value: ask.madeNow },
        { term: ask.oldKey, value: ask.atOnce, tone: 'bad' },
        { term: ask.onTheirWay, value: locale.points(waiting) },
      ],
      notes: [ask.resetNote],
      act: 'reset-key',
      fields: {},
      button: ask.resetButton,
    })
  })

  publicKeyForms(app, deps, guarded)

  app.post(`${APPLICATION}/versions`, guarded, async (request: OwnedRequest, reply) => {
    const { v1, v2 } = request.body as Record<string, unknown>
    const enabled = { v1: v1 === 'on', v2: v2 === 'on' }
    const owned = await ownedFor(request, deps, 'settings.edit')
    const { ask, done } = request.locale.t.developers
    const isLess = (owned.v1_enabled && !enabled.v1) || (owned.v2_enabled && !enabled.v2)
    if (isLess && !isConfirmed(request))
      return askFirst(request, reply, owned, {
        title: ask.versions,
        facts: (['v1', 'v2'] as const).map((version) => ({
          term: ask.version[version],
          value: enabled[version] ? ask.stays : ask.off,
        })),
        notes: [ask.versionsNote],
        act: 'versions',
        fields: { ...(enabled.v1 && { v1: 'on' }), ...(enabled.v2 && { v2: 'on' }) },
        button: ask.versionsButton,
      })
    await switchVersions(deps, request.params.payment_id, enabled, actorOf(request))
    return reply.done(`${pathOf(request)}${PAGE}`, { text: done.versions(enabled.v1, enabled.v2) })
  })
}

/** The forms for the RSA key of the merchant. */
function publicKeyForms(app: FastifyInstance, deps: GatewayCore, guarded: Guard): void {
  app.post(`${APPLICATION}/public-key`, guarded, async (request: OwnedRequest, reply) => {
    const { public_key } = readForm(request, KeyForm)
    const owned = await ownedFor(request, deps, 'keys.manage')
    const read = readPublicKey(public_key, await platformSpki(deps, owned.id))
    if (typeof read === 'string')
      throw new FormRefused({ public_key: request.locale.t.merchantGateway.faults[read] })
    const { publicKey } = await gatewayCard(deps, owned.id)
    const { ask, done } = request.locale.t.developers
    if (publicKey === undefined || publicKey.fingerprint === read.fingerprint || isConfirmed(request)) {
      await setPublicKey(deps, request.params.payment_id, read, actorOf(request))
      const text = done.publicKey(read.bits, read.fingerprint.slice(0, FINGERPRINT_SHOWN))
      return reply.done(`${pathOf(request)}${PAGE}`, { text })
    }
    return askFirst(request, reply, owned, {
      title: ask.publicKey,
      facts: [
        { term: ask.newKey, value: `SHA-256 ${read.fingerprint}` },
        { term: ask.oldKey, value: `SHA-256 ${publicKey.fingerprint}` },
      ],
      notes: [ask.publicKeyNote],
      act: 'public-key',
      fields: { public_key },
      button: ask.publicKeyButton,
    })
  })

  app.post(
    `${APPLICATION}/key-pair`,
    { ...guarded, config: { ...guarded.config, ...slow.config } },
    async (request: OwnedRequest, reply) => {
      const owned = await ownedFor(request, deps, 'keys.manage')
      const { publicKey } = await gatewayCard(deps, owned.id)
      const { ask } = request.locale.t.developers
      if (publicKey !== undefined && !isConfirmed(request))
        return askFirst(request, reply, owned, {
          title: ask.pair,
          facts: [
            { term: ask.newKey, value: ask.shownOnce },
            { term: ask.oldKey, value: `SHA-256 ${publicKey.fingerprint}` },
          ],
          notes: [ask.publicKeyNote],
          act: 'key-pair',
          fields: {},
          button: ask.pairButton,
        })
      const { payment_id } = owned
      await deps.limits.hit('key_pairs', sessionOf(request).user.id.toString())
      const { private_base64 } = await makeMerchantPair(deps, payment_id, actorOf(request))
      return showNewSecret(reply, deps, {
        payment_id,
        secret: { kind: 'pair', private_base64 },
        done: { text: request.locale.t.merchantGateway.pairMade },
      })
    },
  )
}

type Question = {
  title: string
  facts: { term: string; value: string; tone?: 'good' | 'warn' | 'bad' }[]
  notes: string[]
  /** The last part of the form's address. */
  act: string
  fields: Record<string, string>
  button: string
}

/** Shows what replacing a key does, before it is done. */
function askFirst(
  request: OwnedRequest,
  reply: FastifyReply,
  owned: Owned,
  question: Question,
): FastifyReply {
  const { act, fields, ...shown } = question
  const { developers } = request.locale.t
  return reply.page('confirm', {
    ...shown,
    shop: owned.name,
    lead: developers.ask.which(owned.name, String(owned.pid)),
    action: `${pathOf(request)}/${act}`,
    fields: { ...fields, ...CONFIRMED },
    isDanger: true,
    cancel: `${pathOf(request)}${PAGE}`,
  })
}

async function showDevelopers(
  request: OwnedRequest,
  reply: FastifyReply,
  deps: GatewayCore,
  {
    round: readRound,
    number,
    showsKey = false,
  }: { round: RoundPages['show']; number: string | undefined; showsKey?: boolean },
): Promise<FastifyReply> {
  const owned = await ownedFor(request, deps, 'application.read')
  const mayManage = owned.rights.includes('keys.manage')
  const [nav, { merchantKey, ...gateway }, round] = await Promise.all([
    navFor(deps, request, owned),
    gatewayCard(deps, owned.id),
    readRound(actorOf(request), owned, number),
  ])
  return reply.page('payment/apps/developers', {
    owned,
    nav,
    mayManage,
    gateway,
    merchantKey: showsKey ? merchantKey : undefined,
    keyEnd: mayManage ? merchantKey.slice(-KEY_END_SHOWN) : undefined,
    overlapHours: OVERLAP_HOURS_DEFAULT,
    round,
    asked: number,
  })
}
