/** The first steps, which /admin shows until the set-up is finished, and the tests of mail and forum. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { actorOf, sessionOf } from '../../accounts/session/session.ts'
import { registerAttempt } from '../../accounts/session/throttle.ts'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import type { Translated } from '../../web/languages.ts'
import { percentOf } from '../wording/percent.ts'
import type { firstSteps } from './first-steps.texts.ts'
import {
  type FirstSteps,
  isSetUp,
  NEEDED,
  nextStep,
  readFirstSteps,
  type StepName,
  sendTestMail,
  testForum,
  WORTH,
} from './first-steps.ts'

const ACTS = '/admin/first-steps'
/** Test mails of one administrator in the throttle's window, because each goes to any address. */
const TEST_MAILS_MAX = 5

/** What the environment needs for mail. */
const MAIL_LINES = 'SMTP_URL=smtps://USER:PASSWORD@mail.example.org:465\nSMTP_FROM=no-reply@example.org'

type Texts = Translated<typeof firstSteps>

/** A step as the page shows it. */
type ShownStep = {
  name: StepName
  label: string
  state: 'works' | 'done' | 'next' | 'todo' | 'fault'
  text: string
  /** When this was seen. */
  at: Date | undefined
  /** Where the step is done, if it is not. */
  act: { href: string; label: string } | undefined
  /** Another way to do it. */
  or: { href: string; label: string } | undefined
  /** What to write on the server, if the step is not done. */
  lines: string | undefined
  guide: string
}

declare module '../../web/views.ts' {
  interface PageData {
    'admin/dashboard/first-steps': {
      needed: ShownStep[]
      worth: ShownStep[]
      /** The host and the answer of a mail server that does not take mail. */
      fault: { host: string; error: string } | undefined
      hasMail: boolean
      email: string
      hasForumApi: boolean
      now: Date
    }
  }
}

const MailForm = z.object({ email: z.string().trim().pipe(z.email().max(254)) })
const MemberForm = z.object({ username: z.string().trim().min(1).max(60) })

/** Shows the first steps. */
export async function showFirstSteps(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Core,
): Promise<FastifyReply> {
  const { user } = sessionOf(request)
  const found = await readFirstSteps(deps, user.id)
  const { points_payment_fee_rate } = await deps.settings.read()
  const shown = (name: StepName) =>
    stepOf(name, found, request.locale.t.firstSteps, percentOf(points_payment_fee_rate))
  const { mailHost, mail_error, hasForumApi } = found
  return reply.page('admin/dashboard/first-steps', {
    needed: NEEDED.map(shown),
    worth: WORTH.map(shown),
    fault: mailHost === undefined || mail_error === null ? undefined : { host: mailHost, error: mail_error },
    hasMail: mailHost !== undefined,
    email: user.email ?? '',
    hasForumApi,
    now: deps.clock(),
  })
}

/** Returns the link from another page to the next of the first steps, until the set-up is finished. */
export async function linkToNextStep(
  request: FastifyRequest,
  deps: Core,
): Promise<{ href: string; label: string } | undefined> {
  if (isSetUp(deps)) return undefined
  const { firstSteps: m } = request.locale.t
  const next = nextStep(await readFirstSteps(deps, sessionOf(request).user.id))
  return { href: '/admin', label: next === undefined ? m.nav : m.next(m.steps[next].label) }
}

/** Registers the acts. The caller's scope must require an administrator. */
export function firstStepActs(app: FastifyInstance, deps: Core): void {
  const options = { config: { page: () => '/admin' }, preHandler: requireFreshSignIn(deps) }

  app.post(`${ACTS}/mail`, options, async (request, reply) => {
    const { user } = sessionOf(request)
    const { t, language } = request.locale
    const { email } = readForm(request, MailForm, { email: t.firstSteps.noAddress })
    await registerAttempt(deps, {
      account: `test mail of ${user.id}`,
      address: `test mail from ${networkOf(request.ip)}`,
      accountMax: TEST_MAILS_MAX,
    })
    const outcome = await sendTestMail(deps, { user, email, language })
    const host = new URL(deps.config.SMTP_URL ?? deps.config.PUBLIC_URL).host
    const report = {
      sent: { text: t.firstSteps.sent(email, host) },
      later: { text: t.firstSteps.sendingLater },
      refused: { text: t.firstSteps.notSent, tone: 'warn' as const },
    }
    return reply.done('/admin', report[outcome])
  })

  app.post(`${ACTS}/forum`, options, async (request, reply) => {
    const { firstSteps: m } = request.locale.t
    const { username } = readForm(request, MemberForm, { username: m.noUsername })
    const host = new URL(deps.config.DISCOURSE_URL ?? deps.config.PUBLIC_URL).host
    const found = await testForum(deps, { username, ...actorOf(request) })
    if (found === 'not_found') throw new FormRefused({ username: m.notFound(host) })
    if ('failure' in found) throw new FormRefused({ username: m.noAnswer(host, found.failure) })
    const { user } = found
    const level = String(user.trust_level ?? '?')
    return reply.done('/admin', { text: m.found(user.username ?? username, host, level) })
  })

  app.post(`${ACTS}/finish`, options, async (request, reply) => {
    const change = { name: 'set_up_finished', value: 'on', ...actorOf(request), now: deps.clock() } as const
    await deps.settings.change(change)
    return reply.done('/admin', { text: request.locale.t.firstSteps.finish.done })
  })
}

