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

export type AuditFact = { term: string; value: string }

/** Returns the details of an entry, flat: the values before and after of what changed, and the rest as it is. */
export function factsOf(
  locale: Locale,
  { action, subject, detail }: { action: string; subject: string; detail: Record<string, unknown> },
): AuditFact[] {
  if (action === 'setting.change' && isSetting(subject)) {
    const { before, after } = detail as { before: string | null; after: string }
    const was = before === null ? locale.t.audit.byDefault : settingValue(locale, subject, before)
    return [{ term: locale.t.audit.change, value: `${was} → ${settingValue(locale, subject, after)}` }]
  }
  const { before, after, ...rest } = detail
  const facts = Object.entries(rest).map(([term, value]) => ({ term, value: written(value) }))
  if (!isTable(after))
    return after === undefined ? facts : [...facts, { term: 'after', value: written(after) }]
  const was = isTable(before) ? before : {}
  return [
    ...Object.entries(after).map(([term, value]) => ({
      term,
      value: `${written(was[term])} → ${written(value)}`,
    })),
    ...facts,
  ]
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function written(value: unknown): string {
  if (value === undefined || value === null || value === '') return '–'
  if (Array.isArray(value)) return value.map(written).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
