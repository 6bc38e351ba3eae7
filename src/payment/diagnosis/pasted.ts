/**
 * Reads the parameters of a pasted request in their order. The text may be an address, a form body, JSON, an HTTP request,
 * a curl command, lines of `name=value`, or PHP, Python or JavaScript. The reading is lenient. Pure.
 */

import type { Field } from '../signing/refused-requests.ts'
import { PAYMENT_ID_PATTERN } from '../wire-fields/fields.ts'

const FIELDS_MAX = 100

export type Pasted = {
  fields: Field[]
  /** Names of lists and objects, which no signature covers. */
  nested: string[]
  /** The Payment ID in the address, if any. */
  payment_id?: string | undefined
  /** Whether `&amp;` stood between the parameters, as in the source of a page, and was read as `&`. */
  isUnescaped?: boolean | undefined
}

/** Reads a pasted text. Undefined if it contains no parameters, or more than FIELDS_MAX. */
export function readPasted(text: string): Pasted | undefined {
  const plain = text.replace(/^\uFEFF/, '').trim()
  const read =
    readCurl(plain) ??
    readRequest(plain) ??
    readAddress(plain) ??
    readJson(plain) ??
    readCode(plain) ??
    readLines(plain)
  if (read === undefined || read.fields.length === 0 || read.fields.length > FIELDS_MAX) return undefined
  return read
}

const PAYMENT_ID = new RegExp(
  `/payment/(?:pay|query|transfer|orders|transfers|mandate|mandates)/(${PAYMENT_ID_PATTERN})(?![a-z0-9])`,
)

const QUOTED_OR_BARE = `'([^']*)'|"((?:[^"\\\\]|\\\\.)*)"|(\\S+)`
const CURL_DATA = new RegExp(`\\s(-d|-F|--data[a-z-]*|--form)[\\s=]+(?:${QUOTED_OR_BARE})`, 'g')
/** The flags of curl with unencoded values. */
const CURL_RAW = /^(-F|--form|--data-urlencode)$/

function readCurl(text: string): Pasted | undefined {
  if (!/^curl\s/.test(text)) return undefined
  const address = /(https?:\/\/[^\s'"]+)/.exec(text)?.[1] ?? ''
  const parts = [...text.matchAll(CURL_DATA)].map(([, flag, single, double, bare]): Pasted | undefined => {
    const value = single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? bare ?? ''
    if (!CURL_RAW.test(flag!)) return readJson(value) ?? readForm(value)
    const at = value.indexOf('=')
    return { fields: [[value.slice(0, at), value.slice(at + 1)]], nested: [] }
  })
  return together([readAddress(address), ...parts])
}

/** Joins the parts of one request. */
function together(parts: (Pasted | undefined)[]): Pasted | undefined {
  const read = parts.filter((part) => part !== undefined)
  if (read.length === 0) return undefined
  return {
    fields: read.flatMap(({ fields }) => fields),
    nested: read.flatMap(({ nested }) => nested),
    payment_id: read.find(({ payment_id }) => payment_id !== undefined)?.payment_id,
    isUnescaped: read.some(({ isUnescaped }) => isUnescaped),
  }
}

/** Reads `POST /path?query HTTP/1.1`, headers, an empty line, and the body. */
function readRequest(text: string): Pasted | undefined {
  const [, address, rest] = /^(?:GET|POST) +(\S+)(?: +HTTP\/[\d.]+)?\r?\n(.*)$/s.exec(`${text}\n`) ?? []
  if (address === undefined || rest === undefined) return undefined
  const body = /\r?\n\r?\n(.*)$/s.exec(`\n${rest}`)?.[1]?.trim() ?? ''
  const inBody = body === '' ? undefined : (readJson(body) ?? readCode(body) ?? readLines(body))
  return together([readAddress(address), inBody])
}

/** Reads a whole address, or one that begins with its path. */
function readAddress(text: string): Pasted | undefined {
  if (!/^(https?:\/\/|\/)\S*$/i.test(text)) return undefined
  const [, path = '', query = ''] = /^([^?#]*)\??([^#]*)/.exec(text)!
  return { ...readForm(query), payment_id: PAYMENT_ID.exec(path)?.[1] }
}

/** Reads a form as the doors do, after `&amp;` became `&`. */
function readForm(text: string): Pasted {
  const fields: Field[] = [...new URLSearchParams(text.replaceAll('&amp;', '&'))]
  return { fields, nested: [], isUnescaped: text.includes('&amp;') }
}

function readJson(text: string): Pasted | undefined {
  if (!text.startsWith('{')) return undefined
  // Keeps numbers as written, because 10.0 and 10 are different texts.
  const asWritten = (_name: string, value: unknown, { source }: { source?: string } = {}) =>
    typeof value === 'number' ? new Written(source ?? String(value)) : value
  let parsed: Record<string, unknown>
  try {
    parsed = JSON.parse(text, asWritten as (name: string, value: unknown) => unknown)
  } catch {
    return undefined
  }
  const fields: Field[] = []
  const nested: string[] = []
  for (const [name, value] of Object.entries(parsed)) {
    if (typeof value === 'object' && value !== null && !(value instanceof Written)) nested.push(name)
    else fields.push([name, value instanceof Written ? value.text : String(value)])
  }
  return { fields, nested }
}

class Written {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const STRING = `'((?:[^'\\\\]|\\\\.)*)'|"((?:[^"\\\\]|\\\\.)*)"`
const NAME = `(?:['"]([^'"\\n]{1,64})['"]|([\\w.$-]{1,64}))`
/** PHP's `'name' => 'value'`, and `'name': 'value'` of Python and JavaScript. */
const IN_CODE = new RegExp(`${NAME}\\s*(?:=>|:)\\s*(?:${STRING}|([^\\s,'"()\\[\\]{}][^,\\n)\\]}]*))`, 'g')
/** print_r's `[name] => value`: the value is the rest of the line. */
const PRINTED = /^[ \t]*\[([^\]\n]{1,64})\] => ?(.*)$/gm

function readCode(text: string): Pasted | undefined {
  const printed = [...text.matchAll(PRINTED)].map(([, name, value]): Field => [name!, value!])
  if (printed.length > 0) return { fields: printed, nested: [] }
  if (!/^(array\s*\(|\[|\{|\$|dict\(|['"])/i.test(text)) return undefined
  const fields = [...text.matchAll(IN_CODE)].map(([, quoted, bare, single, double, plain]): Field => {
    const value = single ?? double ?? plain?.trim() ?? ''
    return [quoted ?? bare ?? '', plain === undefined ? value.replace(/\\(['"\\/])/g, '$1') : value]
  })
  return fields.length === 0 ? undefined : { fields, nested: [] }
}

/** Reads a form body on one line, or one `name=value` or `name: value` on each line without decoding. */
function readLines(text: string): Pasted | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  if (lines.length === 1 && text.includes('=')) return readForm(text.replace(/^\?/, ''))
  // A terminal or a mail program has wrapped the body.
  if (lines.length > 1 && lines.slice(1).every((line) => line.startsWith('&')))
    return readForm(lines.join(''))
  const fields = lines.flatMap((line): readonly Field[] => {
    if (/&[\w.-]+=/.test(line)) return readForm(line.trim()).fields
    const [, name, rest] = /^\s*['"]?([^\s:='"]{1,64})['"]?\s*[=:]\s?(.*)$/s.exec(line) ?? []
    // Trims in separate steps: one expression for all would backtrack over every space of a long line.
    return name === undefined ? [] : [[name, rest!.trimEnd().replace(/[,;]$/, '')]]
  })
  return fields.length === 0 ? undefined : { fields, nested: [] }
}
