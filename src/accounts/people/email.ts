/**
 * The outbox of mails. An act writes its mail in its own transaction, and a process claims and sends it. Each mail is sent
 * at least once; it is sent again when a process dies before it records the success. spec/accounts 4.3.
 */
import { sql } from 'kysely'
import type { createTransport } from 'nodemailer'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { type Config, isLoopback } from '../../platform/config.ts'
import { inWords, type Language, type Text, textKey } from '../../web/languages.ts'
import { siteWords } from '../../web/site-words.ts'
import { letter } from './email.texts.ts'

/** Waits after failed attempts, in order. After the last one the mail is given up. */
const RETRY_MINUTES = [1, 5, 30, 120]
/** After this time another process takes a claimed mail. Longer than all of TIMEOUTS. */
const LEASE_MS = 120_000
const BATCH_MAX = 20
const ERROR_LENGTH_MAX = 500
const TIMEOUTS = {
  connectionTimeout: 5_000,
  greetingTimeout: 5_000,
  socketTimeout: 10_000,
  dnsTimeout: 5_000,
}

/** Returns the encryption context of a mail's text. */
export const mailContext = (recipient: string) => `mail to ${recipient}`

/** Whether the site sends mail. Without mail, pages that need it are not offered. */
export function hasMail(config: Config): boolean {
  return config.SMTP_URL !== undefined
}

export type Mail = {
  user_id: bigint
  recipient: string
  username: string
  language: Language
  kind: string
  /** The words of the mail. `link` is the path that it asks the member to open. */
  content: { subject: Text; text: Text }
  link?: string
  /** When the link expires. */
  useless_at?: Date
}

/** Puts a mail into the outbox. Without SMTP it does nothing. */
export async function enqueueMail(
  tx: Tx,
  deps: Pick<Core, 'config' | 'secrets' | 'clock' | 'settings'>,
  mail: Mail,
): Promise<void> {
  if (!hasMail(deps.config)) return
  const { subject, text } = mail.content
  const key = textKey(mail.language)
  const link = mail.link === undefined ? [] : [deps.config.PUBLIC_URL + mail.link]
  const [greeting, footer] = [letter.greeting(mail.username), letter.footer(deps.config.PUBLIC_URL)]
  const words = siteWords(await deps.settings.read(), mail.language)
  const paragraphs = [greeting[key], text[key], ...link, footer[key]]
  await tx
    .insertInto('outgoing_mails')
    .values({
      user_id: mail.user_id,
      recipient: mail.recipient,
      kind: mail.kind,
      subject: inWords(subject[key], key, words),
      text_encrypted: deps.secrets.encrypt(
        mailContext(mail.recipient),
        inWords(`${paragraphs.join('\n\n')}\n`, key, words),
      ),
      useless_at: mail.useless_at,
      next_attempt_at: deps.clock(),
    })
    .execute()
}

/** Sends a batch of due mails. Any number of processes may run it at once. */
export async function sendDueMail(deps: Core): Promise<void> {
  if (!hasMail(deps.config)) return
  const mails = await claimDue(deps)
  if (mails.length === 0) return
  const transport = await makeTransport(deps.config)
  try {
    await Promise.all(mails.map((mail) => sendOne(deps, transport, mail)))
  } finally {
    transport.close()
  }
}

/** Opens the mail transport. It loads the library only here, because the library takes several megabytes. */
export async function makeTransport(config: Config): Promise<Transport> {
  const nodemailer = await import('nodemailer')
  return nodemailer.createTransport(transportOptions(config))
}

type Transport = ReturnType<typeof createTransport>
type ClaimedMail = Awaited<ReturnType<typeof claimDue>>[number]

/** Claims due mails for this process until the lease ends, and counts the attempt before it is made. */
async function claimDue({ db, clock }: Core) {
  const now = clock()
  return db
    .updateTable('outgoing_mails')
    .set({ attempts: sql`attempts + 1`, next_attempt_at: new Date(now.getTime() + LEASE_MS) })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('outgoing_mails')
        .where('next_attempt_at', '<=', now)
        .orderBy('next_attempt_at')
        .limit(BATCH_MAX)
        .forUpdate()
        .skipLocked()
        .select('id'),
    )
    .returning(['id', 'user_id', 'recipient', 'kind', 'subject', 'text_encrypted', 'useless_at', 'attempts'])
    .execute()
}

async function sendOne(deps: Core, transport: Transport, mail: ClaimedMail): Promise<void> {
  if (mail.useless_at !== null && mail.useless_at <= (await deps.databaseTime()))
    return giveUp(deps, mail, 'not sent: its link has expired')
  // The process that made the last attempt died before it recorded the result.
  if (mail.attempts > RETRY_MINUTES.length + 1) return giveUp(deps, mail, 'the last attempt was interrupted')
  try {
    await transport.sendMail({
      from: deps.config.SMTP_FROM!,
      to: { name: '', address: mail.recipient },
      subject: mail.subject,
      text: deps.secrets.decrypt(mailContext(mail.recipient), mail.text_encrypted!),
      date: deps.clock(),
      // The same at every attempt, so that a mailbox can recognise a repeated mail.
      messageId: `<${deps.secrets.tag('mail', String(mail.id))}@${new URL(deps.config.PUBLIC_URL).hostname}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
  } catch (error) {
    return postpone(deps, mail, (error as Error).message.slice(0, ERROR_LENGTH_MAX))
  }
  await deps.db
    .updateTable('outgoing_mails')
    .set({ sent_at: deps.clock(), next_attempt_at: null, text_encrypted: null })
    .where('id', '=', mail.id)
    .where('next_attempt_at', 'is not', null)
    .execute()
}

async function postpone(deps: Core, mail: ClaimedMail, last_error: string): Promise<void> {
  const minutes = RETRY_MINUTES[mail.attempts - 1]
  if (minutes === undefined) return giveUp(deps, mail, last_error)
  await deps.db
    .updateTable('outgoing_mails')
    .set({ next_attempt_at: new Date(deps.clock().getTime() + minutes * 60_000), last_error })
    .where('id', '=', mail.id)
    .where('attempts', '=', mail.attempts)
    .where('next_attempt_at', 'is not', null)
    .execute()
}

async function giveUp(
  deps: Core,
  { id, user_id, kind, attempts }: ClaimedMail,
  last_error: string,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const given = await tx
      .updateTable('outgoing_mails')
      .set({ given_up_at: deps.clock(), next_attempt_at: null, text_encrypted: null, last_error })
      .where('id', '=', id)
      .where('attempts', '=', attempts)
      .where('next_attempt_at', 'is not', null)
      .executeTakeFirst()
    if (given.numUpdatedRows !== 1n) return
    const detail = { kind, last_error }
    const subject = user_id === null ? `mail:${id}` : `user:${user_id}`
    await recordAudit(tx, { actor_id: null, action: 'mail.given_up', subject, detail, ip: null })
  })
}

/**
 * Reads host, port and sign-in from SMTP_URL, and no options, because some name files. A password is sent only under TLS,
 * unless the server is on this machine.
 */
function transportOptions({ SMTP_URL, PUBLIC_URL }: Config) {
  const url = new URL(SMTP_URL!)
  const secure = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const auth = {
    user: decodeURIComponent(url.username),
    pass: decodeURIComponent(url.password),
  }
  return {
    host,
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    ...(auth.user === '' ? {} : { auth }),
    requireTLS: auth.user !== '' && !isLoopback(`http://${url.host}`),
    name: new URL(PUBLIC_URL).hostname,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...TIMEOUTS,
  }
}
