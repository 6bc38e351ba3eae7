/**
 * The right string to sign, and the strings of the usual mistakes: in writing values, choosing parameters, ordering and joining
 * them. Pure.
 */
import { withoutDeceptive } from '../../web/parameters.ts'
import { compareBytes } from '../signing/canonical.ts'
import type { Field } from '../signing/refused-requests.ts'
import { type Mistake, type MistakeCode, type Way, wrong } from './mistakes.ts'

/** The rules of a door's string to sign. */
export type Rules = {
  /** The parameters that the signature leaves out. */
  unsigned: readonly string[]
  /** Whether a parameter with an empty value is in the string. */
  keepsEmpty: boolean
  /** Optional parameters, which a client that signs from a fixed list signs even if it sends none. */
  optional: readonly string[]
  /** The parameters that the door's documents name. */
  known: readonly string[]
  /** Parameters that clients sign by mistake, although they are not sent or not part of the string. */
  extras: readonly Field[]
}

/** A string to sign. The right one has no mistake. */
export type Spelling = { text: string; mistake?: Mistake }

/** Numeric parameters, which may lose or gain zeros before the signature. */
const AMOUNTS = /^(amount|charge_max|period_max|money|points|price|total|fee)$/
/** The parameters, and the characters of the string, up to which every order is tried: 720 orders. */
const PERMUTED_MAX = 6
const PERMUTED_LENGTH_MAX = 4_096
/** The parameters up to which each is tried on its own. No form has more, but a refused JSON body may. */
const CHOSEN_MAX = 100

/** Yields the right string, and then every string with one usual mistake. */
export function* spellings(sent: readonly Field[], rules: Rules): Generator<Spelling> {
  const right = rightFields(sent, rules)
  const base = canonicalJoin(sorted(right))
  yield { text: base }
  for (const { take: text, mistake } of wrongTexts(sent, right, rules))
    if (text !== base) yield { text, mistake: mistake! }
}

function* wrongTexts(sent: readonly Field[], right: Field[], rules: Rules): Generator<Way<string>> {
  for (const [code, write] of VALUES)
    yield wrong(code, canonicalJoin(sorted(right.map(([name, value]) => [name, write(value)]))))
  for (const { take: fields, mistake } of sent.length > CHOSEN_MAX ? [] : otherFields(sent, right, rules))
    yield { take: canonicalJoin(sorted(fields)), mistake }
  for (const order of [...ORDERS, ...everyOrder(right)]) yield wrong('unsorted', canonicalJoin(order(right)))
  for (const [code, join] of JOINS) yield wrong(code, join(sorted(right)))
  // JSON has no order, so its writer keeps that of the request.
  for (const [code, join] of JSON_JOINS) yield wrong(code, join(right))
}

/** Every order of a few parameters, such as the one of a list in a manual. */
function everyOrder(right: Field[]): ((fields: Field[]) => Field[])[] {
  if (right.length > PERMUTED_MAX || canonicalJoin(right).length > PERMUTED_LENGTH_MAX) return []
  return permutations(right.map((_, at) => at)).map((places) => (fields) => places.map((at) => fields[at]!))
}

function permutations(places: number[]): number[][] {
  if (places.length < 2) return [places]
  return places.flatMap((first) =>
    permutations(places.filter((place) => place !== first)).map((rest) => [first, ...rest]),
  )
}

/** The sent parameters that the door signs, in the order of the request. */
export function rightFields(sent: readonly Field[], { unsigned, keepsEmpty }: Rules): Field[] {
  return sent.filter(([name, value]) => !unsigned.includes(name) && (keepsEmpty || value !== ''))
}

