/** GET and POST /tip: the choice of a tip for the author of a forum post. It leads to the pay page of the order. spec/tips 2.1. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { readTopicTitle } from '../../accounts/forum/topics.ts'
import { browserScope, requireUser, type Session, sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { amountsIn } from '../../core/setting-kinds.ts'
import type { SettingValues } from '../../core/setting-values.ts'
import { walletOf } from '../../ledger/wallet.ts'
import { AppError } from '../../platform/errors.ts'
import { FormRefused } from '../../web/forms/forms.ts'
import { listUrl } from '../../web/lists.ts'
import type { NextStep } from '../../web/next-steps.ts'
import {
  type Author,
  findAuthor,
  type Hindrance,
  isPostPath,
  placeTip,
  type TipRefusal,
  type TipRoom,
  tipRoom,
  topicOf,
} from './place.ts'
import { findTipsApp } from './setup.ts'

const PAGE = '/tip'

/**
 * `to` and every other field are ignored: the number decides. An ill-formed post is none. A choice counts where no other amount is given.
 */
const Asked = z.object({
  to_id: z
    .string()
    .regex(/^[1-9]\d{0,17}$/)
    .optional()
    .catch(undefined),
  post: z.string().refine(isPostPath).optional().catch(undefined),
  amount: z.string().trim().max(16).default('').catch('x'),
  choice: z.string().max(16).default('').catch(''),
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
      /** `title` is what the forum shows to visitors. */
      post: { path: string; url: string; title: string | undefined } | undefined
      /** Where the reader goes who gives up. */
      exit: string
      choices: Choice[]
      /** The least age in days of an account that gives. */
      ageMin: number
      /** The least trust level of a giver. Undefined if none may give. */
      levelMin: number | undefined
      chosen: bigint | undefined
      /** The bounds of another amount, in whole points. */
      least: bigint
      most: bigint
      room: TipRoom
      /** What is left today, in whole points. */
      left: bigint
      balance: bigint
      hindrance: Hindrance | undefined
    }
    'payment/tips/no-tip': { exit: string; hasPost: boolean; isOff: boolean }
  }
}

/** Registers the page, which is there while the setting `tips` is on. */
export async function tipPages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', async (request, reply) => {
    if (deps.config.DISCOURSE_URL === undefined) throw new AppError('not_found', 'There is no such page')
    // Posts of the forum may still have a button, so its reader gets a way back.
    if ((await deps.settings.read()).tips === 'off') return showNone(reply, deps, askedBy(request), 'off')
    return requireUser(request, reply)
  })
  app.nextSteps.push(async (path) => describeTip(deps, path))

  app.get(PAGE, async (request, reply) => showTip(request, reply, deps))

  // A form that is kept is shown for the same author again.
  const page = (request: FastifyRequest) => {
    const { to_id, post } = askedBy(request)
    return listUrl(PAGE, { to_id, post })
  }
  app.post(PAGE, { config: { page } }, async (request, reply) => {
    const asked = askedBy(request)
    const author = await authorOf(deps, asked)
    if (author === undefined) return showNone(reply, deps, asked)
    const from_id = sessionOf(request).user.id
    const amount = await readAmount(request, deps, asked, { from_id, to_id: author.id })
    const placed = await placeTip(deps, { from_id, to_id: author.id, amount, post_path: asked.post ?? null })
    if (placed.refusal === undefined) return reply.redirect(`/payment/pay/${placed.transaction_id}`, 303)
    return showTip(request, reply, deps, placed.refusal)
  })
}

/** Reads a choice, or another amount within what the giver may give now, as is a choice that is gone. Throws FormRefused. */
async function readAmount(
  { locale }: FastifyRequest,
  deps: Core,
  { amount: other, choice }: Asked,
  pair: { from_id: bigint; to_id: bigint },
): Promise<bigint> {
  const choices = amountsIn((await deps.settings.read()).tip_amounts)
  const text = other || choice
  const chosen = choices.find((each) => String(each) === text)
  if (chosen !== undefined) return chosen
  const { least, most } = boundsOf(await tipRoom(deps, pair), choices)
  const amount = /^[1-9]\d{0,15}$/.test(text) ? BigInt(text) : 0n
  if (amount >= least && amount <= most) return amount
  // Nothing can be given any more: the page says why.
  if (most < least) return least
  const problem = locale.t.paymentLinks.amountWrong(locale.points(least), locale.points(most))
  throw new FormRefused({ amount: problem })
}

/** What the giver has left of today, and the least and the most that one tip may be now. */
function boundsOf(room: TipRoom, choices: bigint[]): { left: bigint; least: bigint; most: bigint } {
  const left = room.day_max > room.given ? room.day_max - room.given : 0n
  const most = [room.one_max, left, room.receivable].reduce((a, b) => (b < a ? b : a))
  return { left, least: choices[0]!, most }
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

/** The same page for everyone who cannot receive tips, known or not: it tells nothing about them. It also says that tips are off. */
function showNone(reply: FastifyReply, deps: Core, asked: Asked, state?: 'off') {
  const isOff = state === 'off'
  const data = { exit: exitOf(deps, asked), hasPost: asked.post !== undefined, isOff }
  return reply.page('payment/tips/no-tip', data, { status: isOff ? 404 : 200 })
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
  const amounts = amountsIn(settings.tip_amounts)
  const { left, least, most } = boundsOf(room, amounts)
  const choices = amounts.map((amount) => ({ amount, isPossible: amount <= most }))
  const isUsable = app !== undefined && app.status === 'approved' && refused !== 'unusable'
  const data = {
    user,
    author,
    forumId: asked.to_id!,
    post: asked.post === undefined ? undefined : await describePost(deps, asked.post, user.id),
    exit: exitOf(deps, asked),
    choices,
    ageMin: settings.tip_min_age_days,
    levelMin: levelMinOf(settings, amounts),
    chosen: chosenOf(choices, asked),
    ...{ least, most },
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

/** Returns the least trust level that may give the least of the amounts. */
function levelMinOf(settings: SettingValues, [least = 0n]: bigint[]): number | undefined {
  const levels = [0, 1, 2, 3, 4] as const
  return levels.find((level) =>
    [settings[`tip_max_tl${level}`], settings[`tip_day_max_tl${level}`]].every((max) => BigInt(max) >= least),
  )
}

async function describePost(deps: Core, path: string, reader_id: bigint) {
  const title = await readTopicTitle(deps, topicOf(path), reader_id)
  return { path, url: postUrl(deps.config, path), title }
}

/** The choice that was made, or the middle one of those that are possible. */
function chosenOf(choices: Choice[], { choice }: Asked): bigint | undefined {
  const possible = choices.filter(({ isPossible }) => isPossible)
  const asked = possible.find(({ amount }) => String(amount) === choice)
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

/** Says to those who sign in to give a tip who can give one. A visitor learns of no account of an author. */
async function describeTip(deps: Core, path: string): Promise<NextStep | undefined> {
  if (!/^\/tip(?=[?#]|$)/.test(path)) return undefined
  const settings = await deps.settings.read()
  if (settings.tips === 'off') return undefined
  const app = await findTipsApp(deps.db)
  if (app === undefined || deps.config.DISCOURSE_URL === undefined) return undefined
  const asked = Asked.parse(Object.fromEntries(new URL(path, 'http://here.invalid').searchParams))
  return {
    app: { name: app.name, logo_url: null },
    order: undefined,
    isForumTip: true,
    levelMin: levelMinOf(settings, amountsIn(settings.tip_amounts)),
    isPayment: true,
    exit: exitOf(deps, asked),
  }
}
