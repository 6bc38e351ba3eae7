// This room: the words of pages for acts of the audit log, settings and their values.
// Verbs: actWords, settingLabel, settingValue.
/** Acts of the audit log and refusals of the security record, in the words of a page. */
import type { Messages } from '../../web/languages.ts'

/** Returns an act or a refusal in words, or its key where it has none. */
export function actWords({ console: { acts } }: Messages, key: string): string {
  return acts.names[key] ?? acts.refusals[key] ?? key
}
