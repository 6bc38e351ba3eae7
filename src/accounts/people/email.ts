/**
 * The outbox of mails. An act writes its mail in its own transaction, and a process claims and sends it. Each mail is sent
 * at least once; it is sent again when a process dies before it records the success. spec/accounts 4.3.
 */
import { sql } from 'kysely'
import type { createTransport, SendMailOptions } from 'nodemailer'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { findLogo, uploadedLogo } from '../../core/site-logo.ts'
import { smallPicture } from '../../core/small-picture.ts'
import type { Tx } from '../../database/connection.ts'
import { type Config, isLoopback } from '../../platform/config.ts'
import { ownLogo } from '../../web/assets.ts'
import { dateTag, inWords, type Language, makeTimes, type Text, textKey } from '../../web/languages.ts'
import { zoneName } from '../../web/site.ts'
import { siteWords } from '../../web/site-words.ts'
import { joinSentences } from '../../web/spacing.ts'
import { letter as texts } from './email.texts.ts'
import { type Letter, LOGO_CID, letterHtml, letterText } from './letter.ts'

/** Waits after failed attempts, in order. After the last one the mail is given up. */
const RETRY_MINUTES = [1, 5, 30, 120]
/** After this time another process takes a claimed mail. Longer than all of TIMEOUTS. */
const LEASE_MS = 120_000
const BATCH_MAX = 20
const ERROR_LENGTH_MAX = 500
/** Three pixels for each of the logo's 28, for sharp screens. */
const LOGO_SIDE = 84
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

/** The words of a mail. */
export type MailContent = {
  subject: Text
  text: Text
  /** When it happened, for a mail that asks whether it was the reader. */
  at?: Date
  facts?: [term: Text, value: Text][]
  /** What the reader can do, after the button that says no. */
  answers?: [question: Text, answer: Text][]
  /** The label of the button, which opens the link. */
  button?: Text
  /** Whether the button is for a reader who did not do this. */
  isAlarm?: boolean
  /** About the link. */
  note?: Text
  /** The path where the reader chooses to get no more mails of this kind. */
  choice?: { label: Text; path: string }
}

export type Mail = {
  user_id: bigint
  recipient: string
  username: string
  language: Language
  kind: string
  content: MailContent
  /** The path that the button opens. */
  link?: string
  /** When the link expires. */
  useless_at?: Date
}

type MailDeps = Pick<Core, 'config' | 'secrets' | 'clock' | 'settings'>

/** Puts a mail into the outbox, in the words of the site as they are now. Without SMTP it does nothing. */
export async function enqueueMail(tx: Tx, deps: MailDeps, mail: Mail): Promise<void> {
  if (!hasMail(deps.config)) return
  const letter = await writeLetter(deps, mail)
  await tx
    .insertInto('outgoing_mails')
    .values({
      user_id: mail.user_id,
      recipient: mail.recipient,
      kind: mail.kind,
      subject: texts.subject(letter.site, letter.title)[textKey(mail.language)],
      text_encrypted: deps.secrets.encrypt(mailContext(mail.recipient), JSON.stringify(letter)),
      useless_at: mail.useless_at,
      next_attempt_at: deps.clock(),
    })
    .execute()
}

