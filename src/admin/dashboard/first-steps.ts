/** The first steps of a new site. A step is done by what the service has seen, and not by what is configured alone. */
import { sql } from 'kysely'
import { findForumUser } from '../../accounts/forum/api.ts'
import type { ForumUser } from '../../accounts/forum/single-read.ts'
import { enqueueMail, hasMail, sendDueMail } from '../../accounts/people/email.ts'
import type { User } from '../../accounts/people/users.ts'
import { findSecondFactor } from '../../accounts/security/second-factor.ts'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Language } from '../../web/languages.ts'
import { firstSteps as texts } from './first-steps.texts.ts'

/** Mails that are looked at, the newest first. */
const MAILS_LOOKED_AT = 100
/** The act that shows that the connection to the forum works. */
const FOUND = 'first_steps.member_found'

/** Steps without which members cannot come, and those that are worth doing. */
export const NEEDED = ['name', 'mail', 'members', 'factor'] as const
export const WORTH = ['administrators', 'fees', 'application', 'backup'] as const

export type StepName = (typeof NEEDED)[number] | (typeof WORTH)[number]

type Facts = {
  mail_sent_at: Date | null
  /** What the mail server said of the newest mail, if it did not take it. */
  mail_error: string | null
  /** A member of the forum who has signed in, or was found there. */
  forum_member: string | null
  administrators: number
  has_fees: boolean
  application: string | null
  backup_at: Date | null
  has_password: boolean
}

export type FirstSteps = Facts & {
  /** The names of the site, in each language that has one. */
  names: string[]
  /** The mail server and the forum, as host and port. Undefined where none is configured. */
  mailHost: string | undefined
  forumHost: string | undefined
  hasForumApi: boolean
  isRegistrationOpen: boolean
  isDone: Record<StepName, boolean>
}

/** Whether the first steps are the administrators' page. */
export function isSetUp({ settings }: Pick<Core, 'settings'>): boolean {
  return settings.latest().set_up_finished === 'on'
}

/** Returns the step to do next: what does not work, or the first that is open. Undefined when all are done. */
export function nextStep({ isDone, mail_error }: FirstSteps): StepName | undefined {
  if (!isDone.mail && mail_error !== null) return 'mail'
  return [...NEEDED, ...WORTH].find((name) => !isDone[name])
}

/**
 * Reads what is known of each step.
 * @param admin_id the administrator whose own second factor counts, unless every administrator needs one.
 */
export async function readFirstSteps(deps: Core, admin_id: bigint): Promise<FirstSteps> {
  const { db, config, settings } = deps
  const [facts, factor, values] = await Promise.all([
    readFacts(deps, admin_id),
    findSecondFactor(db, admin_id),
    settings.read(),
  ])
  const names = [values.site_name_zh_cn, values.site_name_en].filter((name) => name !== '')
  const forumHost = hostOf(config.DISCOURSE_URL)
  const isRegistrationOpen = values.registration === 'open'
  return {
    ...facts,
    names,
    mailHost: hostOf(config.SMTP_URL),
    forumHost,
    hasForumApi: forumHost !== undefined && config.DISCOURSE_API_KEY !== undefined,
    isRegistrationOpen,
    isDone: {
      name: names.length > 0,
      mail: hasMail(config) && facts.mail_sent_at !== null && facts.mail_error === null,
      members: forumHost === undefined ? isRegistrationOpen : facts.forum_member !== null,
      // An administrator of the forum has a second factor there.
      factor: values.admins_need_second_factor === 'on' || factor !== undefined || !facts.has_password,
      administrators: facts.administrators > 1,
      fees: facts.has_fees,
      application: facts.application !== null,
      backup: facts.backup_at !== null,
    },
  }
}

const hostOf = (url: string | undefined) => (url === undefined ? undefined : new URL(url).host)

async function readFacts({ db }: Core, admin_id: bigint): Promise<Facts> {
  const { rows } = await sql<Facts>`
    with settled as materialized (
      select id, sent_at, last_error from outgoing_mails where coalesce(sent_at, given_up_at) is not null
      order by coalesce(sent_at, given_up_at) desc limit ${MAILS_LOOKED_AT}
    ), waiting as materialized (
      select id, last_error from outgoing_mails where next_attempt_at is not null
      order by next_attempt_at limit ${MAILS_LOOKED_AT}
    )
    select
      (select max(sent_at) from settled) as mail_sent_at,
      (select last_error from (
        select id, last_error from waiting where last_error is not null
        union all select id, last_error from settled where sent_at is null
      ) as failed
      where id > coalesce((select max(id) from settled where sent_at is not null), 0)
      order by id desc limit 1) as mail_error,
      coalesce(
        (select username from users where forum_id is not null order by forum_id desc limit 1),
        (select detail->>'username' from audit_log where action = ${FOUND} order by id desc limit 1)
      ) as forum_member,
      (select count(*) from (select from users where is_admin limit 2) as few)::integer as administrators,
      exists (
        select from site_settings where name = 'points_payment_fee_rate' or name like 'points\\_transfer\\_fee\\_rate\\_tl_'
      ) or exists (select from books_days where paid > 0) as has_fees,
      coalesce(
        (select name from oauth_apps where owner_id is not null order by id limit 1),
        (select name from payment_apps where book = 'live' order by id limit 1)
      ) as application,
      (select finished_at from last_backup) as backup_at,
      (select password_hash is not null from users where id = ${admin_id}) as has_password`.execute(db)
  return rows[0]!
}

type TestMail = { user: Pick<User, 'id' | 'username'>; email: string; language: Language }

/** Sends a mail to any address at once. Returns whether the mail server took it; `later` when another process is sending it. */
export async function sendTestMail(
  deps: Core,
  { user, email, language }: TestMail,
): Promise<'sent' | 'refused' | 'later'> {
  const mail = { user_id: user.id, recipient: email, kind: 'test' } as const
  await deps.db.transaction().execute((tx) =>
    enqueueMail(tx, deps, {
      ...mail,
      username: user.username,
      language,
      content: { ...texts.testMail, at: deps.clock() },
      link: '/admin',
    }),
  )
  await sendDueMail(deps)
  const newest = await deps.db
    .selectFrom('outgoing_mails')
    .where('user_id', '=', user.id)
    .where('kind', '=', 'test')
    .orderBy('id', 'desc')
    .limit(1)
    .select(['sent_at', 'last_error'])
    .executeTakeFirst()
  if (newest?.sent_at) return 'sent'
  return newest?.last_error ? 'refused' : 'later'
}

/** Reads a member at the forum by name. A member that is found proves the connection, so it is recorded. */
export async function testForum(
  deps: Core,
  { username, actor_id, ip }: { username: string; actor_id: bigint; ip: string },
): Promise<{ user: ForumUser } | { failure: string } | 'not_found'> {
  const found = await findForumUser(deps, username)
  if (found === 'not_found' || 'failure' in found) return found
  const { trust_level } = found.user
  const detail = { username: found.user.username ?? username, trust_level }
  await deps.db
    .transaction()
    .execute((tx) => recordAudit(tx, { actor_id, action: FOUND, subject: 'forum', detail, ip }))
  return found
}
