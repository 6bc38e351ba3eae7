/**
 * Parses form bodies, query strings and multipart bodies, with bounds. All doors use it, so they see the same parameters in
 * the same bytes. A repeated name becomes an array, which every schema refuses. spec/limits 1.1 and 1.2.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../platform/errors.ts'

export const BODY_BYTES_MAX = 65_536
export const PARAMETERS_MAX = 100
export const NAME_LENGTH_MAX = 64
export const VALUE_BYTES_MAX = 8_192
/** Fields with an address of this site, which may contain a request of an application, encoded once more. */
const ADDRESS_BYTES_MAX = 49_152
/** The most bytes of fields that may be longer. */
const LONGER: Readonly<Record<string, number>> = {
  return_to: ADDRESS_BYTES_MAX,
  query: ADDRESS_BYTES_MAX,
  kept_path: ADDRESS_BYTES_MAX,
  // What a payment link delivers: 4,000 characters.
  delivered_text: 16_384,
}

/** Parameters as received, decoded once, in an object without a prototype. */
export type Parameters = Record<string, string | string[]>

const REPLACEMENT = '\uFFFD'

/**
 * Reads `application/x-www-form-urlencoded` text (WHATWG rules: `+` is a space, a stray `%` stays).
 * Throws malformed_request for text that is not UTF-8, and above the bounds of this file.
 */
export function parseParameters(text: string): Parameters {
  return collect(new URLSearchParams(text))
}

/** Makes a scope accept `multipart/form-data` for its forms. */
export function acceptMultipart(app: FastifyInstance): void {
  app.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => collect(await readMultipart(request, body)),
  )
}

/**
 * Makes a scope accept `multipart/form-data` with one file, at most `bytes_max` long, in this field. The body has it as a
 * Buffer, and no such field without a file.
 * @param pasted a field with text of the same length.
 */
export function acceptFile(app: FastifyInstance, field: string, bytes_max: number, pasted?: string): void {
  acceptFiles(app, { [field]: bytes_max }, pasted === undefined ? undefined : { field: pasted, bytes_max })
}

/**
 * Makes a scope accept `multipart/form-data` with one file in each of these fields, at most so many bytes long.
 * @param pasted a field with text that may be as long as a file.
 */
export function acceptFiles(
  app: FastifyInstance,
  files: Readonly<Record<string, number>>,
  pasted?: { field: string; bytes_max: number },
): void {
  const bodyLimit = Object.values(files).reduce((sum, bytes) => sum + bytes, BODY_BYTES_MAX)
  app.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer', bodyLimit },
    async (request: FastifyRequest, body: Buffer) => {
      const form = await readMultipart(request, body)
      const sent = Object.keys(files).map((field) => ({ field, file: form.get(field) }))
      for (const { field } of sent) form.delete(field)
      const text = pasted === undefined ? null : form.get(pasted.field)
      if (pasted !== undefined) form.delete(pasted.field)
      const fields: Record<string, unknown> = collect(form)
      if (typeof text === 'string')
        fields[pasted!.field] = requireShort(text, pasted!.field, pasted!.bytes_max)
      for (const { field, file } of sent) {
        if (!(file instanceof File)) continue
        if (file.size > files[field]!) throw new TooLarge()
        fields[field] = Buffer.from(await file.arrayBuffer())
      }
      return fields
    },
  )
}

/** Returns a text that may be as long as a file. */
function requireShort(text: string, name: string, bytes_max: number): string {
  if (!isCleanText(text)) throw new NotUtf8(name)
  if (Buffer.byteLength(text) > bytes_max) throw new TooLarge()
  return text
}

/** A file is too large. Its status is that of Fastify's own errors. */
class TooLarge extends Error {
  readonly statusCode = 413
  constructor() {
    super('The file is too large')
  }
}

/** Reads a `multipart/form-data` body with Node's own parser. Throws malformed_request. */
async function readMultipart({ headers }: FastifyRequest, body: Buffer): Promise<FormData> {
  try {
    const type = headers['content-type'] ?? ''
    return await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
  } catch {
    throw malformed('The multipart body cannot be read')
  }
}