function stepOf(name: StepName, found: FirstSteps, m: Texts, percent: string): ShownStep {
  const isDone = found.isDone[name]
  const { text, at, act, or, lines } = wordsOf(name, found, m, percent)
  return {
    name,
    label: m.steps[name].label,
    state: stateOf(name, found),
    text,
    at: isDone ? at : undefined,
    act: isDone ? undefined : act,
    or: isDone ? undefined : or,
    lines: isDone ? undefined : lines,
    guide: m.steps[name].guide,
  }
}

function stateOf(name: StepName, found: FirstSteps): ShownStep['state'] {
  const isTested = name === 'mail' || (name === 'members' && found.forumHost !== undefined)
  if (found.isDone[name]) return isTested ? 'works' : 'done'
  if (name === 'mail' && found.mail_error !== null) return 'fault'
  return name === nextStep(found) ? 'next' : 'todo'
}

type Words = Partial<Pick<ShownStep, 'at' | 'act' | 'or' | 'lines'>> & Pick<ShownStep, 'text'>

/** Returns the text of a step, and where it is done. */
function wordsOf(name: StepName, found: FirstSteps, { steps }: Texts, percent: string): Words {
  const isDone = found.isDone[name]
  switch (name) {
    case 'mail':
      return mailWords(found, steps.mail)
    case 'members':
      return memberWords(found, steps.members)
    case 'name':
      return {
        text: isDone ? found.names.join(' / ') : steps.name.todo,
        act: { href: '/admin/settings?area=brand', label: steps.name.act },
      }
    case 'factor':
      return {
        text: isDone ? steps.factor.seen : steps.factor.todo,
        act: { href: '/account/second-factor?return_to=%2Fadmin', label: steps.factor.act },
      }
    case 'administrators':
      return {
        text: isDone ? steps.administrators.seen : steps.administrators.todo,
        act: { href: '/admin/members', label: steps.administrators.act },
        lines: 'tessera user grant-admin USERNAME',
      }
    case 'fees':
      return {
        text: isDone ? steps.fees.seen(percent) : steps.fees.todo(percent),
        act: { href: '/admin/settings?area=payments', label: steps.fees.act },
      }
    case 'application':
      return {
        text: found.application === null ? steps.application.todo : steps.application.seen(found.application),
        act: { href: '/apps', label: steps.application.act },
      }
    case 'backup':
      return {
        text: isDone ? steps.backup.seen : steps.backup.todo,
        at: found.backup_at ?? undefined,
        act: { href: steps.backup.guide, label: steps.backup.act },
      }
  }
}

function mailWords({ mailHost, mail_error, mail_sent_at }: FirstSteps, m: Texts['steps']['mail']): Words {
  if (mailHost === undefined)
    return { text: m.off, act: { href: m.guide, label: m.setUp }, lines: MAIL_LINES }
  if (mail_error !== null) return { text: m.refused(mailHost) }
  return mail_sent_at === null ? { text: m.todo(mailHost) } : { text: m.seen(mailHost), at: mail_sent_at }
}

function memberWords(found: FirstSteps, m: Texts['steps']['members']): Words {
  const { forumHost, forum_member, hasForumApi, isRegistrationOpen } = found
  if (forumHost === undefined)
    return isRegistrationOpen
      ? { text: m.open }
      : {
          text: m.off,
          act: { href: '/admin/settings?area=signIn', label: m.act },
          or: { href: '/admin/forum', label: m.connect },
        }
  if (forum_member !== null) return { text: m.seen(forum_member, forumHost) }
  return hasForumApi
    ? { text: m.todo(forumHost) }
    : { text: m.todoByHand(forumHost), act: { href: '/sign-in/forum?return_to=%2Fadmin', label: m.signIn } }
}
