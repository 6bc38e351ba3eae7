/** Reads the HTML of pages, as a browser does. */

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** The characters that the entities of a text stand for. */
export function unescaped(html: string): string {
  return html.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name]!)
}

/** The text that a reader of a page, or of a part of it, sees: without tags, with single spaces. */
export function textOf(page: string | { body: string }): string {
  const html = typeof page === 'string' ? page : page.body
  return unescaped(html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')).trim()
}

/** An attribute of a tag. Empty when the tag does not have it. */
export function attribute(tag: string, name: string): string {
  return unescaped(new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '')
}

/** The hidden fields of the page's form with this action. */
export function hiddenFields(html: string, action: string): Record<string, string> {
  const start = html.search(new RegExp(`<form[^>]*action="${action.replace(/[/?.]/g, '\\$&')}"`))
  if (start === -1) throw new Error(`The page has no form with action ${action}`)
  const form = html.slice(start, html.indexOf('</form>', start))
  const inputs = [...form.matchAll(/<input type="hidden"[^>]*>/g)].map(([tag]) => tag)
  return Object.fromEntries(inputs.map((tag) => [attribute(tag, 'name'), attribute(tag, 'value')]))
}