/** The parameters whose texts were found clean when they were read. */
const clean = new WeakSet<object>()

function collect(pairs: Iterable<[string, unknown]>): Parameters {
  const parameters: Parameters = Object.create(null)
  let count = 0
  for (const [name, value] of pairs) {
    count += 1
    if (count > PARAMETERS_MAX) throw malformed(`More than ${PARAMETERS_MAX} parameters`)
    if (typeof value !== 'string') throw malformed('Files are not accepted')
    if (name.length > NAME_LENGTH_MAX)
      throw malformed(`A parameter name is longer than ${NAME_LENGTH_MAX} characters`)
    const bytesMax = Object.hasOwn(LONGER, name) ? LONGER[name]! : VALUE_BYTES_MAX
    if (!isCleanText(name) || !isCleanText(value)) throw new NotUtf8('A parameter')
    if (Buffer.byteLength(value) > bytesMax) throw malformed(`${name} is longer than ${bytesMax} bytes`)
    const before = parameters[name]
    parameters[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
  }
  clean.add(parameters)
  return parameters
}

/** Whether Postgres can store a text and all parsers read it alike: no NUL, no broken UTF-8, no lone surrogate. */
export function isCleanText(text: string): boolean {
  return !text.includes('\0') && !text.includes(REPLACEMENT) && text.isWellFormed()
}

/** Characters that make a name look like another one: they change the direction of text, or are invisible. */
const DECEPTIVE =
  /\u034f|[\p{Cc}\u00ad\u061c\u115f\u1160\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]/u

/** Characters that are visible on their own. The joiner (U+200D) and combining marks are not. */
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u

/**
 * Whether a name looks like what it is. It has no control or direction characters, no invisible ones except the joiners of
 * emoji, and at least one visible character. Empty text is honest too.
 */
export function isHonestText(text: string): boolean {
  return !DECEPTIVE.test(text) && (text === '' || VISIBLE.test(text))
}

/** Whether a text of several lines is honest, as isHonestText judges it. */
export function isHonestProse(text: string): boolean {
  return isHonestText(text.replaceAll(/[\t\r\n]/g, ' '))
}

/**
 * Prepares text for a page that is stored as it was sent, such as a shop's description of an order. It removes deceptive
 * characters and line breaks. Returns a dash when nothing visible is left.
 */
export function plainText(text: string): string {
  const shown = withoutDeceptive(text.replaceAll(/\s+/g, ' ')).trim()
  return VISIBLE.test(shown) ? shown : '—'
}

/** Removes the characters that isHonestText refuses. */
export function withoutDeceptive(text: string): string {
  return text.replaceAll(new RegExp(DECEPTIVE, 'gu'), '')
}

/** Returns the code points of such characters in a text of several lines, each once, as `U+200B`. */
export function deceptiveIn(text: string): string[] {
  const found = new Set(text.replaceAll(/[\t\r\n]/g, '').match(new RegExp(DECEPTIVE, 'gu')))
  return [...found].map((sign) => `U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`)
}

/** Deeper than any valid body. A deeper value could exhaust the stack. */
const DEPTH_MAX = 20

/** Whether every string in a parsed body is clean, and the value is at most DEPTH_MAX deep. */
export function isCleanValue(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return isCleanText(value)
  if (typeof value !== 'object' || value === null || clean.has(value)) return true
  if (depth > DEPTH_MAX) return false
  return Object.entries(value).every(([name, inner]) => isCleanText(name) && isCleanValue(inner, depth + 1))
}

/** The request is not UTF-8. It has its own class, so that scopes can answer with their own words. */
export class NotUtf8 extends AppError {
  constructor(what: string) {
    super('malformed_request', `${what} is not valid UTF-8 text`)
  }
}

/** The body is compressed. Its status is that of Fastify's own errors. */
export class EncodedBody extends Error {
  readonly statusCode = 415
}

/** Makes malformed_request with this message. */
export function malformed(message: string): AppError {
  return new AppError('malformed_request', message)
}
