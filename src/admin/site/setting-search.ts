/** Finds settings by their words in either language, or by their key. */
import { SETTING_NAMES, type SettingName } from '../../core/setting-values.ts'
import { POINT, POINTS } from '../../web/site-words.ts'
import { baseOf } from '../wording/setting-groups.ts'
import { names } from '../wording/setting-names.texts.ts'

/** Returns the settings whose label, hint or key contains every word, in the order of the settings. */
export function findSettings(q: string): SettingName[] {
  const words = q.toLowerCase().split(/\s+/)
  return SETTING_NAMES.filter((name) => {
    const { label, hint } = names[baseOf(name)]
    const text = [name, label.en, label.zh, hint.en, hint.zh]
      .join('\n')
      .replaceAll(POINT, 'point')
      .replaceAll(POINTS, 'points 积分')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
