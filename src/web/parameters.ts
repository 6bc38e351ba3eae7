/**
 * One reading of form bodies, query strings and multipart bodies, with bounds, so that no two doors see
 * different parameters in the same bytes. A doubled name becomes an array, which every schema refuses.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../platform/errors.ts'

export const BODY_BYTES_MAX = 65_536
export const PARAMETERS_MAX = 100
export const NAME_LENGTH_MAX = 64
export const VALUE_BYTES_MAX = 8_192

/** Parameters as received: decoded once, prototype-free. */
export type Parameters = Record<string, string | string[]>

const REPLACEMENT = '\uFFFD'

/**
 * Reads `application/x-www-form-urlencoded` text (WHATWG rules: `+` is a space, a stray `%` stays).
 * Throws malformed_request for text that is not UTF-8, and beyond the bounds of decisions.md 11.
 */
export function parseParameters(text: string): Parameters {
  return collect(new URLSearchParams(text))
}

/** Lets a scope take `multipart/form-data` where it takes forms. */
export function acceptMultipart(app: FastifyInstance): void {
  app.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer' },
    (request: FastifyRequest, body: Buffer) => parseMultipart(body, request.headers['content-type'] ?? ''),
  )
}

/** Reads a `multipart/form-data` body with the platform's own parser. Files are refused: malformed_request. */
async function parseMultipart(body: Buffer, contentType: string): Promise<Parameters> {
  let form: FormData
  try {
    form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData()
  } catch {
    throw malformed('The multipart body cannot be read')
  }
  return collect(form)
}

function collect(pairs: Iterable<[string, unknown]>): Parameters {
  const parameters: Parameters = Object.create(null)
  let count = 0
  for (const [name, value] of pairs) {
    count += 1
    if (count > PARAMETERS_MAX) throw malformed(`More than ${PARAMETERS_MAX} parameters`)
    if (typeof value !== 'string') throw malformed('Files are not accepted')
    if (name.length > NAME_LENGTH_MAX)
      throw malformed(`A parameter name is longer than ${NAME_LENGTH_MAX} characters`)
    if (Buffer.byteLength(value) > VALUE_BYTES_MAX)
      throw malformed(`A value is longer than ${VALUE_BYTES_MAX} bytes`)
    if (!isCleanText(name) || !isCleanText(value)) throw new NotUtf8('A parameter')
    const before = parameters[name]
    parameters[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
  }
  return parameters
}

/** Text that Postgres can store and that means the same everywhere: no NUL, no broken UTF-8, no lone surrogate. */
export function isCleanText(text: string): boolean {
  return !text.includes('\0') && !text.includes(REPLACEMENT) && text.isWellFormed()
}

/** Signs that make a name look like another one: they reverse or hide what follows, or take room and show nothing. */
const DECEPTIVE =
  /\u034f|[\p{Cc}\u00ad\u061c\u115f\u1160\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]/u

/** What can be seen on its own. The joiner (U+200D) is no such sign, nor is what only changes the one before it. */
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u

/**
 * Whether a name reads as what it is: no control or direction characters, nothing invisible but the joints of emoji, and
 * something to see. Text of no characters is honest too.
 */
export function isHonestText(text: string): boolean {
  return !DECEPTIVE.test(text) && (text === '' || VISIBLE.test(text))
}

/** As isHonestText, for text of several lines. */
export function isHonestProse(text: string): boolean {
  return isHonestText(text.replaceAll(/[\t\r\n]/g, ' '))
}

/**
 * Text that others chose and that must be kept as it was sent (what a shop calls its goods), as pages show it: without the
 * signs that make text look like another one, on one line. A dash where nothing is left to see.
 */
export function plainText(text: string): string {
  const shown = withoutDeceptive(text.replaceAll(/\s+/g, ' ')).trim()
  return VISIBLE.test(shown) ? shown : '—'
}

/** A text without the signs that isHonestText refuses. */
export function withoutDeceptive(text: string): string {
  return text.replaceAll(new RegExp(DECEPTIVE, 'gu'), '')
}

/** Those signs in a text of several lines, each once, by their numbers: U+200B. */
export function deceptiveIn(text: string): string[] {
  const found = new Set(text.replaceAll(/[\t\r\n]/g, '').match(new RegExp(DECEPTIVE, 'gu')))
  return [...found].map((sign) => `U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`)
}

/** Deeper than any body of ours; more would only serve to exhaust whoever walks it. */
const DEPTH_MAX = 20

/** Whether every string inside a parsed JSON value is clean, and the value is not absurdly deep. */
export function isCleanValue(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return isCleanText(value)
  if (typeof value !== 'object' || value === null) return true
  if (depth > DEPTH_MAX) return false
  return Object.entries(value).every(([name, inner]) => isCleanText(name) && isCleanValue(inner, depth + 1))
}

/** For scopes that say in their own words what is wrong. */
export class NotUtf8 extends AppError {
  constructor(what: string) {
    super('malformed_request', `${what} is not valid UTF-8 text`)
  }
}

export function malformed(message: string): AppError {
  return new AppError('malformed_request', message)
}