async function writeLetter({ config, settings }: MailDeps, mail: Mail): Promise<Letter> {
  const { language, content, link, useless_at } = mail
  const values = await settings.read()
  const words = siteWords(values, language)
  const key = textKey(language)
  const say = (text: Text) => inWords(text[key], key, words)
  const pair = ([one, other]: [Text, Text]): [string, string] => [say(one), say(other)]
  const { at, facts = [], answers = [], button, isAlarm = false, note, choice } = content
  const { plain } = makeTimes(dateTag(language), values.time_zone)
  const timeOf = (moment: Date) => texts.inZone(plain(moment), zoneName(values.time_zone, language))
  // A mail is read at any time, so it names the moment, and only here.
  const expires = useless_at && texts.expires(timeOf(useless_at)[key])
  const notes = [expires, note].filter((text) => text !== undefined)
  return {
    language,
    site: words.site,
    address: config.PUBLIC_URL,
    title: say(content.subject),
    greeting: say(texts.greeting(mail.username)),
    text: say(content.text),
    facts: [...(at === undefined ? [] : [[texts.when, timeOf(at)] as [Text, Text]]), ...facts].map(pair),
    answers: answers.map(pair),
    button:
      button === undefined || link === undefined
        ? undefined
        : { label: say(button), url: config.PUBLIC_URL + link, isAlarm, hint: say(texts.copyHint) },
    note: notes.length === 0 ? undefined : joinSentences(notes.map(say)),
    choice: choice && { label: say(choice.label), url: config.PUBLIC_URL + choice.path },
    footer: [say(texts.sentTo(mail.recipient)), say(texts.neverAsks)],
  }
}

/** Sends a batch of due mails. Any number of processes may run it at once. */
export async function sendDueMail(deps: Core): Promise<void> {
  if (!hasMail(deps.config)) return
  const mails = await claimDue(deps)
  if (mails.length === 0) return
  const brand = await readBrand(deps)
  const transport = await makeTransport(deps.config)
  try {
    await Promise.all(mails.map((mail) => sendOne(deps, { transport, brand }, mail)))
  } finally {
    transport.close()
  }
}

/** What mails show of the site beside its words. */
type Brand = { accent: string; logo: Buffer | undefined }

/**
 * Reads the brand. A mail carries its logo: mail programs do not fetch a picture before the reader agrees, and the request would
 * tell when the mail was read. So a logo at another host is left out.
 */
async function readBrand({ db, settings }: Core): Promise<Brand> {
  const { site_accent: accent, site_logo } = await settings.read()
  if (site_logo === '') return { accent, logo: ownLogo() }
  const name = uploadedLogo(site_logo)
  const picture = name === undefined ? undefined : await findLogo(db, name)
  return { accent, logo: picture && smallPicture(picture, LOGO_SIDE) }
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

type Sender = { transport: Transport; brand: Brand }

async function sendOne(deps: Core, { transport, brand }: Sender, mail: ClaimedMail): Promise<void> {
  if (mail.useless_at !== null && mail.useless_at <= (await deps.databaseTime()))
    return giveUp(deps, mail, 'not sent: its link has expired')
  // The process that made the last attempt died before it recorded the result.
  if (mail.attempts > RETRY_MINUTES.length + 1) return giveUp(deps, mail, 'the last attempt was interrupted')
  try {
    await transport.sendMail(messageOf(deps, brand, mail))
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

/** Makes the message of a mail: plain text, HTML with the logo that it carries, and the site's name as the sender. */
function messageOf(
  { config, clock, secrets }: Core,
  { accent, logo }: Brand,
  mail: ClaimedMail,
): SendMailOptions {
  const text = secrets.decrypt(mailContext(mail.recipient), mail.text_encrypted!)
  const letter = JSON.parse(text) as Letter
  const picture = { filename: 'logo.png', cid: LOGO_CID, contentType: 'image/png' }
  return {
    from: { name: letter.site, address: senderAddress(config) },
    to: { name: '', address: mail.recipient },
    subject: mail.subject,
    text: letterText(letter),
    html: letterHtml(letter, { accent, hasLogo: logo !== undefined }),
    attachments: logo === undefined ? [] : [{ ...picture, content: logo, contentDisposition: 'inline' }],
    date: clock(),
    // The same at every attempt, so that a mailbox can recognise a repeated mail.
    messageId: `<${secrets.tag('mail', String(mail.id))}@${new URL(config.PUBLIC_URL).hostname}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': letter.language },
  }
}

/** The address of SMTP_FROM. Its name gives way to the site's, which may differ by language. */
const senderAddress = ({ SMTP_FROM }: Config) => /<(.+)>$/.exec(SMTP_FROM!)?.[1] ?? SMTP_FROM!

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
