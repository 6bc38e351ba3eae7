/**
 * Reads and writes the markdown of a guide with `marked`. The renderer shows raw HTML and images as text, and it links only to
 * addresses that the page accepts.
 */
import { lexer, type MarkedToken, Parser, Renderer, type Token, type Tokens } from 'marked'
import { escapeHtml } from '../../web/html.ts'
import { capitalised } from '../../web/languages.ts'
import { DOT } from '../../web/spacing.ts'
import { type Sample, type TabWords, writeTabs } from '../reference/tabs.ts'

/** A heading that a page can be opened at. */
export type Heading = { id: string; text: string; level: number }
/** A guide as it is read: its title, the blocks below, and the headings in them. */
export type Document = { title: string; blocks: Token[]; headings: Heading[] }

/** Writes the texts of a guide, as HTML or as Markdown. */
export type Writer = {
  prose(text: string): string
  code(text: string): string
  /** The address of a link, or undefined for one that leads to no page of the site. */
  link(href: string): string | undefined
  /** The title of the page that a path names. Undefined for other code. */
  page(path: string): string | undefined
  /** The picture of a row whose last link this is, on a page whose tables of links are lists. */
  picture?: (href: string) => string
  /** The programs of the operation that a link leads to, one per language. */
  programs(href: string): readonly Sample[]
}

/** The title of a link to an operation that the page replaces by its programs: all of them, or those in some languages. */
const SAMPLES = /^samples(?: in ([a-z, ]+))?$/

/** A line break between two characters of Chinese. HTML would show it as a space. */
const BREAK_IN_CHINESE = /(?<=[\p{Script=Han}，。；：、）”？])\n[ ]*(?=[\p{Script=Han}（“])/gu

const CHINESE = /\p{Script=Han}/u

/** A space between Chinese text and a link whose text is Chinese: guides name pages by their paths, which have spaces beside them. */
const SPACE_BESIDE_CHINESE_LINK =
  /(?<=\p{Script=Han}) (?=<a href="[^"]*">\p{Script=Han})|(?<=\p{Script=Han}<\/a>) (?=\p{Script=Han})/gu

/** Reads a guide. Its first line is its title. */
export function readDocument(markdown: string): Document {
  const [title, ...rest] = lexer(markdown.replaceAll(BREAK_IN_CHINESE, '')).filter(
    ({ type }) => type !== 'space',
  ) as MarkedToken[]
  if (title?.type !== 'heading') throw new Error('A guide begins with its title')
  const headings = rest.filter((block) => block.type === 'heading').map(headingOf)
  return { title: plain(title.tokens), blocks: rest, headings }
}

function headingOf({ tokens, depth }: Tokens.Heading): Heading {
  const text = plain(tokens)
  return { id: idOf(text), text, level: depth }
}

/** The name of a heading in an address. */
export function idOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
}

/** The text of tokens without their marks. `code` writes the code within a line. */
function plain(tokens: Token[] = [], code = (text: string) => text): string {
  return tokens
    .map((token) => {
      if ('tokens' in token && token.tokens) return plain(token.tokens, code)
      return token.type === 'codespan' ? code(textOf(token)) : textOf(token)
    })
    .join('')
}

/** `marked` keeps texts as they are written, with their entities. */
const textOf = (token: Token) => ('text' in token ? (token.text as string) : token.raw)

/**
 * Splits a guide at its headings. The first section is above all of them and has no heading. Each text has a line a block or cell.
 * @param page the title of the page that a path names, as `Writer` has it. Without it, texts keep their paths.
 */
export function sectionsOf(
  { blocks }: Document,
  page: Writer['page'] = () => undefined,
): { heading?: Heading; text: string }[] {
  const code = (text: string) => page(text) ?? text
  const sections: { heading?: Heading; texts: string[] }[] = [{ texts: [] }]
  for (const block of blocks as MarkedToken[]) {
    if (block.type === 'heading') sections.push({ heading: headingOf(block), texts: [] })
    else sections.at(-1)!.texts.push(wordsOf(block, code))
  }
  return sections.map(({ texts, ...section }) => ({
    ...section,
    text: texts.filter(Boolean).join('\n'),
  }))
}

const inOneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

/** The words of a block. Each item of a list and each cell of a table has its own line. */
function wordsOf(block: MarkedToken, code: (text: string) => string): string {
  if (block.type === 'list')
    return block.items
      .flatMap(({ tokens }) => (tokens as MarkedToken[]).map((token) => wordsOf(token, code)))
      .join('\n')
  if (block.type === 'table')
    return [block.header, ...block.rows]
      .flat()
      .map(({ tokens }) => inOneLine(plain(tokens, code)))
      .filter(Boolean)
      .join('\n')
  return inOneLine(plain([block], code))
}

/** Writes the blocks of a guide as HTML. The functions of the writer return HTML. */
export function writeDocument(document: Document, writer: Writer & { words: TabWords }): string {
  const { code, words } = writer
  const parser = new Parser({ renderer: new GuideRenderer(writer) })
  const pieces = partsOf(document, writer).map((part, i) =>
    'block' in part
      ? parser.parse([part.block]).trimEnd().replaceAll(SPACE_BESIDE_CHINESE_LINK, '')
      : writeTabs(part.samples, `sample-${i}`, { write: code, words }),
  )
  return pieces.join('\n')
}

/** A block, or samples that the page shows as one group of tabs. */
type Part = { block: Token } | { samples: readonly Sample[] }

/** Returns the parts of a guide in their order. */
export function partsOf({ blocks }: Document, writer: Pick<Writer, 'programs'>): Part[] {
  const parts: Part[] = []
  for (let i = 0; i < blocks.length; ) {
    const { samples, blockCount } = samplesAt(blocks, i, writer)
    parts.push(blockCount > 0 ? { samples } : { block: blocks[i]! })
    i += blockCount || 1
  }
  return parts
}

/** Samples, and the number of blocks that they take. */
type Group = { samples: readonly Sample[]; blockCount: number }

/**
 * The samples that begin at a block: code blocks that follow each other, each below its name in bold type, or a link to an
 * operation in place of its programs.
 */
function samplesAt(blocks: Token[], from: number, { programs }: Pick<Writer, 'programs'>): Group {
  const { title, href } = (onlyToken(blocks[from], 'link') ?? {}) as Partial<Tokens.Link>
  const [isPrograms, languages] = SAMPLES.exec(title ?? '') ?? []
  if (isPrograms) {
    const chosen = languages?.split(', ')
    const samples = programs(href!).filter(({ language }) => chosen?.includes(language) ?? true)
    return { samples, blockCount: 1 }
  }
  const samples: Sample[] = []
  for (let i = from; ; i += 2) {
    const label = nameOf(blocks[i])
    const code = blocks[i + 1] as MarkedToken | undefined
    if (label === undefined || code?.type !== 'code') break
    samples.push({ label, language: languageOf(code), code: code.text })
  }
  const alone = blocks[from] as MarkedToken
  if (samples.length > 0) return { samples, blockCount: 2 * samples.length }
  if (alone.type !== 'code' || alone.codeBlockStyle === 'indented') return { samples, blockCount: 0 }
  return { samples: [{ language: languageOf(alone), code: alone.text }], blockCount: 1 }
}

/** The word after ```, without the title of the file. */
const languageOf = ({ lang = '' }: Tokens.Code) => lang.split(' ')[0]!

/** The text of a paragraph that is bold as a whole. */
function nameOf(block: Token | undefined): string | undefined {
  const name = onlyToken(block, 'strong')
  return name && plain([name])
}

/** The token of a paragraph that has no other token, if it is of this type. */
function onlyToken(block: Token | undefined, type: 'strong' | 'link'): Token | undefined {
  const { type: kind, tokens } = (block ?? {}) as Partial<Tokens.Paragraph>
  return kind === 'paragraph' && tokens?.length === 1 && tokens[0]!.type === type ? tokens[0] : undefined
}

/** Renders as `marked` does, except what the site writes in its own way. */
class GuideRenderer extends Renderer {
  readonly #writer: Writer

