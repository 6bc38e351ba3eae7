/** Entries of the audit log in words: what an act was about, and its details. */
import { SETTING_NAMES, type SettingName } from '../../core/setting-values.ts'
import type { Locale } from '../../web/languages.ts'
import { settingLabel, settingValue } from '../wording/setting-words.ts'

/** What an act was about, and its page if it has one. */
export function aboutSubject(locale: Locale, subject: string): { label: string; href?: string } {
  const user_id = /^user:(\d{1,18})$/.exec(subject)?.[1]
  if (user_id !== undefined) {
    return { label: `${locale.t.members.member} ${user_id}`, href: `/admin/members/${user_id}` }
  }
  if (isSetting(subject)) return { label: settingLabel(locale, subject) }
  if (/^txn_[a-z0-9]{24}$/.test(subject)) {
    return { label: subject, href: `/admin/find?${new URLSearchParams({ q: subject })}` }
  }
  if (/^pay_[a-z0-9]{20}$/.test(subject)) {
    return { label: subject, href: `/admin/payment-applications/${subject}` }
  }
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
