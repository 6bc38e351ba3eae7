// This room: the administrators’ acts on points: refunds, reversals, grants, freezes; and the search for abuse.
// Verbs: quoteRefund, quoteReversal, readGrant, freezeWallet, freezeOrder, findPatterns, lookAt, reopen.
// Tables: ledger_accounts, orders, looked_findings.
// Clauses: spec/points 2.4, 2.6, 2.7.
/** /admin/abuse shows suspicious patterns, and which of them an administrator has looked at. spec/points 2.7. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { readForm } from '../../web/forms/forms.ts'
import { hasGrown, type Look, lookAt, NOTE_LENGTH_MAX, readLooks, reopen } from './looks.ts'
import { type Found, findPatterns } from './patterns.ts'
import { type Pattern, type Suspect, showPatterns, whoOf } from './suspects.ts'

const PATH = '/admin/abuse'
/** Findings of a pattern without a look. */
const SHOWN_MAX = 20

declare module '../../web/views.ts' {
  interface PageData {
    'admin/points/abuse': {
      patterns: Pattern[]
      show: Show
      counts: Record<Show, { rows: number; isMore: boolean }>
      looks: Map<string, Look>
      least: bigint
    }
  }
  interface PartData {
    'admin/points/suspects': { suspects: Suspect[]; looks: Map<string, Look>; show: Show }
  }
}

const SHOWS = ['open', 'looked'] as const
type Show = (typeof SHOWS)[number]
const Asked = z.object({ show: z.enum(SHOWS).catch('open') })

const finding = z.string().min(1).max(200)
const LookForm = z.object({
  finding,
  size: z
    .string()
    .regex(/^[1-9]\d{0,17}$/)
    .transform(BigInt),
  note: z.string().trim().max(NOTE_LENGTH_MAX),
})
const ReopenForm = z.object({ finding })

/** Registers the page. The caller's scope must require an administrator. */
export function abusePages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (request, reply) => showPage(request, reply, deps))

  // A mark moves nothing, is recorded and can be undone, so it needs no fresh sign-in.
  app.post(`${PATH}/looked`, async (request, reply) => {
    const { finding, size, note } = readForm(request, LookForm)
    const { locale } = request
    const c = locale.t.console.abuse
    const { found, least } = await search(deps, await readLooks(deps.db, deps.clock()))
    const suspect = suspectsIn(showPatterns(found, locale)).find((each) => each.finding === finding)
    if (suspect === undefined) return reply.done(PATH, { text: c.gone(locale.points(least)), tone: 'warn' })
    // An administrator has looked at what the page showed, which is at most what there is.
    const seen = { finding, size: size < suspect.size ? size : suspect.size, note, who: whoOf(suspect) }
    const earlier = await lookAt(deps, seen, actorOf(request))
    if (earlier === undefined) return reply.done(PATH, { text: c.looked(whoOf(suspect)) })
    return reply.done(PATH, { text: c.already(earlier.username, earlier.note), tone: 'warn' })
  })

  app.post(`${PATH}/reopen`, async (request, reply) => {
    const { finding } = readForm(request, ReopenForm)
    await reopen(deps, finding, actorOf(request))
    return reply.done(PATH, { text: request.locale.t.console.abuse.reopened })
  })
}

async function showPage(request: FastifyRequest, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const { show } = Asked.parse(request.query)
  const looks = await readLooks(deps.db, deps.clock())
  const { found, least } = await search(deps, looks)
  const all = showPatterns(found, request.locale)
  const isLookedAt = ({ finding, size }: Suspect) => {
    const look = looks.get(finding)
    return look !== undefined && !hasGrown(size, look)
  }
  const only = (which: Show) =>
    all.flatMap((pattern) => {
      const suspects = pattern.suspects.filter((each) => isLookedAt(each) === (which === 'looked'))
      const shown = which === 'open' ? suspects.slice(0, SHOWN_MAX) : suspects
      return shown.length === 0 ? [] : [{ ...pattern, suspects: shown }]
    })
  const count = (which: Show) => ({ rows: suspectsIn(only(which)).length, isMore: false })
  return reply.page('admin/points/abuse', {
    ...{ patterns: only(show), show, looks, least },
    counts: { open: count('open'), looked: count('looked') },
  })
}

/** Finds enough of each pattern to show those without a look. */
async function search(
  { db, clock, settings }: { db: Db } & Pick<Core, 'clock' | 'settings'>,
  looks: Map<string, Look>,
): Promise<{ found: Found; least: bigint }> {
  const least = BigInt((await settings.read()).suspicious_points_min)
  return { found: await findPatterns(db, { now: clock(), least, limit: SHOWN_MAX + looks.size }), least }
}

const suspectsIn = (patterns: Pattern[]) => patterns.flatMap(({ suspects }) => suspects)
