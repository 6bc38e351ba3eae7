/** What the product knows of its own health. One statement reads bounded rows by their indexes. */
import { sql } from 'kysely'
import { readLater } from '../../accounts/forum-sync/sweep.ts'
import type { Core } from '../../core/core.ts'
import { isNewer } from '../../platform/changelog.ts'
import { VERSION } from '../../platform/version.ts'

/** A backlog counts up to here. */
export const BACKLOG_MAX = 1_000
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
/** The worker takes due work every few seconds, so an older backlog needs a person. */
const LATE_MS = 15 * MINUTE_MS
/** A site is backed up every day at least. The hours allow for a dump that takes long. */
const BACKUP_LATE_MS = DAY_MS + 2 * 60 * MINUTE_MS
/** A restored backup proves its books weekly. The days allow for a check that fails once. */
const RESTORE_LATE_MS = 9 * DAY_MS
const MAILS_LOOKED_BACK = '7 days'

type Facts = {
  unsealed_since: Date | null
  /** Notifications that wait, those of them that failed before, and since when the oldest is due. */
  notifications: number
  failing: number
  notification_due_at: Date | null
  paused_hosts: number
  mails: number
  mail_due_at: Date | null
  mail_settled_at: Date | null
  mails_given_up: number
  forum_event_at: Date | null
  forum_paused_until: Date | null
  forum_due_at: Date | null
  signs_from: Date | null
  backup_at: Date | null
  backup_bytes: bigint | null
  backup_has_bucket: boolean | null
  backup_sent_at: Date | null
  backup_proven_at: Date | null
  newest_version: string | null
  bytes: bigint
}

export type Tone = 'good' | 'warn' | 'bad' | 'plain'

export type Health = {
  seals: { tone: Tone; since: Date | undefined }
  notifications: { tone: Tone; waiting: number; failing: number; paused_hosts: number }
  /** Undefined where the site sends no mail. */
  mail: { tone: Tone; waiting: number; given_up: number; settled_at: Date | null } | undefined
  /** Undefined where no forum is configured. */
  forum:
    | {
        tone: Tone
        /** False without a key of the forum's API: then members are updated only when they sign in. */
        hasApi: boolean
        event_at: Date | null
        paused_until: Date | undefined
        due_at: Date | null
      }
    | undefined
  /** When the next signing key takes over. */
  keys: { tone: Tone; until: Date } | undefined
  /** The last backup, if any was reported. */
  backup: {
    tone: Tone
    last: { finished_at: Date; bytes: bigint } | undefined
    has_bucket: boolean
    /** The time of the newest backup in the bucket. */
    sent_at: Date | null
    /** When a restored backup last proved its books. */
    proven_at: Date | null
  }
  /** The running version, and a newer one that the update notice told of. */
  version: { running: string; newer: string | undefined }
  bytes: bigint
}

