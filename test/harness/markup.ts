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

/** The markup of the page's form with this action. */
function formWith(html: string, action: string): string {
  const start = html.search(new RegExp(`<form[^>]*action="${action.replace(/[/?.]/g, '\\$&')}"`))
  if (start === -1) throw new Error(`The page has no form with action ${action}`)
  return html.slice(start, html.indexOf('</form>', start))
}

/** All fields that a browser sends of the page's form with this action, if nobody changes them. */
export function untouchedFields(html: string, action: string): Record<string, string> {
  const form = formWith(html, action)
  const inputs = [...form.matchAll(/<input [^>]*>/g)].flatMap(([tag]) => {
    const type = attribute(tag, 'type')
    const isSent = !/ disabled/.test(tag) && (!/radio|checkbox/.test(type) || / checked/.test(tag))
    return isSent ? [[attribute(tag, 'name'), / value="/.test(tag) ? attribute(tag, 'value') : 'on']] : []
  })
  const texts = [...form.matchAll(/(<textarea [^>]*>)([^<]*)/g)].map(([, tag, text]) => [
    attribute(tag!, 'name'),
    unescaped(text!),
  ])
  const choices = [...form.matchAll(/(<select [^>]*>)([\s\S]*?)<\/select>/g)].map(([, tag, options]) => {
    const chosen = /<option [^>]*selected[^>]*>/.exec(options!) ?? /<option [^>]*>/.exec(options!)
    return [attribute(tag!, 'name'), attribute(chosen![0], 'value')]
  })
  return Object.fromEntries([...inputs, ...texts, ...choices])
}

/** The hidden fields of the page's form with this action. */
export function hiddenFields(html: string, action: string): Record<string, string> {
  const inputs = [...formWith(html, action).matchAll(/<input type="hidden"[^>]*>/g)].map(([tag]) => tag)
  return Object.fromEntries(inputs.map((tag) => [attribute(tag, 'name'), attribute(tag, 'value')]))
}