/** Writes values as PHP's urlencode does, JavaScript's encodeURIComponent, and variants between them. */
const phpEncode = (value: string) =>
  encodeURIComponent(value).replace(/[!'()*~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
const lowerHex = (value: string) => value.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
const spaceAsPlus = (value: string) => value.replaceAll('%20', '+')
const rawEncode = (value: string) => phpEncode(value).replaceAll('%7E', '~')
const HTML = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' } as Record<string, string>
const asHtml = (value: string) => value.replace(/[&<>"]/g, (c) => HTML[c]!)
const unicodeEscaped = (value: string) =>
  value.replace(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

const VALUES: [code: MistakeCode, write: (value: string) => string][] = [
  ['url_encoded', encodeURIComponent],
  ['url_encoded', (value) => spaceAsPlus(encodeURIComponent(value))],
  ['url_encoded', phpEncode],
  ['url_encoded', (value) => spaceAsPlus(phpEncode(value))],
  ['url_encoded', rawEncode],
  ['url_encoded', (value) => lowerHex(spaceAsPlus(phpEncode(value)))],
  ['url_encoded', (value) => lowerHex(encodeURIComponent(value))],
  ['url_encoded', (value) => (/^https?:\/\//.test(value) ? encodeURIComponent(value) : value)],
  ['url_encoded', encodeURI],
  ['sent_unencoded', (value) => value.replaceAll(' ', '+')],
  ['sent_encoded_twice', decoded],
  ['html_escaped', asHtml],
  ['html_escaped', (value) => asHtml(value).replaceAll("'", '&#039;')],
  ['html_escaped', (value) => asHtml(value).replaceAll("'", '&#39;')],
  ['json_escaped', (value) => value.replaceAll('/', '\\/')],
  ['json_escaped', unicodeEscaped],
  ['json_escaped', (value) => unicodeEscaped(value.replaceAll('/', '\\/'))],
  ['backslashes_lost', (value) => value.replaceAll('\\', '')],
  ['trimmed', (value) => value.trim()],
  ['unseen_lost', withoutDeceptive],
  ['unicode_form', (value) => value.normalize('NFC')],
  ['unicode_form', (value) => value.normalize('NFD')],
  ['quoted', (value) => `"${value}"`],
  ['quoted', (value) => `'${value}'`],
]

function decoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '))
  } catch {
    return value
  }
}

function otherFields(sent: readonly Field[], right: Field[], rules: Rules): Way<Field[]>[] {
  const signed = sent.filter(([name]) => !rules.unsigned.includes(name))
  const has = (name: string) => right.some(([present]) => present === name)
  const names = (fields: readonly Field[]) => fields.map(([name]) => name).join(', ')
  const without = (left: readonly Field[]) => right.filter((field) => !left.includes(field))
  const zeros = right.filter(([, value]) => value === '0')
  const empties = signed.filter(([, value]) => value === '')
  const unknown = right.filter(([name]) => !rules.known.includes(name))
  const notSent = rules.optional.filter((name) => !signed.some(([sentName]) => sentName === name))
  const asEmpty = (missing: readonly string[]) => [...right, ...missing.map((name): Field => [name, ''])]
  const notThere = sent.filter(([name, value]) => rules.unsigned.includes(name) && value !== '')
  return [
    ...(zeros.length > 0 ? [wrong('zero_dropped', without(zeros), names(zeros))] : []),
    ...right.map((field) => wrong('not_signed', without([field]), field[0])),
    ...(unknown.length > 1 ? [wrong('not_signed', without(unknown), names(unknown))] : []),
    ...(rules.keepsEmpty || empties.length === 0
      ? []
      : [
          wrong('empty_kept', signed, names(empties)),
          ...empties.map((field) => wrong('empty_kept', [...right, field], field[0])),
        ]),
    ...['null', 'undefined', 'None'].flatMap((word) =>
      empties.length === 0
        ? []
        : [
            wrong(
              'null_as_text',
              signed.map(([name, value]): Field => [name, value || word]),
              names(empties),
            ),
          ],
    ),
    ...notSent.map((name) => wrong('empty_kept', asEmpty([name]), name)),
    ...(notSent.length > 1 ? [wrong('empty_kept', asEmpty(notSent), notSent.join(', '))] : []),
    ...[...notThere, ...rules.extras]
      .filter(([name]) => !has(name))
      .map((field) => wrong('signed_extra', [...right, field], field[0])),
    ...otherDecimals(right),
  ]
}

/** Other spellings of a decimal, such as `10` for a sent `10.0`. */
function otherDecimals(right: Field[]): Way<Field[]>[] {
  return right.flatMap(([name, value], at) => {
    if (!AMOUNTS.test(name) || !/^\d{1,12}(\.\d{1,6})?$/.test(value)) return []
    const [whole = '', fraction = ''] = value.split('.')
    const short = fraction.replace(/0+$/, '')
    const forms = [
      short === '' ? whole : `${whole}.${short}`,
      ...[1, 2]
        .filter((places) => short.length <= places)
        .map((places) => `${whole}.${short.padEnd(places, '0')}`),
    ]
    return [...new Set(forms)]
      .filter((form) => form !== value)
      .map((form) => wrong('decimal_form', right.with(at, [name, form]), `${name}: ${form} ≠ ${value}`))
  })
}

/** Sorts by name in byte order, as canonicalString does. */
function sorted(fields: Field[]): Field[] {
  return fields.toSorted(([a], [b]) => compareBytes(a, b))
}

const byText = (key: (field: Field) => string) => (fields: Field[]) =>
  fields.toSorted((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0))

const LOCALE = new Intl.Collator()

const ORDERS: ((fields: Field[]) => Field[])[] = [
  (fields) => fields,
  (fields) => sorted(fields).reverse(),
  byText(([name]) => name.toLowerCase()),
  (fields) => fields.toSorted(([a], [b]) => LOCALE.compare(a, b)),
  byText(([, value]) => value),
]

const canonicalJoin = (fields: Field[]) => fields.map(([name, value]) => `${name}=${value}`).join('&')

type Join = [code: MistakeCode, join: (fields: Field[]) => string]
const JSON_JOINS: Join[] = [
  ['json_signed', (fields) => JSON.stringify(Object.fromEntries(fields))],
  ['json_signed', (fields) => JSON.stringify(Object.fromEntries(fields)).replaceAll('/', '\\/')],
]
const JOINS: Join[] = [
  ['trailing_ampersand', (fields) => `${canonicalJoin(fields)}&`],
  ['no_separator', (fields) => fields.map(([name, value]) => `${name}=${value}`).join('')],
  ['no_separator', (fields) => fields.map(([name, value]) => `${name}${value}`).join('')],
  ['no_separator', (fields) => fields.map(([name, value]) => `${name}=${value}`).join(',')],
  ['values_only', (fields) => fields.map(([, value]) => value).join('')],
  ['values_only', (fields) => fields.map(([, value]) => value).join('&')],
  ...JSON_JOINS,
  ['case_changed', (fields) => canonicalJoin(fields).toLowerCase()],
  ['case_changed', (fields) => canonicalJoin(fields).toUpperCase()],
]
