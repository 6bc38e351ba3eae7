/**
 * Records changes of an account's security in the audit log, and mails the member. Both happen in the transaction of the
 * act itself.
 */
import { sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import type { Language, Text } from '../../web/languages.ts'
import { letter } from '../people/email.texts.ts'
import { enqueueMail, hasMail, type MailContent } from '../people/email.ts'
import { deviceText } from '../session/device.ts'
import { issueLink } from './account-links.ts'
import { mails } from './mails.texts.ts'

/** The path of the page that “This wasn't me” opens, and how long its link works. */
export const NOT_ME = '/account/not-me'
export const NOT_ME_DAYS = 7

const DAY_MS = 86_400_000

/** Events that are only recorded. */
const UNMAILED = ['email.requested', 'password.recovery_sent', 'locked'] as const

type Unmailed = (typeof UNMAILED)[number]

const isUnmailed = (event: SecurityEvent): event is Unmailed => UNMAILED.some((each) => each === event)

/** Events that are mailed to the member. */
type Notice = keyof typeof mails.notices

/** Events that a stranger may have caused, so their mail says what to do then. */
const DENIABLE = [
  'passkey_added',
  'passkey_removed',
  'passkey_counter',
  'password.changed',
  'password.recovered',
  'email.changed',
  'second_factor.on',
  'second_factor.off',
  'recovery_codes.remade',
  'recovery_code.used',
  'sign_in.link_used',
  'sign_in.new_browser',
] as const satisfies Notice[]

type Deniable = (typeof DENIABLE)[number]

/** Whether the mail about an event has “This wasn't me”. */
export const isDeniable = (event: string | null): event is Deniable => DENIABLE.some((each) => each === event)

/** Where the button of a mail leads, with its label and the words around it. */
type Way = { content: Partial<MailContent>; link: string }

/** The ways of notices that no stranger can have caused. */
const WAYS: Partial<Record<Exclude<Notice, Deniable>, Way>> = {
  app_registered: { content: { button: mails.opens.applications }, link: '/apps' },
  'second_factor.reset': { content: { button: mails.opens.secondFactor }, link: '/account/second-factor' },
  reinstated: { content: { button: mails.opens.signIn }, link: '/sign-in' },
  signed_out: { content: { button: mails.opens.signIn }, link: '/sign-in' },
}

export type SecurityEvent = Notice | Unmailed

export type SecurityRecord = {
  event: SecurityEvent
  /** The member of the account. */
  user_id: bigint
  /** The member or an administrator; null for the operator, the service and unknown people. */
  actor_id: bigint | null
  ip: string | null
  /** The User-Agent header of the browser that did it, for the mail. */
  agent?: string
  /** The language of the page where it was done, for the mail to a member who has no language yet. */
  language?: Language
  detail?: Record<string, unknown>
  /** The recipient of the mail, by default the confirmed address of the account. Null sends none. */
  notify?: string | null
}

/** Records a security event, and puts the mail about it into the outbox. */
export async function recordSecurityEvent(tx: Tx, deps: Core, record: SecurityRecord): Promise<void> {
  const { event, user_id, actor_id, ip, detail = {} } = record
  await recordAudit(tx, { actor_id, action: `account.${event}`, subject: `user:${user_id}`, detail, ip })
  if (!isUnmailed(event)) await sendNotice(tx, deps, record, event)
}

/** Says in a mail which browser it was, and at which address. */
export function originFacts({ agent, ip }: { agent: string; ip: string | null }): [Text, Text][] {
  const browser: [Text, Text] = [letter.browser, deviceText(agent)]
  return ip === null ? [browser] : [browser, [letter.address, { en: ip, zh: ip }]]
}

async function sendNotice(tx: Tx, deps: Core, record: SecurityRecord, event: Notice): Promise<void> {
  if (!hasMail(deps.config)) return
  const { user_id, agent, ip, language } = record
  const user = await tx
    .selectFrom('users')
    .where('id', '=', user_id)
    .select(['username', 'email', 'email_verified', 'language'])
    .select(sql<boolean>`password_hash is not null`.as('has_password'))
    .executeTakeFirstOrThrow()
  const confirmed = user.email_verified ? user.email : null
  const recipient = record.notify === undefined ? confirmed : record.notify
  if (recipient === null) return
  const way = isDeniable(event)
    ? await notMeWay(tx, deps, { user_id, email: recipient, has_password: user.has_password, event })
    : WAYS[event]
  const { subject, text } = mails.notices[event]
  await enqueueMail(tx, deps, {
    user_id,
    recipient,
    username: user.username,
    language: user.language ?? language ?? 'en',
    kind: event,
    content: {
      subject,
      text,
      at: deps.clock(),
      ...(agent !== undefined && { facts: originFacts({ agent, ip }) }),
      ...way?.content,
    },
    ...(way !== undefined && { link: way.link }),
  })
}

/** Issues the link of “This wasn't me”, and returns it with its words. */
async function notMeWay(
  tx: Tx,
  { clock }: Core,
  {
    user_id,
    email,
    has_password,
    event,
  }: { user_id: bigint; email: string; has_password: boolean; event: Deniable },
): Promise<Way> {
  const expires_at = new Date(clock().getTime() + NOT_ME_DAYS * DAY_MS)
  const token = await issueLink(tx, { user_id, purpose: 'not_me', email, expires_at, event })
  const { wasYou, wasNotYou, notMe, notMeNote } = mails
  const what = has_password ? wasNotYou.answer : wasNotYou.answerWithoutPassword
  const content = {
    answers: [
      [wasYou.question, wasYou.answer],
      [wasNotYou.question, what],
    ] satisfies [Text, Text][],
    button: notMe,
    isAlarm: true,
    note: notMeNote(NOT_ME_DAYS),
  }
  return { content, link: `${NOT_ME}?token=${token}` }
}
