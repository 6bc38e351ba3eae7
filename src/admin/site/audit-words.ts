/** Entries of the audit log in words: what an act was about, and its details. */
import { sql } from 'kysely'
import { findUserByUsername } from '../../accounts/people/users.ts'
import { SETTING_NAMES, type SettingName } from '../../core/setting-values.ts'
import type { Db } from '../../database/connection.ts'
import type { Locale } from '../../web/languages.ts'
import { settingLabel, settingValue } from '../wording/setting-words.ts'

/** The subjects of members are `user:` and the id. */
const MEMBER = /^user:(\d{1,18})$/

/** Reads the names of the members and applications among some subjects. */
export async function namesOf(db: Db, subjects: string[]): Promise<Map<string, string>> {
  if (subjects.length === 0) return new Map()
  const ids = subjects.flatMap((subject) => MEMBER.exec(subject)?.[1] ?? [])
  const { rows } = await sql<{ subject: string; name: string }>`
    select 'user:' || id as subject, '@' || username as name from users where id = any(${ids}::bigint[])
    union all select client_id, name from oauth_apps where client_id = any(${subjects}::text[])
    union all select payment_id, name from payment_apps where payment_id = any(${subjects}::text[])`.execute(
    db,
  )
  return new Map(rows.map(({ subject, name }) => [subject, name]))
}

/** Returns the subject that a reader means: `@name` is a member. A name that no member has finds nothing. */
export async function subjectOf(db: Db, typed: string): Promise<string> {
  if (!typed.startsWith('@')) return typed
  const member = await findUserByUsername(db, typed.slice(1))
  return `user:${member?.id ?? 0}`
}

/**
 * What an act was about, and its page if it has one.
 * @param names the names of members and applications by their subjects.
 */
export function aboutSubject(
  locale: Locale,
  subject: string,
  names: Map<string, string>,
): { label: string; href?: string } {
  const user_id = MEMBER.exec(subject)?.[1]
  const name = names.get(subject)
  if (user_id !== undefined) {
    return { label: name ?? `${locale.t.members.member} ${user_id}`, href: `/admin/members/${user_id}` }
  }
  if (isSetting(subject)) return { label: settingLabel(locale, subject) }
  if (/^txn_[a-z0-9]{24}$/.test(subject)) {
    return { label: subject, href: `/admin/find?${new URLSearchParams({ q: subject })}` }
  }
  if (/^pay_[a-z0-9]{20}$/.test(subject)) {
    return { label: name ?? subject, href: `/admin/payment-applications/${subject}` }
  }
  if (name !== undefined) return { label: name, href: `/admin/apps/${encodeURIComponent(subject)}` }
  return { label: subject }
}

function isSetting(name: string): name is SettingName {
  return SETTING_NAMES.some((each) => each === name)
}

/** A detail of an entry, with its name in the log. */
export type AuditFact = { name: string; term: string; value: string }

/**
 * Returns the details of an entry in words, flat: the values before and after of what changed, those of what was deleted,
 * and the rest as it is.
 */
export function factsOf(
  locale: Locale,
  { action, subject, detail }: { action: string; subject: string; detail: Record<string, unknown> },
): AuditFact[] {
  if (action === 'setting.change' && isSetting(subject)) {
    const { before, after } = detail as { before: string | null; after: string }
    const was = before === null ? locale.t.audit.byDefault : settingValue(locale, subject, before)
    const value = `${was} → ${settingValue(locale, subject, after)}`
    return [{ name: 'after', term: locale.t.audit.change, value }]
  }
  const { before, after, ...rest } = detail
  const words = locale.t.console.acts.facts
  const fact = (name: string, value: string) => ({ name, term: words[name] ?? name, value })
  const facts = Object.entries(rest).map(([name, value]) => fact(name, written(locale, value)))
  if (!isTable(after)) {
    const gone = isTable(before) ? Object.entries(before) : []
    return [...gone.map(([name, value]) => fact(name, written(locale, value))), ...facts]
  }
  const was = isTable(before) ? before : {}
  const changes = Object.entries(after).map(([name, value]) =>
    fact(name, `${written(locale, was[name])} → ${written(locale, value)}`),
  )
  return [...changes, ...facts]
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function written(locale: Locale, value: unknown): string {
  if (value === undefined || value === null || value === '') return '–'
  if (Array.isArray(value)) return value.map((each) => written(locale, each)).join(', ') || '–'
  if (typeof value === 'boolean') return value ? locale.t.audit.yes : locale.t.audit.no
  if (typeof value === 'object') return JSON.stringify(value)
  const text = String(value)
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return locale.time(new Date(text))
  return /^\d{4}-\d\d-\d\d$/.test(text) ? locale.dayOfYear(text) : text
}
