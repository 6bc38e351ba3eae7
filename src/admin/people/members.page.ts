/**
 * /admin/members lists and shows accounts. An act takes two steps: a page explains it, and the same form confirms it.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { localGroupsOf } from '../../accounts/local-groups.ts'
import {
  accessOf,
  banMember,
  countMembers,
  getMember,
  type MemberSort,
  type MemberStatus,
  recentEvents,
  reinstateMember,
  searchMembers,
  suspendMember,
  suspensionEnd,
} from '../../accounts/members.ts'
import { createAccount } from '../../accounts/operator.ts'
import { isBannedOrSuspended, isUsername } from '../../accounts/people/users.ts'
import { resetSecondFactor } from '../../accounts/security/second-factor.ts'
import { describeDevice } from '../../accounts/session/device.ts'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { actorOf, sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { Counts } from '../../database/counts.ts'
import { TABLE_LINES } from '../../database/paging.ts'
import { appsOf } from '../../identity/apps/acts.ts'
import { authorisedApps, liveGrants, signOutEverywhere } from '../../identity/authorised-apps.ts'
import { balanceOf, type Moved, movedThisMonth } from '../../ledger/wallet.ts'
import { isExpired } from '../../payment/orders/orders.ts'
import { AppError } from '../../platform/errors.ts'
import { anonymise } from '../../privacy/anonymise.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { Confirmed, Reason } from '../../web/forms/reason.ts'
import { cursor, idIn, onePage, searchText } from '../../web/lists.ts'
import { glancesOf, lastOrdersOf, memberWithWallet, paymentAppsOf } from '../find/of-member.ts'
import { actWords } from '../wording/act-words.ts'

const PATH = '/admin/members'

type OneMember = FastifyRequest<{ Params: { user_id: string } }>

/** Each order has an index. */
const SORTS = ['newest', 'oldest', 'name'] as const

const Search = z.object({
  q: searchText,
  status: z.enum(['all', 'barred', 'admins', 'service']).catch('all'),
  sort: z.enum(SORTS).catch('newest'),
  before: cursor,
})

const NewAccount = z.object({
  username: z.string().trim().refine(isUsername),
  trust_level: z
    .string()
    .regex(/^[0-4]$/)
    .transform(Number),
  is_service: z
    .literal('on')
    .optional()
    .transform((on) => on !== undefined),
})

const act = { reason: Reason, confirmed: Confirmed }
const Act = z.discriminatedUnion('act', [
  z.object({
    act: z.literal('suspend'),
    days: z
      .string()
      .regex(/^[1-9]\d{0,3}$/)
      .transform(Number),
    ...act,
  }),
  z.object({ act: z.enum(['ban', 'reinstate', 'sign_out', 'reset_factor', 'anonymise']), ...act }),
])
type Act = z.output<typeof Act>

type Member = Awaited<ReturnType<typeof getMember>>
type Found = Awaited<ReturnType<typeof searchMembers>>[number]
type Access = Awaited<ReturnType<typeof accessOf>>
/** The newest session of a device, and how many are alike. */
type Seen = Access['sessions'][number] & { device: string; count: number }

declare module '../../web/views.ts' {
  interface PartData {
    'admin/people/member-head': {
      member: Member
      wallet: Pick<Awaited<ReturnType<typeof memberWithWallet>>, 'balance' | 'frozen_at' | 'frozen_reason'>
      isBannedOrSuspended: boolean
    }
  }
  interface PageData {
    'admin/people/members': {
      members: (Found & { isBannedOrSuspended: boolean })[]
      q: string
      status: string
      sort: MemberSort
      counts: Counts<MemberStatus>
      glances: Awaited<ReturnType<typeof glancesOf>>
      next: bigint | undefined
    }
    'admin/people/member-created': { id: bigint; password: string; username: string }
    'admin/people/member': {
      member: Member
      sessions: Seen[]
      /** Undefined for a wallet with too many movements to add up. */
      moved: Moved | undefined
      factor: Access['factor']
      passkeys: bigint
      wallet: Awaited<ReturnType<typeof memberWithWallet>>
      apps: { shops: Awaited<ReturnType<typeof paymentAppsOf>>; signIns: Awaited<ReturnType<typeof appsOf>> }
      orders: (Awaited<ReturnType<typeof lastOrdersOf>>[number] & { isOver: boolean })[]
      authorised: Awaited<ReturnType<typeof authorisedApps>>
      localGroups: string[]
      events: (Awaited<ReturnType<typeof recentEvents>>[number] & { words: string })[]
      isSelf: boolean
      acts: Act['act'][]
      isBannedOrSuspended: boolean
    }
  }
}

