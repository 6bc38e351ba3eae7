/** The versions of a changelog in the form of CHANGELOG.md, and the order of version numbers. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A part of the notes of a version, in plain text. */
export type Note = { isItem: boolean; text: string }
export type Release = { version: string; title: string; notes: Note[] }

const NUMBER = String.raw`(?:0|[1-9]\d{0,8})`
const HEADING = new RegExp(
  String.raw`^## \[?v?(${NUMBER}\.${NUMBER}\.${NUMBER}(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?)\]?(?=\s|$)(.*)$`,
)

/** The changelog of this program. */
export function ownReleases(): Release[] {
  return readReleases(readFileSync(join(import.meta.dirname, '../../CHANGELOG.md'), 'utf8'))
}

/** Reads the versions of a changelog, in its order. A heading that names no version ends the notes of the one before it. */
export function readReleases(changelog: string): Release[] {
  const releases: Release[] = []
  for (const section of changelog.split(/^(?=## )/m)) {
    const [heading = '', ...lines] = section.split(/\r?\n/)
    const [, version, rest = ''] = HEADING.exec(heading) ?? []
    if (version !== undefined)
      releases.push({ version, title: plain(rest.replace(/^[\s–—-]+/, '')), notes: notesOf(lines) })
  }
  return releases
}

/** An empty line ends a part, and so does the next item. */
function notesOf(lines: string[]): Note[] {
  const notes: Note[] = []
  let isOpen = false
  for (const line of lines) {
    const item = /^\s*[-*] +(.*)$/.exec(line)?.[1]
    const text = (item ?? line.replace(/^#+ /, '')).trim()
    if (text !== '' && isOpen && item === undefined) notes.at(-1)!.text += ` ${text}`
    else if (text !== '') notes.push({ isItem: item !== undefined, text })
    isOpen = text !== ''
  }
  return notes.map(({ isItem, text }) => ({ isItem, text: plain(text) }))
}

/** Without the marks of Markdown. A link keeps its words, because its address is a stranger's. */
function plain(text: string): string {
  return text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*\*|`/g, '')
    .trim()
}

/** Whether a version comes after another one (Semantic Versioning 11). */
export function isNewer(version: string, than: string): boolean {
  const [one, other] = [version, than].map((text) => {
    const [, numbers = '', before] = /^([\d.]+)(?:-(.*))?$/.exec(text) ?? []
    return { numbers: numbers.split('.'), before: before?.split('.') }
  }) as [Parts, Parts]
  const order = orderOf(one.numbers, other.numbers)
  if (order !== 0 || one.before === other.before) return order > 0
  // A version comes after its own pre-releases.
  if (one.before === undefined || other.before === undefined) return one.before === undefined
  return orderOf(one.before, other.before) > 0
}

type Parts = { numbers: string[]; before: string[] | undefined }

/** Numbers come before words. Of two that are equal so far, the longer list comes after. */
function orderOf(one: string[], other: string[]): number {
  for (const [i, part] of one.entries()) {
    const against = other[i]
    if (against === undefined) return 1
    const [isNumber, isAgainst] = [part, against].map((each) => /^\d+$/.test(each))
    if (isNumber !== isAgainst) return isNumber ? -1 : 1
    if (isNumber && Number(part) !== Number(against)) return Number(part) - Number(against)
    if (!isNumber && part !== against) return part < against ? -1 : 1
  }
  return one.length - other.length
}
