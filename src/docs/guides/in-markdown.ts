/** Writes a guide as the Markdown that it is, with its values and links, for agents and programs. */
import { fenced, inPieces } from '../reference/in-markdown.ts'
import type { Sample } from '../reference/tabs.ts'
import { type Document, partsOf, type Writer } from './markdown.ts'

/** A link, whose label may have code in it, or a piece of code between marks of any length. */
const LINK_OR_CODE = /\[((?:`[^`]*`|[^\]`])*)\]\(([^)\s]+)(?: "[^"]*")?\)|(`+)(.*?)\3/gs

/** Writes a guide. The functions of the writer return Markdown. */
export function guideInMarkdown(guide: Document, writer: Writer): string {
  const parts = partsOf(guide, writer).flatMap((part) =>
    'block' in part
      ? inline(part.block.raw.trimEnd(), writer)
      : part.samples.map((sample) => sampleInMarkdown(sample, writer)),
  )
  return inPieces([`# ${writer.prose(guide.title)}`, ...parts])
}

function sampleInMarkdown({ label, code, language }: Sample, writer: Writer): string {
  const block = fenced(writer.code(code), language)
  return label === undefined ? block : `**${label}**\n\n${block}`
}

function inline(text: string, writer: Writer): string {
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

function inlineLink(label: string, href: string, { link }: Writer): string {
  const address = link(href)
  return address === undefined ? label : `[${label}](${address})`
}

function inlineCode(marks: string, code: string, writer: Writer): string {
  const title = writer.page(code)
  return title === undefined ? marks + writer.code(code) + marks : inlineLink(title, code, writer)
}
