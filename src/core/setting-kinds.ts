/** The kinds of site settings: what each may hold, how a form enters it, and what its number counts. */
import { z } from 'zod'
import { isUsableAccent } from './brand.ts'

/** What a number counts. */
export type Unit =
  | 'percent'
  | 'points'
  | 'minutes'
  | 'seconds'
  | 'hours'
  | 'days'
  | 'times'
  | 'perMinute'
  | 'perHour'

type EnteredKind =
  | 'rate'
  | 'points'
  | 'pointsOrNone'
  | 'idOrNone'
  | 'text'
  | 'line'
  | 'link'
  | 'picture'
  | 'pairs'
  | 'hosts'
  | 'colour'
  | 'timeZone'

/** The form control of a setting. */
export type SettingControl =
  | { kind: 'choice'; options: readonly string[] }
  | { kind: 'number'; min: number; max: number }
  | { kind: EnteredKind; max?: number }

export type Kind<Value> = { schema: z.ZodType<Value>; control: SettingControl; unit?: Unit }

/** One of several words. A choice of two is a switch. */
export function choice<const Option extends string>(...options: [Option, ...Option[]]): Kind<Option> {
  return { schema: z.enum(options), control: { kind: 'choice', options } }
}

export function whole(min: number, max: number, unit?: Unit): Kind<number> {
  const schema = z.coerce.number().int().min(min).max(max)
  return { schema, control: { kind: 'number', min, max }, ...(unit && { unit }) }
}

/** A limit of acts, which 0 turns off. */
export const limit = (unit: Unit) => whole(0, 1_000_000, unit)

/** A rate between 0 and 1 as exact decimal text. Postgres computes with it as numeric, never as float. */
export const rate = {
  schema: z
    .string()
    .regex(/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/, 'must be a decimal between 0 and 1 with at most 6 places'),
  control: { kind: 'rate' },
  unit: 'percent',
} satisfies Kind<string>

/** Whole points as text, exact above 2^53. Postgres computes with them. */
export const points: Kind<string> = {
  schema: z.string().regex(/^\d{1,16}$/, 'must be a whole number of points'),
  control: { kind: 'points' },
  unit: 'points',
}

export const pointsOrNone: Kind<string> = {
  schema: z.union([points.schema, z.literal('')]),
  control: { kind: 'pointsOrNone' },
  unit: 'points',
}

/** The id of a thing at the forum, or empty. */
export const idOrNone: Kind<string> = {
  schema: z.string().regex(/^([1-9]\d{0,8})?$/, 'must be a number from 1, or empty'),
  control: { kind: 'idOrNone' },
}

/** A few different whole numbers from 1, separated by commas, the smallest first. */
export const amounts: Kind<string> = {
  schema: z
    .string()
    .regex(/^[1-9]\d{0,8}( ?, ?[1-9]\d{0,8}){0,5}$/, 'must be one to six whole numbers such as 10,50,100')
    .refine((text) => amountsIn(text).every((each, i, all) => i === 0 || each > all[i - 1]!), 'must rise'),
  control: { kind: 'line', max: 60 },
}

/** Reads a setting of the kind `amounts`. */
export function amountsIn(text: string): bigint[] {
  return text.split(',').map((each) => BigInt(each.trim()))
}

const upTo = (max: number) => z.string().max(max, `must be at most ${max} characters`)

/** Text of several lines. */
export const text = (max: number): Kind<string> => ({ schema: upTo(max), control: { kind: 'text', max } })

export const line = (max: number): Kind<string> => ({
  schema: upTo(max).regex(/^[^\p{Cc}\p{Co}]*$/u, 'must be one line of text'),
  control: { kind: 'line', max },
})

function isAliasOrEmpty(part: string): boolean {
  const names = part.split('=').map((name) => name.trim())
  return part.trim() === '' || (names.length === 2 && names.every((name) => /^\S{1,100}$/.test(name)))
}

/** Pairs of names, separated by commas or lines. */
export const pairs: Kind<string> = {
  schema: upTo(10_000).refine(
    (text) => text.split(/[,\n]/).every(isAliasOrEmpty),
    'must be pairs like 开发者 = developers, separated by commas',
  ),
  control: { kind: 'pairs', max: 10_000 },
}

const HOST = /^(?=.{1,253}(?::|$))[a-z0-9_-]+(?:\.[a-z0-9_-]+)+(?::\d{1,5})?$/

/** Names of hosts, one on each line, with a port where it is not 443. */
export const hosts: Kind<string> = {
  schema: upTo(10_000).refine(
    (text) => text.split('\n').every((line) => line.trim() === '' || HOST.test(line.trim())),
    'must be names of hosts such as app.example.com, one on each line',
  ),
  control: { kind: 'hosts', max: 10_000 },
}

function isHttps(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'https:' && !/[\s\p{Cc}]/u.test(text)
}

function isLink(text: string): boolean {
  return isHttps(text) || /^mailto:[^\s@<>"']+@[^\s@<>"']+$/.test(text)
}

/** The address of a page or a mailbox. */
export const link: Kind<string> = {
  schema: upTo(500).refine((text) => text === '' || isLink(text), 'must begin with https:// or mailto:'),
  control: { kind: 'link', max: 500 },
}

/** The address of an uploaded picture (site-logo.ts). */
const UPLOADED_LOGO = /^\/brand\/logo\.[0-9a-f]{16}\.png$/

/** The address of a picture, which pages show beside the site's name. */
export const picture: Kind<string> = {
  schema: upTo(500).refine(
    (text) => text === '' || UPLOADED_LOGO.test(text) || isHttps(text),
    'must begin with https://',
  ),
  control: { kind: 'picture', max: 500 },
}

/** A colour as browsers write it, such as #0e6a5f; empty for the service's own. */
export const colour: Kind<string> = {
  schema: z
    .string()
    .regex(/^(#[0-9a-fA-F]{6})?$/, 'must be a colour such as #0e6a5f')
    .refine(
      (text) => text === '' || isUsableAccent(text),
      'must be darker: its contrast with the page is below 3 : 1',
    ),
  control: { kind: 'colour' },
}

/** A time zone by its name in the IANA database. */
export const timeZone: Kind<string> = {
  schema: z
    .string()
    .refine(
      (text) => Intl.supportedValuesOf('timeZone').includes(text) || text === 'UTC',
      'must be a time zone such as Asia/Shanghai',
    ),
  control: { kind: 'timeZone' },
}
