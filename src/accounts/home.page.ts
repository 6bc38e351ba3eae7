/** The front page, and the choice of language. */
import type { FastifyInstance } from 'fastify'
import type { Core } from '../core/core.ts'
import { balanceOf } from '../ledger/wallet.ts'
import { isLanguage, LANGUAGE_COOKIE } from '../web/languages.ts'
import { safeReturnTo } from '../web/return-to.ts'
import { chooseLanguage } from './people/users.ts'
import type { Session } from './session/session.ts'

declare module '../web/views.ts' {
  interface PageData {
    'accounts/home': { user: Session['user']; balance: bigint } | { user: undefined }
  }
  interface PartData {
    'accounts/tabs': object
  }
}

const YEAR_SECONDS = 31_536_000

/** GET / and POST /language. */
export function homePages(app: FastifyInstance, deps: Core): void {
  app.get('/', async (request, reply) => {
    const user = request.session?.user
    if (user === undefined) return reply.page('accounts/home', { user })
    return reply.page('accounts/home', { user, balance: await balanceOf(deps.db, user.id) })
  })

  app.post('/language', async (request, reply) => {
    const { language, return_to } = (request.body ?? {}) as Record<string, unknown>
    if (isLanguage(language)) {
      const secure = deps.config.production
      reply.setCookie(LANGUAGE_COOKIE, language, { path: '/', sameSite: 'lax', secure, maxAge: YEAR_SECONDS })
      if (request.session !== undefined) await chooseLanguage(deps.db, request.session.user.id, language)
    }
    return reply.redirect(safeReturnTo(return_to), 303)
  })
}
