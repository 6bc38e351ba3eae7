// @ts-check
/** The topics of the forum as HTML. The address of a page alone on a line becomes a card, as Discourse makes it of the page's Open Graph tags. */
import { escapeHtml } from './html.js'

/** @import { Language } from './texts.js' */

const CARD_MS = 2_000
const PAGE_CHARACTERS_MAX = 200_000
const ENTITIES = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }

/**
 * @typedef {{ user: number, text: string }} Post the text may name `{link}`
 * @typedef {{ id: number, slug: string, title: string, posts: Post[], isPrivate?: boolean }} Topic
 */

/**
 * Makes cards of pages on these sites only, and keeps them. A page that does not answer stays a link.
 * @param {string[]} sites origins
 */
export function openCards(sites) {
  /** @type {Map<string, string>} */
  const made = new Map()

  /** @param {string} address @param {Language} language */
  return async function cardOf(address, language) {
    const key = `${language} ${address}`
    const known = made.get(key)
    if (known !== undefined) return known
    if (!URL.canParse(address) || !sites.includes(new URL(address).origin)) return undefined
    const page = await fetch(address, {
      headers: { 'accept-language': language, 'user-agent': 'Discourse Forum Onebox' },
      redirect: 'error',
      signal: AbortSignal.timeout(CARD_MS),
    })
      .then((response) => (response.ok ? response.text() : ''))
      .catch(() => '')
    const card = cardFrom(page.slice(0, PAGE_CHARACTERS_MAX), address)
    if (card !== undefined) made.set(key, card)
    return card
  }
}

/** @param {string} page @param {string} address */
function cardFrom(page, address) {
  const tags = new Map(
    [...page.matchAll(/<meta (?:property|name)="([^"]+)" content="([^"]*)">/g)].map(([, name, content]) => [
      name,
      escapeHtml(
        (content ?? '').replace(
          /&(?:amp|lt|gt|quot|#39);/g,
          (entity) => ENTITIES[/** @type {keyof typeof ENTITIES} */ (entity)],
        ),
      ),
    ]),
  )
  const title = tags.get('og:title')
  if (title === undefined) return undefined
  const href = escapeHtml(address)
  const link = (/** @type {string} */ text) => `<a href="${href}" target="_blank" rel="noopener">${text}</a>`
  const image = tags.get('og:image')
  const [label, value] = [tags.get('twitter:label1'), tags.get('twitter:data1')]
  return `<aside class="onebox allowlistedgeneric" data-onebox-src="${href}">
<header class="source">${link(escapeHtml(new URL(address).host))}</header>
<article class="onebox-body">
${image === undefined ? '' : `<img src="${image}" class="thumbnail" alt="">`}
<h3>${link(title)}</h3>
<p>${tags.get('og:description') ?? ''}</p>
${label === undefined ? '' : `<p><span class="label1">${label}: ${value}</span></p>`}
</article></aside>`
}

/**
 * A post as HTML: paragraphs, links, and cards.
 * @param {string} text
 * @param {(address: string) => Promise<string | undefined>} cardOf
 */
export async function cook(text, cardOf) {
  const parts = text.split(/\n\n+/).map(async (part) => {
    const card = /^https?:\/\/\S+$/.test(part) ? await cardOf(part) : undefined
    return card ?? `<p>${withLinks(part)}</p>`
  })
  return (await Promise.all(parts)).join('\n')
}

/** @param {string} text */
function withLinks(text) {
  return text
    .split(/(https?:\/\/\S+)/)
    .map((piece, i) => {
      const shown = escapeHtml(piece)
      return i % 2 === 0 ? shown : `<a href="${shown}" target="_blank" rel="noopener">${shown}</a>`
    })
    .join('')
}