/** Registers the pages. The caller's scope must require an administrator. */
export function memberPages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (request, reply) => showMembers(request, reply, deps))

  const preHandler = requireFreshSignIn(deps)
  app.post(`${PATH}/new`, { preHandler }, async (request, reply) => makeAccount(request, reply, deps))

  app.get(`${PATH}/:user_id`, async (request: OneMember, reply) => showMember(request, reply, deps))

  app.post(`${PATH}/:user_id`, { preHandler }, async (request: OneMember, reply) => {
    const user_id = memberOf(request)
    const asked = readForm(request, Act, { days: request.locale.t.members.daysWrong })
    if (asked.confirmed === undefined) return preview(reply, deps, user_id, asked)
    const { username } = await getMember(deps.db, user_id)
    const signedIn = await countSignedIn(deps, user_id)
    await carryOut(request, deps, user_id, asked)
    return reply.done(pathOf(user_id), { text: doneText(request, deps, asked, { username, ...signedIn }) })
  })
}

async function makeAccount(request: FastifyRequest, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const { t } = request.locale
  const form = readForm(request, NewAccount, { username: t.members.badUsername })
  try {
    const { id, password } = await createAccount(deps, form, actorOf(request))
    return reply.page('admin/people/member-created', { id, password, username: form.username })
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict')
      throw new FormRefused({ username: t.register.taken }, 'conflict')
    throw error
  }
}

async function showMembers(
  request: FastifyRequest,
  reply: FastifyReply,
  { db, clock }: Core,
): Promise<FastifyReply> {
  const { q, status, sort, before } = Search.parse(request.query)
  const now = clock()
  const [found, counts] = await Promise.all([
    searchMembers(db, { text: q, status, sort, before }, now, TABLE_LINES + 1),
    q === '' ? countMembers(db, now) : {},
  ])
  const { rows, next } = onePage(found, TABLE_LINES)
  const glances = await glancesOf(
    db,
    rows.map(({ id }) => id),
  )
  const members = rows.map((member) => ({ ...member, isBannedOrSuspended: isBannedOrSuspended(member, now) }))
  return reply.page('admin/people/members', { members, q, status, sort, counts, glances, next })
}

const pathOf = (user_id: bigint) => `${PATH}/${user_id}`

function memberOf({ params }: OneMember): bigint {
  return idIn(params.user_id, 'member')
}

async function showMember(request: OneMember, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const user_id = memberOf(request)
  const member = await getMember(deps.db, user_id)
  const { time_zone: zone } = deps.settings.latest()
  const [
    { sessions, factor, passkeys },
    moved,
    wallet,
    shops,
    signIns,
    orders,
    authorised,
    events,
    localGroups,
  ] = await Promise.all([
    accessOf(deps, user_id),
    movedThisMonth(deps.db, user_id, { now: deps.clock(), zone }),
    memberWithWallet(deps.db, user_id),
    paymentAppsOf(deps.db, user_id),
    appsOf(deps.db, user_id),
    lastOrdersOf(deps.db, user_id),
    authorisedApps(deps.db, user_id),
    recentEvents(deps.db, user_id),
    localGroupsOf(deps.db, user_id),
  ])
  const { t } = request.locale
  const now = deps.clock()
  const isSelf = user_id === sessionOf(request).user.id
  const data = {
    member,
    sessions: alike(sessions.map((session) => ({ ...session, device: describeDevice(session.agent, t) }))),
    moved,
    factor,
    passkeys,
    wallet,
    apps: { shops, signIns },
    orders: orders.map((order) => ({ ...order, isOver: isExpired(order, now) })),
    authorised,
    localGroups,
    events: events.map((event) => ({ ...event, words: actWords(t, event.what) })),
    isSelf,
    acts: actsOn(member, {
      isSelf,
      isBannedOrSuspended: isBannedOrSuspended(member, now),
      hasFactor: factor !== undefined || passkeys > 0n,
    }),
    isBannedOrSuspended: isBannedOrSuspended(member, now),
  }
  return reply.page('admin/people/member', data)
}

