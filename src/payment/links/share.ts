/** What leads to a link from elsewhere: its address, texts for forums and sites, a button, and tags for previews. spec/links 4.4. Pure. */
import type { Core } from '../../core/core.ts'
import { escapeHtml } from '../../web/html.ts'
import type { Locale } from '../../web/languages.ts'
import { isTip, type Link } from './find.ts'
import { PREVIEW } from './preview-picture.ts'

type Priced = Pick<Link, 'amount' | 'amount_min' | 'book'>

const DESCRIPTION_LENGTH_MAX = 250

/** The public address of a link. */
export function linkUrl({ config }: Pick<Core, 'config'>, slug: string): string {
  return `${config.PAYMENT_PUBLIC_URL}/l/${slug}`
}

/** The price of a unit, or the least that a buyer may choose, in the words of the site. */
function priceOf({ amount, amount_min, book }: Priced, { t }: Locale): string {
  const points = amount ?? amount_min ?? 0n
  return book === 'test' ? `${points} ${t.common.playUnit(points)}` : t.common.points(String(points), points)
}

/** Returns a link in Markdown. Characters that Markdown gives a meaning are escaped. */
export function markdownOf(link: Priced & { title: string }, url: string, locale: Locale): string {
  const text = `${link.title} – ${priceOf(link, locale)}`
  return `[${text.replaceAll(/[\\`*_{}[\]()<>#+!|~&$^=-]/g, '\\$&')}](${url})`
}

/** Returns a link in HTML, whose picture is the button. */
export function htmlOf(link: Priced & { title: string }, url: string, locale: Locale): string {
  const text = escapeHtml(`${link.title} – ${priceOf(link, locale)}`)
  return `<a href="${url}"><img src="${url}/button.svg?lang=${locale.language}" alt="${text}"></a>`
}

/** A Chinese character is about as wide as the font is high; others are narrower. */
const widthOf = (text: string) =>
  [...text].reduce((sum, sign) => sum + (/[\u2e80-\uffef]/.test(sign) ? 16 : 9), 0)

/** Returns the button as a picture: an SVG without script, style and addresses. */
export function buttonSvg(
  link: Priced & Pick<Link, 'delivery'>,
  { t, language }: Locale,
  { accent, on }: { accent: string; on: string },
): string {
  const points = link.amount ?? link.amount_min ?? 0n
  const text =
    link.amount === null
      ? (isTip(link) ? t.paymentLinks.tip : t.paymentLinks).buyFrom(String(points), points)
      : t.paymentLinks.buyFor(String(points), points, link.book === 'test')
  const width = widthOf(text) + 40
  const label = escapeHtml(text)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="44" viewBox="0 0 ${width} 44" role="img" lang="${language}"><title>${label}</title><rect width="${width}" height="44" rx="8" fill="${accent}"/><text x="${width / 2}" y="28" fill="${on}" font-family="system-ui, sans-serif" font-size="16" font-weight="600" text-anchor="middle">${label}</text></svg>`
}

/** Readers that know the size need not load the picture before they show the rest. */
function imageTags(image: string | undefined): [name: string, content: string][] {
  if (image === undefined) return []
  return [
    ['og:image', image],
    ['og:image:type', 'image/png'],
    ['og:image:width', String(PREVIEW.width)],
    ['og:image:height', String(PREVIEW.height)],
  ]
}

/** Returns the tags of a link's head by name. They hold no figures of the stock, because forums keep previews for days. */
export function previewTags(
  link: Priced & Pick<Link, 'title' | 'description'>,
  {
    url,
    image,
    locale,
    site,
    isSold,
  }: { url: string; image: string | undefined; locale: Locale; site: string; isSold: boolean },
): [name: string, content: string][] {
  const { t, language } = locale
  const price = priceOf(link, locale)
  const about = [price, link.description.replaceAll(/\s+/g, ' ').trim()].filter(Boolean).join(' · ')
  return [
    ['og:type', 'product'],
    ['og:title', link.title],
    ['og:url', url],
    ['og:site_name', site],
    ['og:locale', language === 'en' ? 'en_GB' : 'zh_CN'],
    ['og:description', [...about].slice(0, DESCRIPTION_LENGTH_MAX).join('')],
    ...imageTags(image),
    ['product:price:amount', String(link.amount ?? link.amount_min ?? 0n)],
    ['product:price:currency', t.common.pointsUnit(2)],
    ['product:availability', isSold ? 'in stock' : 'out of stock'],
    // Forums show this pair as words.
    ['twitter:label1', t.teamLinks.price],
    ['twitter:data1', price],
  ]
}
