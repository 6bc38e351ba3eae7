/** Writes a guide as the Markdown that it is, with its values and links, for agents and programs. */
import { fenced } from '../reference/in-markdown.ts'
import type { Sample } from '../reference/tabs.ts'
import { type Document, samplesAt } from './markdown.ts'

/** How the texts of a guide are written. */
export type MarkdownWriter = {
  prose(text: string): string
  code(text: string): string
  /** The address of a link, or undefined for one that leads to no page of the site. */
  link(href: string): string | undefined
  /** The title of a page of the site, which stands for its path. Undefined for any other code. */
  page(path: string): string | undefined
  /** The programs of the operation that a link leads to, one per language. */
  programs(href: string): readonly Sample[]
}

/** A link, whose label may have code in it, or a piece of code between marks of any length. */
const LINK_OR_CODE = /\[((?:`[^`]*`|[^\]`])*)\]\(([^)\s]+)(?: "[^"]*")?\)|(`+)(.*?)\3/gs

/** Writes a guide. */
export function guideInMarkdown({ title, blocks }: Document, writer: MarkdownWriter): string {
  const pieces = [`# ${writer.prose(title)}`]
  for (let i = 0; i < blocks.length; ) {
    const { samples, blockCount } = samplesAt(blocks, i, writer)
    for (const { label, code, language } of samples) {
      if (label !== undefined) pieces.push(`**${label}**`)
      pieces.push(fenced(writer.code(code), language))
    }
    if (blockCount === 0) pieces.push(inline(blocks[i]!.raw.trimEnd(), writer))
    i += blockCount || 1
  }
  return `${pieces.join('\n\n')}\n`
}

function inline(text: string, writer: MarkdownWriter): string {
  let written = ''
  let end = 0
  for (const { 0: whole, 1: label, 2: href, 3: marks = '', 4: code = '', index } of text.matchAll(
    LINK_OR_CODE,
  )) {
    written += writer.prose(text.slice(end, index))
    written +=
      label === undefined ? inlineCode(marks, code, writer) : inlineLink(inline(label, writer), href!, writer)
    end = index + whole.length
  }
  return written + writer.prose(text.slice(end))
}

function inlineLink(label: string, href: string, { link }: MarkdownWriter): string {
  const address = link(href)
  return address === undefined ? label : `[${label}](${address})`
}

function inlineCode(marks: string, code: string, writer: MarkdownWriter): string {
  const title = writer.page(code)
  return title === undefined ? marks + writer.code(code) + marks : inlineLink(title, code, writer)
}
