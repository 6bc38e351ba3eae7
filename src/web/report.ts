/**
 * Reports what a member's act did on the page to which the act leads. A cookie carries the report. It is signed for the
 * session and for the page, so no other site and no other page can show it. spec/pages 3.1.
 */
import type { FastifyReply } from 'fastify'
import type { Core } from '../core/core.ts'

/** What an act did, in the language of the page. */
export type Report = { text: string; link?: { href: string; label: string }; tone?: 'good' | 'warn' }

type Reports = {
  /** Keeps a report for the page at a path. */
  write(reply: FastifyReply, path: string, report: Report): void
  /** Returns the report for the requested page, and forgets it. */
  read(reply: FastifyReply): Report | undefined
}

const COOKIE = 'report'
const PURPOSE = 'report'
const KEPT_SECONDS = 120
/** Browsers refuse a cookie above 4,096 bytes, and base64 adds a third. */
const TEXT_LENGTH_MAX = 600

export function openReports({ secrets, config }: Pick<Core, 'secrets' | 'config'>): Reports {
  const boundTo = ({ request }: FastifyReply, path: string, body: string) =>
    [request.session?.token ?? request.visitorToken ?? '', path, body].join('\n')
  return {
    write(reply, path, report) {
      const body = Buffer.from(
        JSON.stringify({ ...report, text: report.text.slice(0, TEXT_LENGTH_MAX) }),
      ).toString('base64url')
      const tag = secrets.tag(PURPOSE, boundTo(reply, pathnameOf(path), body))
      reply.setCookie(COOKIE, `${body}.${tag}`, {
        path: '/',
        httpOnly: true,
        sameSite: 'lax',
        secure: config.production,
        maxAge: KEPT_SECONDS,
      })
    },
    read(reply) {
      const cookie = reply.request.cookies?.[COOKIE]
      if (cookie === undefined || reply.request.method !== 'GET') return undefined
      const [body = '', tag = ''] = cookie.split('.')
      if (!secrets.isTag(PURPOSE, boundTo(reply, pathnameOf(reply.request.url), body), tag)) return undefined
      reply.clearCookie(COOKIE, { path: '/' })
      return JSON.parse(Buffer.from(body, 'base64url').toString())
    },
  }
}

const pathnameOf = (path: string) => path.split(/[?#]/)[0]!
