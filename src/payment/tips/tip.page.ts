/** GET and POST /tip: the choice of a tip for the author of a forum post. It leads to the pay page of the order. spec/tips 2.1. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { browserScope, requireUser, type Session, sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { amountsIn } from '../../core/setting-kinds.ts'
import { walletOf } from '../../ledger/wallet.ts'
import { AppError } from '../../platform/errors.ts'
import { FormRefused } from '../../web/forms/forms.ts'
import type { NextStep } from '../../web/next-steps.ts'
import {
  type Author,
  findAuthor,
  type Hindrance,
  POST_PATH,
  placeTip,
  type TipRefusal,
  type TipRoom,
  tipRoom,
} from './place.ts'
import { findTipsApp } from './setup.ts'

const PAGE = '/tip'

/** `to` and every other field are ignored: the number decides. An ill-formed post is none. */
const Asked = z.object({
  to_id: z
    .string()
    .regex(/^[1-9]\d{0,17}$/)
    .optional()
    .catch(undefined),
  post: z.string().regex(POST_PATH).optional().catch(undefined),
  amount: z.string().max(16).optional().catch(undefined),
})
type Asked = z.output<typeof Asked>

/** One of the amounts of the site, and whether the limits allow it now. */
type Choice = { amount: bigint; isPossible: boolean }

declare module '../../web/views.ts' {
  interface PageData {
    'payment/tips/tip': {
      user: Session['user']
      author: Author
      forumId: string
      post: { path: string; url: string } | undefined
      /** Where the reader goes who gives up. */
      exit: string
      choices: Choice[]
      /** The least age in days of an account that gives. */
      ageMin: number
      chosen: bigint | undefined
      room: TipRoom
      /** What is left today, in whole points. */
      left: bigint
      balance: bigint
      hindrance: Hindrance | undefined
    }
    'payment/tips/no-tip': { exit: string; hasPost: boolean }
  }
}

/** Registers the page, which is there while the setting `tips` is on. */
export async function tipPages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', async (request, reply) => {
    await requireOn(deps)
    return requireUser(request, reply)
  })
  app.nextSteps.push(async (path) => describeTip(deps, path))

  app.get(PAGE, async (request, reply) => showTip(request, reply, deps))

  app.post(PAGE, async (request, reply) => {
    const asked = askedBy(request)
    const author = await authorOf(deps, asked)
    if (author === undefined) return showNone(reply, deps, asked)
    const { tip_amounts } = await deps.settings.read()
    const amount = amountsIn(tip_amounts).find((each) => String(each) === asked.amount)
    if (amount === undefined) throw new FormRefused({ amount: request.locale.t.tips.amountWrong })
    const placed = await placeTip(deps, {
      from_id: sessionOf(request).user.id,
      to_id: author.id,
      amount,
      post_path: asked.post ?? null,
    })
    if (placed.refusal === undefined) return reply.redirect(`/payment/pay/${placed.transaction_id}`, 303)
    return showTip(request, reply, deps, placed.refusal)
  })
}

async function requireOn({ settings, config }: Core): Promise<void> {
  if (config.DISCOURSE_URL === undefined || (await settings.read()).tips === 'off')
    throw new AppError('not_found', 'There is no such page')
}

/** Reads what the address or the form asks for. */
function askedBy(request: FastifyRequest): Asked {
  return Asked.parse((request.method === 'POST' ? request.body : request.query) ?? {})
}

async function authorOf({ db }: Core, { to_id }: Asked): Promise<Author | undefined> {
  return to_id === undefined ? undefined : findAuthor(db, to_id)
}

/** The page of a post at the forum. */
export function postUrl({ DISCOURSE_URL = '' }: Core['config'], path: string): string {
  return `${DISCOURSE_URL.replace(/\/+$/, '')}${path}`
}

function exitOf({ config }: Core, { post }: Asked): string {
  return post === undefined ? config.DISCOURSE_URL! : postUrl(config, post)
}

/** The same page for everyone who cannot receive tips, known or not: it tells nothing about them. */
function showNone(reply: FastifyReply, deps: Core, asked: Asked) {
  return reply.page('payment/tips/no-tip', { exit: exitOf(deps, asked), hasPost: asked.post !== undefined })
}

/** @param refused the refusal of a form, which the answer tells instead of what the page predicts. */
async function showTip(request: FastifyRequest, reply: FastifyReply, deps: Core, refused?: TipRefusal) {
  const asked = askedBy(request)
  const { user } = sessionOf(request)
  const author = await authorOf(deps, asked)
  if (author === undefined) return showNone(reply, deps, asked)
  const [room, wallet, app, settings] = await Promise.all([
    tipRoom(deps, { from_id: user.id, to_id: author.id }),
    walletOf(deps.db, user.id),
    findTipsApp(deps.db),
    deps.settings.read(),
  ])
  if (room.cannot_receive) return showNone(reply, deps, asked)
  const left = room.day_max > room.given ? room.day_max - room.given : 0n
  const most = [room.one_max, left, room.receivable].reduce((a, b) => (b < a ? b : a))
  const choices = amountsIn(settings.tip_amounts).map((amount) => ({ amount, isPossible: amount <= most }))
  const isUsable = app !== undefined && app.status === 'approved' && refused !== 'unusable'
  const data = {
    user,
    author,
    forumId: asked.to_id!,
    post: asked.post === undefined ? undefined : { path: asked.post, url: postUrl(deps.config, asked.post) },
    exit: exitOf(deps, asked),
    choices,
    ageMin: settings.tip_min_age_days,
    chosen: chosenOf(choices, asked),
    room,
    left,
    balance: wallet.balance,
    hindrance:
      settings.payments_read_only === 'on'
        ? 'paused'
        : isUsable
          ? hindranceOf(room, { left, isFrozen: wallet.frozen_reason !== null, choices })
          : 'unusable',
  } as const
  const status = refused === undefined ? 200 : refused === 'paused' ? 503 : 409
  return reply.page('payment/tips/tip', data, { status })
}

/** The choice that was made, or the middle one of those that are possible. */
function chosenOf(choices: Choice[], { amount }: Asked): bigint | undefined {
  const possible = choices.filter(({ isPossible }) => isPossible)
  const asked = possible.find((choice) => String(choice.amount) === amount)
  return (asked ?? possible[Math.floor(possible.length / 2)])?.amount
}

function hindranceOf(
  room: TipRoom,
  { left, isFrozen, choices }: { left: bigint; isFrozen: boolean; choices: Choice[] },
): Hindrance | undefined {
  const [least] = choices
  if (isFrozen) return 'frozen'
  if (room.is_too_new) return 'tooNew'
  if (least === undefined || room.one_max < least.amount) return 'level'
  if (left < least.amount) return 'day'
  if (room.pair_tips >= room.pair_max) return 'pair'
  return room.receivable < least.amount ? 'received' : undefined
}

/** Names the application of tips to those who sign in to give one. */
async function describeTip(deps: Core, path: string): Promise<NextStep | undefined> {
  if (!/^\/tip(?=[?#]|$)/.test(path) || (await deps.settings.read()).tips === 'off') return undefined
  const app = await findTipsApp(deps.db)
  if (app === undefined) return undefined
  return {
    app: { name: app.name, logo_url: null },
    order: undefined,
    isPayment: true,
    exit: deps.config.DISCOURSE_URL,
  }
}
