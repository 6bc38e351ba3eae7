/**
 * Reads the markdown of a guide with `marked`, and writes its HTML here. Only what this file writes reaches a page: raw HTML
 * in a guide is shown as text.
 */
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import { escapeHtml } from '../../web/html.ts'
import { type Sample, type TabWords, writeTabs } from '../reference/tabs.ts'

/** A heading that a page can be opened at. */
export type Heading = { id: string; text: string; level: number }
/** A guide as it is read: its title, the blocks below, and the headings in them. */
export type Document = { title: string; blocks: Token[]; headings: Heading[] }

/** How a page writes the texts of a guide. Each function returns HTML. */
export type Writer = {
  prose(text: string): string
  code(text: string): string
  /** The address of a link, or undefined for one that leads to no page of the site. */
  link(href: string): string | undefined
  /** The programs of the operation that a link leads to, one per language. */
  programs(href: string): readonly Sample[]
  words: TabWords
}

/** The title of a link to an operation that the page replaces by its programs: all of them, or those in some languages. */
const SAMPLES = /^samples(?: in ([a-z, ]+))?$/

/** A path of a page in code, which becomes a link. */
const PAGE_PATH = /^\/(?:docs|apps|admin|account|payment\/applications)(?:\/[a-z0-9_/-]*)?(?:#[a-z0-9-]+)?$/

/** A line break between two characters of Chinese. HTML would show it as a space. */
const BREAK_IN_CHINESE = /(?<=[\p{Script=Han}，。；：、）”？])\n[ ]*(?=[\p{Script=Han}（“])/gu

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

/** The text of tokens without their marks. */
function plain(tokens: Token[] = []): string {
  return tokens
    .map((token) => ('tokens' in token && token.tokens ? plain(token.tokens) : textOf(token)))
    .join('')
}

/** `marked` keeps texts as they are written, with their entities. */
const textOf = (token: Token) => ('text' in token ? (token.text as string) : token.raw)

/** Splits a guide at its headings. The first section is above all of them and has no heading. */
export function sectionsOf({ blocks }: Document): { heading?: Heading; text: string }[] {
  const sections: { heading?: Heading; texts: string[] }[] = [{ texts: [] }]
  for (const block of blocks as MarkedToken[]) {
    if (block.type === 'heading') sections.push({ heading: headingOf(block), texts: [] })
    else sections.at(-1)!.texts.push(wordsOf(block))
  }
  return sections.map(({ texts, ...section }) => ({
    ...section,
    text: texts.join(' ').replaceAll(/\s+/g, ' '),
  }))
}

/** The words of a block, with those of its lists and tables. */
function wordsOf(block: MarkedToken): string {
  if (block.type === 'list')
    return block.items.flatMap(({ tokens }) => (tokens as MarkedToken[]).map(wordsOf)).join(' ')
  if (block.type === 'table')
    return [block.header, ...block.rows]
      .flat()
      .map(({ tokens }) => plain(tokens))
      .join(' ')
  return plain([block])
}

/** Writes the blocks of a guide as HTML. */
export function writeDocument({ blocks }: Document, writer: Writer): string {
  const pieces: string[] = []
  for (let i = 0; i < blocks.length; ) {
    const { samples, blockCount } = samplesAt(blocks, i, writer)
    pieces.push(
      blockCount > 0
        ? writeTabs(samples, `sample-${pieces.length}`, { write: writer.code, words: writer.words })
        : writeBlock(blocks[i] as MarkedToken, writer),
    )
    i += blockCount || 1
  }
  return pieces.join('\n')
}

/** Samples that one group of tabs shows, and the number of blocks that they take. */
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

function writeBlock(block: MarkedToken, writer: Writer): string {
  switch (block.type) {
    case 'heading': {
      const level = `h${Math.min(block.depth, 4)}`
      const id = idOf(plain(block.tokens))
      return `<${level} id="${id}"><a href="#${id}">${writeInline(block.tokens, writer)}</a></${level}>`
    }
    case 'paragraph':
      return `<p>${writeInline(block.tokens, writer)}</p>`
    case 'list':
      return writeList(block, writer)
    case 'table':
      return writeTable(block, writer)
    case 'code':
      return `<pre class="plain" tabindex="0"><code>${writer.code(block.text)}</code></pre>`
    case 'blockquote':
      return `<div class="inset">${block.tokens.map((inner) => writeBlock(inner as MarkedToken, writer)).join('')}</div>`
    case 'hr':
      return '<hr>'
    case 'space':
      return ''
    case 'text':
      return block.tokens ? writeInline(block.tokens, writer) : writer.prose(block.text)
    default:
      return `<p>${escapeHtml(block.raw)}</p>`
  }
}

function writeList({ ordered, start, items }: Tokens.List, writer: Writer): string {
  const name = ordered ? 'ol' : 'ul'
  const first = ordered && start !== 1 ? ` start="${Number(start)}"` : ''
  const rows = items.map(
    ({ tokens }) => `<li>${tokens.map((inner) => writeBlock(inner as MarkedToken, writer)).join('')}</li>`,
  )
  return `<${name}${first}>${rows.join('')}</${name}>`
}

function writeTable({ header, rows }: Tokens.Table, writer: Writer): string {
  const head = header.map(({ tokens }) => `<th scope="col">${writeInline(tokens, writer)}</th>`)
  const body = rows.map((cells) => {
    const written = cells.map(({ tokens }) => `<td>${writeInline(tokens, writer)}</td>`)
    return `<tr>${written.join('')}</tr>`
  })
  const label = escapeHtml(plain(header[0]?.tokens))
  return [
    `<div class="panel flush scroll" tabindex="0" role="group" aria-label="${label}"><table>`,
    `<thead><tr>${head.join('')}</tr></thead><tbody>${body.join('')}</tbody></table></div>`,
  ].join('')
}

function writeInline(tokens: Token[], writer: Writer): string {
  return (tokens as MarkedToken[]).map((token) => writeToken(token, writer)).join('')
}

function writeToken(token: MarkedToken, writer: Writer): string {
  switch (token.type) {
    case 'strong':
      return `<strong>${writeInline(token.tokens, writer)}</strong>`
    case 'em':
      return `<em>${writeInline(token.tokens, writer)}</em>`
    case 'codespan': {
      const code = `<code>${writer.code(token.text)}</code>`
      return PAGE_PATH.test(token.text) ? `<a href="${token.text}">${code}</a>` : code
    }
    case 'link': {
      const href = writer.link(token.href)
      const text = writeInline(token.tokens, writer)
      return href === undefined ? text : `<a href="${escapeHtml(href)}">${text}</a>`
    }
    case 'br':
      return '<br>'
    case 'escape':
      return escapeHtml(token.text)
    case 'text':
      return writer.prose(token.text)
    default:
      return escapeHtml(token.raw)
  }
}
