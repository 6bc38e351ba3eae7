/** The samples of a documentation page as a reader copies them. */
import { unescaped } from './markup.ts'

const TAB = /<label[^>]*>([^<]+)<\/label><pre[^>]*><code[^>]*>(.*?)<\/code><\/pre>/gs

/** Returns each tab of a page: its label, and the text that a browser shows and copies. */
export function samplesShown(page: string): { label: string; code: string }[] {
  return [...page.matchAll(TAB)].map(([, label, html]) => ({
    label: label!,
    code: unescaped(html!.replaceAll(/<[^>]+>/g, '')),
  }))
}