  constructor(writer: Writer) {
    super()
    this.#writer = writer
  }

  override heading({ tokens, depth }: Tokens.Heading): string {
    const level = `h${Math.min(depth, 4)}`
    const id = idOf(plain(tokens))
    return `<${level} id="${id}"><a href="#${id}">${this.parser.parseInline(tokens)}</a></${level}>\n`
  }

  override code({ text }: Tokens.Code): string {
    return `<pre class="plain" tabindex="0"><code>${this.#writer.code(text)}</code></pre>\n`
  }

  override blockquote({ tokens }: Tokens.Blockquote): string {
    return `<div class="inset">${this.parser.parse(tokens)}</div>\n`
  }

  override table(token: Tokens.Table): string {
    const roads = token.rows.map((row) => this.#road(row))
    if (roads.length > 0 && roads.every(Boolean))
      return `<ul class="panel flush list">${roads.join('')}</ul>\n`
    const [label = '', ...labels] = token.header.map(({ tokens }) => escapeHtml(plain(tokens)))
    const head = token.header.map(({ tokens }) => `<th scope="col">${this.parser.parseInline(tokens)}</th>`)
    const rows = token.rows.map((row) =>
      row.map((cell, i) => this.#cell(cell, i < 2 ? undefined : labels[i - 1])),
    )
    const body = rows.map((cells) => `<tr role="row">${cells.join('')}</tr>`).join('')
    return `<div class="panel flush scroll" tabindex="0" role="group" aria-label="${label}"><table class="guide" role="table"><thead><tr>${head.join('')}</tr></thead><tbody>${body}</tbody></table></div>\n`
  }

  /** Writes a row as what the reader wants, with a link to its first page and the others below. Empty for any other row. */
  #road([wanted, pages]: Tokens.TableCell[]): string {
    const { picture, link, prose } = this.#writer
    const links = (pages?.tokens ?? []).filter(({ type }) => type === 'link') as Tokens.Link[]
    const ways = links.map(({ href, tokens }) => ({
      href: link(href),
      text: prose(capitalised(plain(tokens))),
    }))
    const [first] = ways
    if (picture === undefined || first === undefined || ways.some(({ href }) => href === undefined)) return ''
    const to = ({ href = '', text }: (typeof ways)[number]) => `<a href="${escapeHtml(href)}">${text}</a>`
    const title = prose(capitalised(plain(wanted?.tokens)))
    return `<li><span class="tile" aria-hidden="true">${picture(links.at(-1)!.href)}</span><div class="grow"><p><strong>${title}</strong></p><p class="small">${ways.map(to).join(DOT)}</p></div></li>`
  }

  /** Writes a cell. Phones show a row as lines, below each other, so a third column has its label there. */
  #cell({ tokens }: Tokens.TableCell, label: string | undefined): string {
    const marks = label === undefined ? '' : ` data-label="${label}${CHINESE.test(label) ? '：' : ':'}"`
    return `<td role="cell"${marks}>${this.parser.parseInline(tokens)}</td>`
  }

  override html({ raw, block }: Tokens.HTML | Tokens.Tag): string {
    return block ? `<p>${escapeHtml(raw)}</p>\n` : escapeHtml(raw)
  }

  override image({ raw }: Tokens.Image): string {
    return escapeHtml(raw)
  }

  override codespan({ text }: Tokens.Codespan): string {
    const title = this.#writer.page(text)
    if (title !== undefined) return `<a href="${escapeHtml(text)}">${escapeHtml(title)}</a>`
    return `<code>${this.#writer.code(text)}</code>`
  }

  override link({ href, tokens }: Tokens.Link): string {
    const address = this.#writer.link(href)
    const text = this.parser.parseInline(tokens)
    return address === undefined ? text : `<a href="${escapeHtml(address)}">${text}</a>`
  }

  override text(token: Tokens.Text | Tokens.Escape): string {
    if (token.type === 'escape') return escapeHtml(token.text)
    return token.tokens ? this.parser.parseInline(token.tokens) : this.#writer.prose(token.text)
  }
}
