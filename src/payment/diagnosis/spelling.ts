/**
 * The right way and the usual wrong ways to build the string to sign: writing values, choosing parameters, ordering them,
 * joining them, and encoding the bytes. The first way of each step is the right one. Pure.
 */
import { withoutDeceptive } from '../../web/parameters.ts'
import { canonicalString, compareBytes } from '../signing/canonical.ts'
import type { Field } from '../signing/refused-requests.ts'
import { CHARSETS } from './charsets.ts'
import { type Way, wrong } from './mistakes.ts'

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

export type Steps = {
  values: Way<(value: string) => string>[]
  fields: Way<Field[]>[]
  order: Way<(fields: Field[]) => Field[]>[]
  join: Way<(fields: Field[]) => string>[]
  bytes: Way<(text: string) => Buffer | undefined>[]
}

/** Numeric parameters, which may lose or gain zeros before the signature. */
const AMOUNTS = /^(amount|charge_max|period_max|money|points|price|total|fee)$/
const LEFT_OUT_PAIRS_MAX = 12
/** The number of parameters up to which every order is tried: 720 orders. */
const PERMUTED_MAX = 6

/** The steps for these parameters, without wrong ways that yield the right string. */
export function stepsFor(sent: readonly Field[], rules: Rules): Steps {
  const signed = sent.filter(([name]) => !rules.unsigned.includes(name))
  const right = rules.keepsEmpty ? signed : signed.filter(([, value]) => value !== '')
  const steps: Steps = {
    values: [{ take: (value) => value }, ...VALUES.map(([code, take]) => wrong(code, take))],
    fields: [{ take: right }, ...otherFields(sent, signed, right, rules)],
    order: [{ take: sorted }, ...ORDERS.map((take) => wrong('unsorted', take))],
    join: [{ take: canonicalJoin }, ...JOINS.map(([code, take]) => wrong(code, take))],
    bytes: [
      { take: (text) => Buffer.from(text) },
      ...CHARSETS.map(({ name, encode }) => wrong('charset', encode, name)),
    ],
  }
  return effective(steps, right)
}

/** Every pair of parameters left out of the string: too many ways to combine with other mistakes. */
export function pairsLeftOut(sent: readonly Field[], rules: Rules): Way<Field[]>[] {
  const right = rightFields(sent, rules)
  const names = [...new Set(right.map(([name]) => name))]
  if (names.length > LEFT_OUT_PAIRS_MAX) return []
  return names.flatMap((first, i) =>
    names.slice(i + 1).map((second) =>
      wrong(
        'not_signed',
        right.filter(([name]) => name !== first && name !== second),
        `${first}, ${second}`,
      ),
    ),
  )
}

/** Every order of the parameters: too many ways to combine with other mistakes. */
export function everyOrder(sent: readonly Field[], rules: Rules): Steps['order'] {
  const right = rightFields(sent, rules)
  if (right.length > PERMUTED_MAX) return []
  return permutations(right.map((_, at) => at)).map((places) =>
    wrong('unsorted', (fields: Field[]) => places.map((at) => fields[at]!)),
  )
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

const VALUES: [code: Parameters<typeof wrong>[0], take: (value: string) => string][] = [
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

function otherFields(sent: readonly Field[], signed: Field[], right: Field[], rules: Rules): Way<Field[]>[] {
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

const JOINS: [code: Parameters<typeof wrong>[0], take: (fields: Field[]) => string][] = [
  ['trailing_ampersand', (fields) => `${canonicalJoin(fields)}&`],
  ['no_separator', (fields) => fields.map(([name, value]) => `${name}=${value}`).join('')],
  ['no_separator', (fields) => fields.map(([name, value]) => `${name}${value}`).join('')],
  ['no_separator', (fields) => fields.map(([name, value]) => `${name}=${value}`).join(',')],
  ['values_only', (fields) => fields.map(([, value]) => value).join('')],
  ['values_only', (fields) => fields.map(([, value]) => value).join('&')],
  ['json_signed', (fields) => JSON.stringify(Object.fromEntries(fields))],
  ['json_signed', (fields) => JSON.stringify(Object.fromEntries(fields)).replaceAll('/', '\\/')],
  ['case_changed', (fields) => canonicalJoin(fields).toLowerCase()],
  ['case_changed', (fields) => canonicalJoin(fields).toUpperCase()],
]

/** Builds the string with one way of each step. */
export function spell(
  value: (value: string) => string,
  fields: Field[],
  order: (fields: Field[]) => Field[],
  join: (fields: Field[]) => string,
): string {
  return join(order(fields).map(([name, text]): Field => [name, value(text)]))
}

/** Drops wrong ways that change nothing here, and ways that yield the same as an earlier way of their step. */
function effective(steps: Steps, right: Field[]): Steps {
  const [value, order, join] = [steps.values[0]!.take, steps.order[0]!.take, steps.join[0]!.take]
  const base = canonicalString(Object.fromEntries(right))
  const only = <Taken>(ways: Way<Taken>[], text: (take: Taken) => string): Way<Taken>[] => {
    const seen = new Set<string>()
    return ways.filter(({ take, mistake }) => {
      const made = text(take)
      if (seen.has(made) || (mistake !== undefined && made === base)) return false
      seen.add(made)
      return true
    })
  }
  return {
    values: only(steps.values, (take) => spell(take, right, order, join)),
    fields: only(steps.fields, (take) => spell(value, take, order, join)),
    order: only(steps.order, (take) => spell(value, right, take, join)),
    join: only(steps.join, (take) => spell(value, right, order, take)),
    bytes: only(steps.bytes, (take) => take(base)?.toString('hex') ?? base),
  }
}
