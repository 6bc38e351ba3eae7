// This room: /admin: the figures of the day, what waits, health, and the first steps of a new site.
// Verbs: readToday, readWaiting, readHealth, readFirstSteps.
/** Words for the health of the service: what works, what needs a look, and where that is done. */
import type { Locale } from '../../web/languages.ts'
import type { Health, Tone } from './health.ts'

/** A part of what a check says: words, a moment, or words that belong to a moment. */
export type Said = string | Date | { words: string; at: Date }

/** One thing that the service knows of itself. */
export type Check = { tone: Tone; label: string; href: string | undefined; said: Said[] }

type Proof = { is_sound: boolean; finished_at: Date }

const RANKS: Record<Tone, number> = { bad: 0, warn: 1, good: 2, plain: 3 }

/** Returns all checks: faults first, then warnings. */
export function checksOf(health: Health, proof: Proof | undefined, locale: Locale): Check[] {
  const checks = [
    booksCheck(proof, locale),
    sealsCheck(health, locale),
    notificationsCheck(health, locale),
    mailCheck(health, locale),
    forumCheck(health, locale),
    keysCheck(health, locale),
    backupCheck(health, locale),
    versionCheck(health, locale),
    check('plain', locale.t.dashboard.disk, undefined, [bytesOf(health.bytes)]),
  ]
  return checks
    .filter((each) => each !== undefined)
    .toSorted((one, other) => RANKS[one.tone] - RANKS[other.tone])
}

const check = (tone: Tone, label: string, href: string | undefined, said: Said[]): Check => ({
  ...{ tone, label, href, said },
})

function booksCheck(proof: Proof | undefined, { t: { dashboard: m } }: Locale): Check {
  const href = '/admin/books'
  if (proof === undefined) return check('warn', m.books, href, [m.booksNever])
  const [tone, words] = proof.is_sound ? (['good', m.booksSound] as const) : (['bad', m.booksBroken] as const)
  return check(tone, m.books, href, [words, proof.finished_at])
}

function sealsCheck({ seals }: Health, { t: { dashboard: m } }: Locale): Check {
  const said = seals.since === undefined ? m.sealsDone : { words: m.sealsLate, at: seals.since }
  return check(seals.tone, m.seals, '/admin/books', [said])
}

function notificationsCheck({ notifications }: Health, { t: { dashboard: m }, points }: Locale): Check {
  const { tone, waiting, failing, paused_hosts } = notifications
  return check(tone, m.notifications, '/admin/notifications', [
    waiting === 0 ? m.noBacklog : m.backlog(points(waiting), points(failing)),
    ...(paused_hosts > 0 ? [m.pausedHosts(points(paused_hosts), paused_hosts)] : []),
  ])
}

function mailCheck({ mail }: Health, { t, points }: Locale): Check {
  const m = t.dashboard
  const { guide } = t.firstSteps.steps.mail
  if (mail === undefined) return check('plain', m.mail, guide, [m.off])
  const waiting = mail.waiting > 0 ? [m.mailWaiting(points(mail.waiting))] : []
  if (mail.given_up > 0)
    return check(mail.tone, m.mail, guide, [...waiting, m.mailGivenUp(points(mail.given_up))])
  const last = mail.settled_at === null ? m.mailNone : { words: m.mailLast, at: mail.settled_at }
  return check(mail.tone, m.mail, mail.tone === 'good' ? undefined : guide, [...waiting, last])
}

function forumCheck({ forum }: Health, { t: { dashboard: m } }: Locale): Check | undefined {
  if (forum === undefined) return undefined
  const says = (said: Said) => check(forum.tone, m.forum, '/admin/forum', [said])
  if (!forum.hasApi) return says(m.forumAtSignIn)
  if (forum.paused_until !== undefined) return says({ words: m.forumSilent, at: forum.paused_until })
  if (forum.due_at !== null) return says({ words: m.forumLate, at: forum.due_at })
  return says(forum.event_at === null ? m.forumQuiet : { words: m.forumEvent, at: forum.event_at })
}

function keysCheck({ keys }: Health, { t: { dashboard: m } }: Locale): Check | undefined {
  return keys && check(keys.tone, m.keys, undefined, [{ words: m.keysUntil, at: keys.until }])
}

function backupCheck({ backup }: Health, { t }: Locale): Check {
  const m = t.dashboard
  const { guide } = t.firstSteps.steps.backup
  if (backup.last === undefined) return check(backup.tone, m.backup, guide, [m.backupNone])
  const { finished_at, bytes } = backup.last
  const sent = backup.sent_at === null ? m.backupNotSent : { words: m.backupSent, at: backup.sent_at }
  const unproven = backup.has_bucket ? [m.backupNotProven] : []
  return check(backup.tone, m.backup, backup.tone === 'good' ? undefined : guide, [
    ...[finished_at, bytesOf(bytes)],
    ...(backup.has_bucket ? [sent] : []),
    ...(backup.proven_at === null ? unproven : [{ words: m.backupProven, at: backup.proven_at }]),
  ])
}

function versionCheck({ version }: Health, { t: { dashboard: m } }: Locale): Check {
  const { running, newer } = version
  if (newer === undefined) return check('plain', m.version, '/admin/versions', [running])
  return check('warn', m.version, '/admin/versions', [running, m.newerVersion(newer)])
}

function bytesOf(size: bigint): string {
  const mega = Number(size) / 1_048_576
  return mega < 1_024 ? `${mega.toFixed(0)} MB` : `${(mega / 1_024).toFixed(1)} GB`
}