/** Puts the sessions of one device, address and way of signing in under the first of them, which is the newest. */
function alike(sessions: Omit<Seen, 'count'>[]): Seen[] {
  const groups = new Map<string, Seen>()
  for (const session of sessions) {
    const key = [session.device, session.ip, ...session.amr].join()
    const first = groups.get(key)
    if (first === undefined) groups.set(key, { ...session, count: 1 })
    else first.count += 1
  }
  return [...groups.values()]
}

type MemberState = { isSelf: boolean; isBannedOrSuspended: boolean; hasFactor: boolean }

/** What can be done about a member, in the order of the page. */
function actsOn(
  { anonymised_at, is_banned }: Pick<Member, 'anonymised_at' | 'is_banned'>,
  { isSelf, isBannedOrSuspended, hasFactor }: MemberState,
): Act['act'][] {
  if (anonymised_at !== null) return []
  const acts: Act['act'][] = isBannedOrSuspended ? ['reinstate'] : []
  if (!isSelf && !is_banned) acts.push('suspend', 'ban')
  acts.push('sign_out')
  if (hasFactor) acts.push('reset_factor')
  if (!isSelf) acts.push('anonymise')
  return acts
}

/** Says what an act does to this member, in figures. */
async function preview(reply: FastifyReply, deps: Core, user_id: bigint, act: Act): Promise<FastifyReply> {
  const { locale } = reply.request
  const { t, points } = locale
  const m = t.members
  const member = await getMember(deps.db, user_id)
  const { sessions, grants } = await countSignedIn(deps, user_id)
  const words = m.acts[act.act]
  const { confirmed: _, ...fields } = act
  return reply.page('confirm', {
    title: words.question(member.username),
    lead: words.text,
    facts: [
      { term: m.number, value: String(member.id) },
      ...(member.name === null ? [] : [{ term: m.name, value: member.name }]),
      ...(act.act === 'suspend'
        ? [{ term: m.suspendedTill, value: locale.time(suspensionEnd(deps.clock(), act.days)) }]
        : []),
      { term: m.sessionsNow, value: points(sessions) },
      { term: m.grantsNow, value: points(grants) },
      { term: m.balanceNow, value: points(await balanceOf(deps.db, user_id)) },
    ],
    notes: [`${t.common.reason}${t.common.colon}${act.reason}`, m.mailed],
    action: pathOf(user_id),
    fields: {
      ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)])),
      confirmed: 'yes',
    },
    button: words.label,
    isDanger: act.act !== 'reinstate',
    cancel: pathOf(user_id),
  })
}

/** The open sessions of a member, and the applications that hold tokens in the member's name. */
async function countSignedIn(deps: Core, user_id: bigint): Promise<{ sessions: number; grants: number }> {
  const [{ sessions }, grants] = await Promise.all([
    accessOf(deps, user_id),
    liveGrants(deps.db, user_id, deps.clock()),
  ])
  return { sessions: sessions.length, grants: grants.length }
}

type Figures = { username: string; sessions: number; grants: number }

/** Returns what an act has done. */
function doneText(
  { locale }: FastifyRequest,
  { clock }: Core,
  act: Act,
  { username, sessions, grants }: Figures,
): string {
  const { done } = locale.t.members
  if (act.act === 'suspend') return done.suspend(username, locale.time(suspensionEnd(clock(), act.days)))
  if (act.act === 'sign_out') return done.sign_out(username, sessions, grants)
  return done[act.act](username)
}

function carryOut(request: FastifyRequest, deps: Core, user_id: bigint, form: Act): Promise<void> {
  const actor = actorOf(request)
  const by = { user_id, ...actor, reason: form.reason }
  switch (form.act) {
    case 'suspend':
      return suspendMember(deps, { ...by, days: form.days })
    case 'ban':
      return banMember(deps, by)
    case 'reinstate':
      return reinstateMember(deps, by)
    case 'sign_out':
      return signOutEverywhere(deps, by)
    case 'anonymise':
      return anonymise(deps, { ...by, give_up: 0n })
    case 'reset_factor':
      return resetSecondFactor(deps, { ...by, admin_id: actor.actor_id })
  }
}
