/** Settings and their values in the words of a page. */
import { baseOf, levelOf, type SettingName, settingOf } from '../../core/setting-values.ts'
import type { Locale } from '../../web/languages.ts'
import { percentOf } from './percent.ts'

/** Returns what a setting is called, with its trust level if it has one. */
export function settingLabel({ t }: Locale, name: SettingName): string {
  const level = levelOf(name)
  const { label } = t.settings.names[baseOf(name)]
  return level === undefined ? label : t.settings.ofLevel(label, t.common.trustLevel(level))
}

/** Returns a stored value as people read it, with its unit: 0.05 as 5%. */
export function settingValue(locale: Locale, name: SettingName, value: string): string {
  const { t } = locale
  if (value === '') return t.settings.empty
  const { unit, control } = settingOf(name)
  if (unit === 'percent') return `${percentOf(value)}%`
  if (control.kind === 'choice') return wordOf(t.settings.choices, value)
  const figure = /^\d{1,18}$/.test(value) ? locale.points(BigInt(value)) : value
  return unit === undefined ? figure : `${figure} ${t.settings.units[unit]}`
}

/** Returns a stored value as people type it, without its unit. */
export function typedValue(locale: Locale, name: SettingName, value: string): string {
  const { unit } = settingOf(name)
  if (unit === 'percent') return percentOf(value)
  return unit !== undefined && value !== '' ? locale.points(BigInt(value)) : value
}

/** Returns the word for a choice, or the choice itself. */
function wordOf(choices: Record<string, string>, choice: string): string {
  return choices[choice] ?? choice
}
