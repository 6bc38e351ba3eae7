// This room: alerts: what owners, teams and members are warned of, once for each cause.
// Verbs: raiseAlert, readAlerts, markRead.
// Tables: alerts.
// Clauses: spec/payment-api 6.3.
/** /account/alerts: a member's alerts about payment applications, with the unread ones marked. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { browserScope, requireUser, sessionOf } from '../../accounts/session/session.ts'
import { OTHERS } from '../../accounts/session/sessions.page.ts'
import type { Core } from '../../core/core.ts'
import { PAGE_LINES } from '../../database/paging.ts'
import type { Icon } from '../../web/icons.ts'
import type { Locale } from '../../web/languages.ts'
import { cursor, olderUrl, onePage } from '../../web/lists.ts'
import { iconOf, linkOf, markRead, readAlerts, toneOf, writtenFacts } from './alerts.ts'

const PAGE = '/account/alerts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/alerts/alerts': PartData['parts/pager'] & {
      alerts: (Awaited<ReturnType<typeof readAlerts>>[number] & {
        link: string
        tone: 'warn' | 'plain'
        icon: Icon
        /** How many under one heading say the same. */
        count: number
        /** What the list says in place of the text of the mail. */
        brief: string | undefined
      })[]
      /** Whether the member gets them by email. */
      hasMail: boolean
      /** What ends every other session. */
      others: typeof OTHERS
    }
  }
}

const Asked = z.object({ before: cursor })
const ReadForm = z.object({ up_to: cursor })

/** GET the list, and POST …/read. */
export async function alertPages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)

  app.get(PAGE, async (request, reply) => {
    const { before } = Asked.parse(request.query)
    const { user } = sessionOf(request)
    const found = await readAlerts(deps.db, user.id, { before, limit: PAGE_LINES + 1 })
    const { rows, next } = onePage(found, PAGE_LINES)
    const { language } = request.locale
    const alerts = foldAlike(rows, request.locale, deps.clock()).map((alert) => ({
      ...alert,
      facts: writtenFacts(alert.facts, language),
      link: linkOf(alert),
      tone: toneOf(alert),
      icon: iconOf(alert),
      brief: briefOf(alert, request.locale),
    }))
    return reply.page('payment/alerts/alerts', {
      alerts,
      hasMail: user.email_verified && user.email !== null,
      others: OTHERS,
      before,
      newest: PAGE,
      older: olderUrl(PAGE, {}, next),
    })
  })

  app.post(`${PAGE}/read`, async (request, reply) => {
    const { up_to } = ReadForm.parse(request.body)
    const { user } = sessionOf(request)
    const mark = { upTo: up_to ?? 0n, now: deps.clock(), ip: request.ip }
    const count = await markRead(deps.db, user.id, mark)
    return reply.done(PAGE, { text: request.locale.t.alerts.read(Number(count)) })
  })
}

/** Returns what the title of an alert leaves open, where that is less than the text of its mail. */
function briefOf({ kind, facts }: Alert, { t, language }: Locale): string | undefined {
  const { ip, purpose, count } = writtenFacts(facts, language) as {
    ip?: string
    purpose?: string
    count?: string
  }
  if (kind === 'new_browser') return ip && t.alerts.fromAddress(ip)
  if (kind === 'mandate_charged') return purpose
  return kind === 'mandate_digest' && count && purpose ? t.alerts.chargesFor(count, purpose) : undefined
}

type Alert = Omit<Awaited<ReturnType<typeof readAlerts>>[number], 'facts'> & { facts: Record<string, string> }

/**
 * Makes one of the alerts under a heading that say the same: of sign-ins in new browsers, whose answer ends them all, and of the charges
 * of a mandate, whose points it adds. The newest has the place.
 */
function foldAlike(rows: Alert[], locale: Locale, now: Date): (Alert & { count: number })[] {
  const keyOf = ({ kind, facts, raised_at, read_at, id }: Alert) => {
    if (kind === 'new_browser') return [facts, locale.date(raised_at), read_at === null]
    return kind === 'mandate_charged'
      ? [facts.mandate, locale.dayOrMonth(raised_at, now), read_at === null]
      : [String(id)]
  }
  const folded = new Map<string, Alert & { count: number }>()
  for (const row of rows) {
    const key = JSON.stringify(keyOf(row))
    const newer = folded.get(key)
    folded.set(key, newer === undefined ? { ...row, count: 1 } : withOne(newer, row))
  }
  return [...folded.values()]
}

/** Adds an older alert. More than one charge has no receipt, so their link leads to the mandate. */
function withOne(newer: Alert & { count: number }, { facts }: Alert): Alert & { count: number } {
  const { transaction: _, ...shared } = newer.facts
  const points = String(BigInt(shared.points ?? 0) + BigInt(facts.points ?? 0))
  const isCharge = newer.kind === 'mandate_charged'
  return { ...newer, facts: isCharge ? { ...shared, points } : newer.facts, count: newer.count + 1 }
}
