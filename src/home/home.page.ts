/** The front page of visitors, a member's home, and the choice of language. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { earningForum } from '../accounts/forum/points.ts'
import { describeMovement, type Movement } from '../accounts/movements.ts'
import { hasMail } from '../accounts/people/email.ts'
import { chooseLanguage } from '../accounts/people/users.ts'
import { describeDevice } from '../accounts/session/device.ts'
import { PROFILE } from '../accounts/session/reauthentication.ts'
import { relyingPartyId } from '../accounts/session/relying-party.ts'
import { browserScope, requireUser, type Session } from '../accounts/session/session.ts'
import { isRegistrationOpen } from '../accounts/sign-in/register.page.ts'
import type { Core } from '../core/core.ts'
import { type Moved, movedThisMonth, statementOf, type Wallet, walletOf } from '../ledger/wallet.ts'
import { safeBack } from '../web/back.ts'
import { keepForm, repeatedForm } from '../web/forms/kept-forms.ts'
import { isLanguage, LANGUAGE_COOKIE } from '../web/languages.ts'
import { type Cards, cardsOf, homeTiles, type PlacedApp } from './apps.ts'
import { type OtherSessions, ordersToPay, otherSessions, type WaitingOrder } from './home.ts'

declare module '../web/views.ts' {
  interface PageData {
    'home/welcome': { cards: Cards; hasForum: boolean; mayRegister: boolean }
    'home/home': {
      user: Session['user']
      wallet: Wallet
      moved: Moved | undefined
      lately: Movement[]
      orders: (WaitingOrder & { minutesLeft: number })[]
      used: PlacedApp[]
      offered: PlacedApp[]
      sessions: OtherSessions & { device: string }
      /** `forum` is the address of the forum where members earn points. */
      earning: { forum: string | undefined; mayBuild: boolean }
      /** What a new member's account lacks and can have. */
      lacks: { passkey: boolean; email: boolean }
    }
  }
  interface PartData {
    'home/apps': { apps: PlacedApp[] }
    'home/earn': { earning: PageData['home/home']['earning']; used: PlacedApp[] }
    'home/builders': object
  }
}

const YEAR_SECONDS = 31_536_000
const MINUTE_MS = 60_000
const LATELY_LINES = 5
const VISITORS_CARDS_MAX = 6

/** GET / and POST /language. */
export async function homePages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)

  app.get('/', async (request, reply) => {
    const { session } = request
    if (session === undefined) return showWelcome(reply, deps)
    // The front page is the only one of a member that visitors see, too.
    const elsewhere = await requireUser(request, reply)
    if (elsewhere !== undefined) return elsewhere
    const isSetUp = deps.settings.latest().set_up_finished === 'on'
    if (session.user.is_admin && !isSetUp) return reply.redirect('/admin', 303)
    return showHome(request, reply, session, deps)
  })

  const fieldsOf = ({ body }: FastifyRequest) => (body ?? {}) as Record<string, unknown>
  const config = { page: (request: FastifyRequest) => safeBack(fieldsOf(request).return_to) }
  app.post('/language', { config }, async (request, reply) => {
    const { language, return_to } = fieldsOf(request)
    if (isLanguage(language)) {
      const secure = deps.config.production
      reply.setCookie(LANGUAGE_COOKIE, language, { path: '/', sameSite: 'lax', secure, maxAge: YEAR_SECONDS })
      if (request.session !== undefined) await chooseLanguage(deps.db, request.session.user.id, language)
    }
    const repeated = repeatedForm(request)
    if (repeated !== undefined) await keepForm(reply, safeBack(return_to), repeated, deps)
    const { front } = request.locale.t
    // A switch in the frame shows itself. The form on the account page is one of several.
    if (return_to === PROFILE && isLanguage(language))
      return reply.done(PROFILE, {
        text: language === 'en' ? front.switchedToEnglish : front.switchedToChinese,
      })
    return reply.redirect(safeBack(return_to), 303)
  })
}

async function showWelcome(reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  return reply.page('home/welcome', {
    cards: { ...cardsOf((await homeTiles(deps, undefined)).offered, VISITORS_CARDS_MAX), isMore: false },
    hasForum: deps.config.DISCOURSE_URL !== undefined,
    mayRegister: await isRegistrationOpen(deps),
  })
}

async function showHome(
  request: FastifyRequest,
  reply: FastifyReply,
  session: Session,
  deps: Core,
): Promise<FastifyReply> {
  const { db } = deps
  const { user } = session
  const { t } = request.locale
  const now = deps.clock()
  const settings = await deps.settings.read()
  const [wallet, moved, lately, orders, apps, sessions] = await Promise.all([
    walletOf(db, user.id),
    movedThisMonth(db, user.id, { now, zone: settings.time_zone }),
    statementOf(db, user.id, {}, { lines: LATELY_LINES }),
    ordersToPay(deps, user.id),
    homeTiles(deps, user),
    otherSessions(deps, session),
  ])
  return reply.page('home/home', {
    user,
    wallet,
    moved,
    lately: lately.rows.map((line) => describeMovement(line, request.locale)),
    orders: orders.map((order) => ({ ...order, minutesLeft: minutesLeft(order, now) })),
    ...apps,
    sessions: { ...sessions, device: describeDevice(sessions.last?.agent ?? '', t) },
    earning: {
      forum: earningForum(deps.config, settings),
      mayBuild: user.trust_level >= settings.payment_apps_min_trust_level,
    },
    lacks: {
      passkey: user.has_password && !user.has_passkey && relyingPartyId(deps.config) !== undefined,
      email: hasMail(deps.config) && user.has_password && !user.email_verified,
    },
  })
}

function minutesLeft({ expires_at }: WaitingOrder, now: Date): number {
  return Math.ceil((expires_at.getTime() - now.getTime()) / MINUTE_MS)
}
