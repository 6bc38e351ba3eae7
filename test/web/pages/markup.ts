/** Finds faults in the HTML of a page without a browser: its structure, its labels, and what it would load or run. */
import { attribute } from '../../harness/markup.ts'

const VOID = new Set([
  'area',
  'base',
  'br',
  'col',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'source',
  'use',
  'wbr',
])
const LANDMARKS = new Set(['header', 'nav', 'main', 'aside', 'footer'])
/** Elements whose addresses a browser loads by itself. */
const LOADED: Record<string, string> = { img: 'src', script: 'src', link: 'href', use: 'href', source: 'src' }

type Tag = { name: string; text: string; isEnd: boolean; isWithinLabel: boolean }

/** Returns the faults of a page, each with its tag. @param origins of which the page may load something. */
export function markupFaults(html: string, language: string, origins: string[]): string[] {
  const tags = tagsOf(html)
  const begun = tags.filter(({ isEnd }) => !isEnd)
  const all = (name: string) => begun.filter((tag) => tag.name === name)
  const ids = begun.map(({ text }) => attribute(text, 'id')).filter((id) => id !== '')
  const isLabelled = ({ text, isWithinLabel }: Tag) =>
    isWithinLabel ||
    / aria-label(ledby)?="[^"]+"/.test(text) ||
    all('label').some((label) => attribute(label.text, 'for') === attribute(text, 'id'))
  const fields = ['input', 'select', 'textarea']
    .flatMap(all)
    .filter(({ text }) => !/ hidden\b|"hidden"/.test(text))
  return [
    ...unclosed(tags),
    ...(all('html').some(({ text }) => attribute(text, 'lang') === language) ? [] : ['another language']),
    ...['h1', 'main', 'title'].filter((name) => all(name).length !== 1).map((name) => `not one ${name}`),
    ...outsideLandmarks(tags).map(({ text }) => `outside a landmark: ${text}`),
    ...skippedHeadings(begun),
    ...ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => `two elements of the id ${id}`),
    ...references(begun)
      .filter(([, id]) => !ids.includes(id))
      .map(([text, id]) => `no ${id} for ${text}`),
    ...fields.filter((field) => !isLabelled(field)).map(({ text }) => `no label for ${text}`),
    ...all('img')
      .filter(({ text }) => !text.includes(' alt='))
      .map(({ text }) => `no text for ${text}`),
    ...all('script')
      .filter(({ text }) => !text.includes(' src='))
      .map(({ text }) => `inline ${text}`),
    ...all('style').map(({ text }) => `inline ${text}`),
    ...begun.filter(({ text }) => / (style|on[a-z]+)="/.test(text)).map(({ text }) => `inline in ${text}`),
    ...begun.filter((tag) => isForeign(tag, origins)).map(({ text }) => `from elsewhere: ${text}`),
  ]
}

function tagsOf(html: string): Tag[] {
  let labels = 0
  return [...html.matchAll(/<(\/?)([a-zA-Z][a-zA-Z0-9-]*)((?:"[^"]*"|[^">])*)>/g)].map(
    ([text, slash, name = '']) => {
      const isEnd = slash === '/'
      if (name === 'label') labels += isEnd ? -1 : 1
      return { name, text, isEnd, isWithinLabel: labels > 0 }
    },
  )
}

/** The first element that is closed by the end tag of another, or by none. */
function unclosed(tags: Tag[]): string[] {
  const open: Tag[] = []
  for (const tag of tags) {
    if (!tag.isEnd && !VOID.has(tag.name) && !tag.text.endsWith('/>')) open.push(tag)
    if (tag.isEnd && open.pop()?.name !== tag.name) return [`closes another element: ${tag.text}`]
  }
  return open.map(({ text }) => `not closed: ${text}`)
}

/** The elements of the body that a screen reader does not list, but the link to the content, by which it begins. */
function outsideLandmarks(tags: Tag[]): Tag[] {
  let depth = 0
  const inBody = tags.slice(tags.findIndex(({ name }) => name === 'body') + 1)
  return inBody.filter((tag) => {
    if (tag.isEnd) depth -= 1
    const isChild = depth === 0 && !tag.isEnd
    if (!tag.isEnd && !VOID.has(tag.name) && !tag.text.endsWith('/>')) depth += 1
    return isChild && !LANDMARKS.has(tag.name) && !/ class="skip"/.test(tag.text)
  })
}

/** Headings that are more than one level below the one before. */
function skippedHeadings(begun: Tag[]): string[] {
  const levels = begun.flatMap(({ name }) => (/^h[1-6]$/.test(name) ? [Number(name[1])] : []))
  return levels.flatMap((level, i) =>
    level > (levels[i - 1] ?? level) + 1 ? [`h${level} below h${levels[i - 1]}`] : [],
  )
}

/** The ids that tags refer to. */
function references(begun: Tag[]): [text: string, id: string][] {
  const names = ['for', 'form', 'list', 'aria-describedby', 'aria-labelledby', 'aria-controls']
  return begun.flatMap(({ text }) =>
    names.flatMap((name) =>
      attribute(text, name)
        .split(' ')
        .filter((id) => id !== '')
        .map((id): [string, string] => [text, id]),
    ),
  )
}

function isForeign({ name, text }: Tag, origins: string[]): boolean {
  const address = LOADED[name] === undefined ? '' : attribute(text, LOADED[name])
  return (
    /^[a-z]+:|^\/\//i.test(address) &&
    !origins.some((own) => address.startsWith(`${own}/`)) &&
    !/^data:/.test(address)
  )
}
