/** Entries of the audit log in words: what an act was about, and its details. */
import { sql } from 'kysely'
import { findUserByUsername } from '../../accounts/people/users.ts'
import type { readAudit } from '../../core/audit.ts'
import { isSetting, type SettingName } from '../../core/setting-values.ts'
import type { Db } from '../../database/connection.ts'
import type { Locale } from '../../web/languages.ts'
import { actWords } from './act-words.ts'
import { percentOf } from './percent.ts'
import { settingLabel, settingValue } from './setting-words.ts'

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
  if (/^mdt_[a-z0-9]+$/.test(subject)) {
    return { label: subject, href: `/admin/mandates?${new URLSearchParams({ q: subject })}` }
  }
  const proposal = /^proposal:(\d+)$/.exec(subject)?.[1]
  if (proposal !== undefined) {
    return { label: locale.t.audit.proposal(proposal), href: '/admin/proposals?show=all' }
  }
  const pattern = /^finding:(\w+):/.exec(subject)?.[1]
  if (pattern !== undefined) {
    const titles: Record<string, string> = locale.t.console.abuse.titles
    return { label: titles[pattern] ?? subject, href: '/admin/abuse?show=looked' }
  }
  if (name !== undefined) return { label: name, href: `/admin/apps/${encodeURIComponent(subject)}` }
  return { label: subject }
}

/** A detail of an entry, with its name in the log. `stored` is the value in the log if the words are others. */
export type AuditFact = { name: string; term: string; value: string; stored?: string }

type Entry = { action: string; subject: string; detail: Record<string, unknown> }

/** Details whose values are the ids of members. */
const MEMBERS = /^(user_id|payee_id|payment_app\.(from|to))$/
const POINTS = /^(amount|fee|points|given_up|charge_max|period_max|daily_\w+_max|mandate_daily_max)$/

type Line = Awaited<ReturnType<typeof readAudit>>[number]

/** An entry of the log, its act and its details in words. */
export type WordedEntry = Line & { words: string; facts: AuditFact[] }

/** Writes entries of the log in words. It reads the names of members whom they name. */
export async function inWords(db: Db, locale: Locale, entries: Line[]): Promise<WordedEntry[]> {
  return wordsOf(locale, entries, await namesOf(db, entries.flatMap(subjectsOf)))
}

/** Writes entries of the log in words, with the names that namesOf returned. */
export function wordsOf(locale: Locale, entries: Line[], names: Map<string, string>): WordedEntry[] {
  return entries.map((entry) => ({
    ...entry,
    words: actWords(locale.t, entry.action),
    facts: factsOf(locale, entry, names),
  }))
}

/** Returns the subjects that an entry names: its own, and the members among its details. */
export function subjectsOf({ action, subject, detail }: Entry): string[] {
  const { before, after, ...rest } = detail
  const members = [rest, before, after]
    .flatMap((facts) => (isTable(facts) ? Object.entries(facts) : []))
    .filter(([name]) => isMember(action, name))
  return [subject, ...members.map(([, id]) => `user:${id}`)]
}

function isMember(action: string, name: string): boolean {
  return MEMBERS.test(name) || MEMBERS.test(keyOf(action, name))
}

/** A detail's name with the area of the act: `mandate.status`. */
function keyOf(action: string, name: string): string {
  return `${action.split('.')[0]}.${name}`
}

/**
 * Returns the details of an entry in words, flat: the values before and after of what changed, those of what was deleted,
 * and the rest as it is. A value that stayed the same is shown once, and a detail without a value is left out.
 */
export function factsOf(locale: Locale, entry: Entry, names: Map<string, string>): AuditFact[] {
  const { action, subject, detail } = entry
  if (action === 'setting.change' && isSetting(subject)) {
    const { before, after } = detail as { before: string | null; after: string }
    const was = before === null ? locale.t.audit.byDefault : settingValue(locale, subject, before)
    const value = `${was} → ${settingValue(locale, subject, after)}`
    return [{ name: 'after', term: locale.t.audit.change, value }]
  }
  const { before, after, ...rest } = detail
  const say = (name: string, value: unknown) =>
    name === 'setting_value' && isSetting(String(detail.setting))
      ? settingValue(locale, String(detail.setting) as SettingName, String(value))
      : detailText(locale, { action, name, value, names })
  const fact = (name: string, ...values: unknown[]): AuditFact => {
    const stored = [...new Set(values.map(plain))].join(' → ')
    const value = [...new Set(values.map((each) => say(name, each)))].join(' → ')
    const term = termOf(locale, name, action)
    return value === stored ? { name, term, value } : { name, term, value, stored }
  }
  const facts = Object.entries(rest)
    .filter(([, value]) => !isNothing(value))
    .map(([name, value]) => fact(name, value))
  const was = isTable(before) ? before : {}
  if (!isTable(after)) return [...Object.entries(was).map(([name, value]) => fact(name, value)), ...facts]
  return [...Object.entries(after).map(([name, value]) => fact(name, was[name], value)), ...facts]
}

function termOf({ t }: Locale, name: string, action: string): string {
  const { facts } = t.console.acts
  return facts[keyOf(action, name)] ?? facts[name] ?? name
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/** A value as the log has it. */
function plain(value: unknown): string {
  return isNothing(value) ? '–' : typeof value === 'object' ? JSON.stringify(value) : String(value)
}

type Detail = { action: string; name: string; value: unknown; names: Map<string, string> }

/** Returns the value of a detail in words. */
function detailText(locale: Locale, { value, ...detail }: Detail): string {
  const { t } = locale
  if (isNothing(value)) return '–'
  // A proposal holds its terms as JSON.
  if (detail.name === 'terms')
    return detailText(locale, { ...detail, name: '', value: JSON.parse(String(value)) })
  if (Array.isArray(value)) {
    return value.map((each) => detailText(locale, { ...detail, value: each })).join(t.common.comma)
  }
  if (isTable(value)) {
    const parts = Object.entries(value).filter(([, part]) => !isNothing(part))
    return parts
      .map(
        ([name, part]) =>
          `${termOf(locale, name, detail.action)} ${detailText(locale, { ...detail, name, value: part })}`,
      )
      .join(t.common.comma)
  }
  if (typeof value === 'boolean') return value ? t.audit.yes : t.audit.no
  return wordOf(locale, { ...detail, text: String(value) })
}

function wordOf(
  locale: Locale,
  { action, name, text, names }: Omit<Detail, 'value'> & { text: string },
): string {
  const { t } = locale
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return locale.time(new Date(text))
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return locale.dayOfYear(text)
  if (isMember(action, name)) return names.get(`user:${text}`) ?? text
  if (POINTS.test(name) && /^\d{1,18}$/.test(text)) return locale.points(BigInt(text))
  if (name === 'fee_rate') return `${percentOf(text)} %`
  if (/^(allow|deny)_groups$/.test(name)) return t.identity.group(text).trim()
  if (name === 'setting' && isSetting(text)) return settingLabel(locale, text)
  const words: Record<string, Record<string, string>> = {
    'mandate.notice': t.ownMandates.notices,
    'payment_app.mandate_right': t.merchantMandates.rights,
    'payment_app.outcome': t.notifications.outcomes,
    'payment_app.role': t.team.roles,
    'payment_app.scopes': t.accessKeys.scopes,
  }
  const key = keyOf(action, name)
  return (t.console.acts.values[key] ?? words[key])?.[text] ?? text
}
