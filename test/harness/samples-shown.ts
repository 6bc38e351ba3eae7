/** The samples of a documentation page as a reader copies them. */

const TAB = /<label[^>]*>([^<]+)<\/label><pre[^>]*><code[^>]*>(.*?)<\/code><\/pre>/gs

/** Returns each tab of a page: its label, and the text that a browser shows and copies. */
export function samplesShown(page: string): { label: string; code: string }[] {
  return [...page.matchAll(TAB)].map(([, label, html]) => ({ label: label!, code: shownText(html!) }))
}

function shownText(html: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return html.replaceAll(/<[^>]+>/g, '').replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name) => named[name]!)
}