/** Reads the state of everything that works in the background, and the size of the database. */
export async function readHealth({ db, config, clock, settings }: Core): Promise<Health> {
  const now = clock()
  const { signing_key_days } = await settings.read()
  const forum_later_ms = await readLater(db, now)
  const { rows } = await sql<Facts>`
    with waiting as materialized (
      -- In the order of an index, so that Postgres never looks for due ones among all others.
      select next_attempt_at, attempts from notifications where status = 'due'
      order by host, app_id, next_attempt_at limit ${BACKLOG_MAX}
    ), mail as materialized (
      select next_attempt_at from outgoing_mails where next_attempt_at is not null order by next_attempt_at limit ${BACKLOG_MAX}
    ), settled as materialized (
      select coalesce(sent_at, given_up_at) as at, given_up_at from outgoing_mails
      where coalesce(sent_at, given_up_at) >= ${now}::timestamptz - ${MAILS_LOOKED_BACK}::interval
      order by coalesce(sent_at, given_up_at) desc limit ${BACKLOG_MAX}
    )
    select
      (select created_at from journal where id > (select sealed_to from journal_sealing) order by id limit 1) as unsealed_since,
      (select count(*) from waiting)::integer as notifications,
      (select count(*) from waiting where attempts > 0)::integer as failing,
      (select min(next_attempt_at) from waiting where next_attempt_at <= ${now}) as notification_due_at,
      (select count(*) from (select from paused_hosts limit ${BACKLOG_MAX}) as paused)::integer as paused_hosts,
      (select count(*) from mail)::integer as mails,
      (select min(next_attempt_at) from mail) as mail_due_at,
      (select max(at) from settled) as mail_settled_at,
      (select count(*) from settled where given_up_at is not null)::integer as mails_given_up,
      (select received_at from forum_events order by received_at desc limit 1) as forum_event_at,
      (select paused_until from forum_api limit 1) as forum_paused_until,
      (select next_check_at from forum_members order by next_check_at limit 1) + ${forum_later_ms}::bigint * interval '1 millisecond' as forum_due_at,
      (select signs_from from signing_keys where alg = 'RS256' and published_until is null) as signs_from,
      (select finished_at from last_backup) as backup_at,
      (select bytes from last_backup) as backup_bytes,
      (select has_bucket from last_backup) as backup_has_bucket,
      (select sent_at from last_backup) as backup_sent_at,
      (select proven_at from last_backup) as backup_proven_at,
      (select newest from update_notice) as newest_version,
      pg_database_size(current_database()) as bytes`.execute(db)
  const facts = rows[0]!
  const hasApi = config.DISCOURSE_API_KEY !== undefined
  const isLate = (at: Date | null) => at !== null && now.getTime() - at.getTime() > LATE_MS
  const pausedUntil =
    facts.forum_paused_until !== null && facts.forum_paused_until > now ? facts.forum_paused_until : undefined
  return {
    seals: isLate(facts.unsealed_since)
      ? { tone: 'bad', since: facts.unsealed_since! }
      : { tone: 'good', since: undefined },
    notifications: {
      tone: isLate(facts.notification_due_at)
        ? 'bad'
        : facts.failing + facts.paused_hosts > 0
          ? 'warn'
          : 'good',
      waiting: facts.notifications,
      failing: facts.failing,
      paused_hosts: facts.paused_hosts,
    },
    mail:
      config.SMTP_URL === undefined
        ? undefined
        : {
            tone: isLate(facts.mail_due_at) ? 'bad' : facts.mails_given_up > 0 ? 'warn' : 'good',
            waiting: facts.mails,
            given_up: facts.mails_given_up,
            settled_at: facts.mail_settled_at,
          },
    forum:
      config.DISCOURSE_URL === undefined
        ? undefined
        : {
            tone: pausedUntil !== undefined ? 'bad' : !hasApi || isLate(facts.forum_due_at) ? 'warn' : 'good',
            hasApi,
            event_at: facts.forum_event_at,
            paused_until: pausedUntil,
            due_at: isLate(facts.forum_due_at) ? facts.forum_due_at : null,
          },
    keys:
      facts.signs_from === null
        ? undefined
        : { tone: 'good', until: new Date(facts.signs_from.getTime() + signing_key_days * DAY_MS) },
    backup: backupOf(facts, now),
    version: versionOf(config.UPDATE_NOTICE_URL === undefined ? null : facts.newest_version),
    bytes: facts.bytes,
  }
}

function backupOf(facts: Facts, now: Date): Health['backup'] {
  const isWithin = (at: Date | null, ms: number) => at !== null && now.getTime() - at.getTime() <= ms
  const { backup_at, backup_sent_at: sent_at, backup_proven_at: proven_at } = facts
  const has_bucket = facts.backup_has_bucket === true
  const isGood =
    isWithin(backup_at, BACKUP_LATE_MS) &&
    (!has_bucket || (isWithin(sent_at, BACKUP_LATE_MS) && isWithin(proven_at, RESTORE_LATE_MS)))
  const last = backup_at === null ? undefined : { finished_at: backup_at, bytes: facts.backup_bytes! }
  return { tone: isGood ? 'good' : 'warn', last, has_bucket, sent_at, proven_at }
}

function versionOf(newest: string | null): Health['version'] {
  const newer = newest !== null && isNewer(newest, VERSION) ? newest : undefined
  return { running: VERSION, newer }
}
