/** The form of a link: what its team types, and the link that it describes. spec/links 1.1. */
import { z } from 'zod'
import type { DeliveryKind } from '../../database/tables/links.ts'
import { isHonestProse, isHonestText } from '../../web/parameters.ts'
import { minuteIn, startOfMinute } from '../../web/periods/days.ts'
import { Amount } from '../wire-fields/fields.ts'
import type { LinkDetails } from './acts.ts'
import type { Link } from './find.ts'

const GROUPS_MAX = 10
const GROUP_LENGTH_MAX = 100
const SUGGESTIONS_MAX = 3
const URL_LENGTH_MAX = 1_000
export const DELIVERIES = ['none', 'text', 'url', 'codes'] as const satisfies DeliveryKind[]

export const SALE_ALERTS = ['each', 'daily', 'off'] as const

/** Counts code points, as the database does. */
const isWithin = (text: string, max: number) => [...text].length <= max

const prose = (max: number) =>
  z
    .string()
    .transform((text) => text.replaceAll('\r\n', '\n').trim())
    .refine((text) => isWithin(text, max) && isHonestProse(text))

const points = z.string().trim().pipe(Amount).transform(BigInt)

const whole = (min: number, max: number) =>
  z
    .string()
    .trim()
    .regex(/^\d{1,7}$/)
    .transform(Number)
    .refine((n) => n >= min && n <= max)

/** An empty field is null. */
const orNone = <Value extends z.ZodType<unknown, string>>(value: Value) =>
  z
    .string()
    .trim()
    .pipe(z.union([z.literal('').transform(() => null), value]))

/** A field of another kind than the chosen one counts for nothing. A faulty one is still marked, so nobody overlooks it. */
const unlessChosen = <Value extends z.ZodType<unknown, string>, Nothing>(value: Value, nothing: Nothing) =>
  orNone(value).transform(() => nothing)

const suggestions = z
  .string()
  .transform((text) => text.split(/[\s,，、]+/).filter((part) => part !== ''))
  .pipe(z.array(points).max(SUGGESTIONS_MAX))

const groups = z
  .string()
  .transform((text) => text.split(/[,，、\n]/).map((name) => name.trim()))
  .transform((names) => [
    ...new Map(names.filter(Boolean).map((name) => [name.toLowerCase(), name])).values(),
  ])
  .refine((names) => names.length <= GROUPS_MAX)
  .refine((names) => names.every((name) => isWithin(name, GROUP_LENGTH_MAX) && isHonestText(name)))

/** Whether a buyer can be sent to an address: https, and no user name in it. */
function isDeliverable(url: string): boolean {
  if (url.length > URL_LENGTH_MAX || !/^https:\/\/[!-~]+$/.test(url) || !URL.canParse(url)) return false
  const { username, password } = new URL(url)
  return username === '' && password === ''
}

const address = z.string().trim().refine(isDeliverable)

/** What the form chose first. The other fields depend on it. */
export const LinkKind = z.object({
  price: z.enum(['fixed', 'free']).default('fixed'),
  delivery: z.enum(DELIVERIES).default('none'),
})

type Bounds = {
  /** The site's time zone, in which moments are typed. */
  zone: string
  /** The highest free price that the owner's level allows. */
  freeMax: bigint
}

/**
 * Whether a text is a minute of a day that exists. A browser fills in the year 0026 for a typed 26, so a year has the digits of this
 * millennium.
 */
function isMinute(text: string): boolean {
  if (!/^2\d{3}-\d\d-\d\dT\d\d:\d\d$/.test(text)) return false
  const moment = new Date(`${text}Z`)
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text)
}

/** The form of a link of this kind. */
export function linkForm({ price, delivery }: z.output<typeof LinkKind>, { zone, freeMax }: Bounds) {
  const isFree = price === 'free'
  const moment = orNone(
    z
      .string()
      .refine(isMinute)
      .transform((minute) => startOfMinute(minute, zone)),
  )
  return (
    z
      .object({
        title: z
          .string()
          .trim()
          .refine((text) => text !== '' && isWithin(text, 80) && isHonestText(text)),
        description: prose(2_000),
        thanks: prose(500),
        amount: isFree ? unlessChosen(points, null) : points,
        amount_min: isFree ? points : unlessChosen(points, null),
        amount_max: isFree ? points.refine((most) => most <= freeMax) : unlessChosen(points, null),
        suggestions: isFree ? suggestions : suggestions.transform((): bigint[] => []),
        quantity_max: isFree ? unlessChosen(whole(1, 100), 1) : whole(1, 100),
        stock: orNone(whole(1, 1_000_000)),
        member_max: orNone(whole(1, 1_000)),
        sells_from: moment,
        sells_until: moment,
        min_level: whole(0, 4),
        allow_groups: groups,
        messages: z.enum(['off', 'private', 'public']),
        low_stock: whole(1, 1_000),
        sale_alerts: z.enum(SALE_ALERTS).default('off'),
        shows_stock: z.string().optional(),
        // A link that has sold shows the fields of its kind alone.
        delivered_text:
          delivery === 'text'
            ? prose(4_000).refine((text) => text !== '')
            : prose(4_000)
                .default('')
                .transform(() => undefined),
        delivered_url: delivery === 'url' ? address : unlessChosen(address, undefined).optional(),
      })
      // A refinement would also run on fields that are faulty.
      .transform(({ delivered_text, delivered_url, ...form }, { addIssue }): LinkDetails => {
        for (const path of faultsOf(form)) addIssue({ code: 'custom', path: [path] })
        const delivered = delivered_text ?? delivered_url ?? ''
        return { ...form, delivery, delivered, shows_stock: form.shows_stock === 'on' }
      })
  )
}

/** The fields that do not fit to others. */
function faultsOf({
  amount,
  quantity_max,
  amount_min,
  amount_max,
  suggestions,
  sells_from,
  sells_until,
}: Omit<LinkDetails, 'delivery' | 'delivered' | 'shows_stock'>): (keyof LinkDetails)[] {
  const faults: (keyof LinkDetails)[] = []
  if (amount !== null && amount * BigInt(quantity_max) > BigInt(Number.MAX_SAFE_INTEGER))
    faults.push('amount')
  if (amount_min !== null && amount_max !== null) {
    if (amount_min > amount_max) faults.push('amount_max')
    if (suggestions.some((each) => each < amount_min || each > amount_max)) faults.push('suggestions')
  }
  if (sells_from !== null && sells_until !== null && sells_until <= sells_from) faults.push('sells_until')
  return faults
}

/** What the fields of the form show. */
export type LinkFields = ReturnType<typeof fieldsOf>

/** Returns what the form shows of a link, or of a new one. */
export function fieldsOf(
  link: (Omit<LinkDetails, 'delivered'> & Pick<Link, 'slug'>) | undefined,
  delivered: string,
  zone: string,
) {
  const at = (moment: Date | null | undefined) => (moment ? minuteIn(zone, moment) : '')
  return {
    title: link?.title ?? '',
    description: link?.description ?? '',
    thanks: link?.thanks ?? '',
    price: link && link.amount === null ? 'free' : 'fixed',
    amount: link?.amount ?? '',
    amount_min: link?.amount_min ?? '',
    amount_max: link?.amount_max ?? '',
    suggestions: link?.suggestions.join(', ') ?? '',
    quantity_max: link?.quantity_max ?? 1,
    stock: link?.stock ?? '',
    member_max: link?.member_max ?? '',
    sells_from: at(link?.sells_from),
    sells_until: at(link?.sells_until),
    min_level: link?.min_level ?? 0,
    allow_groups: link?.allow_groups.join(', ') ?? '',
    messages: link?.messages ?? 'off',
    low_stock: link?.low_stock ?? 5,
    sale_alerts: link?.sale_alerts ?? 'each',
    shows_stock: link?.shows_stock ?? true,
    delivery: link?.delivery ?? 'none',
    delivered_text: link?.delivery === 'text' ? delivered : '',
    delivered_url: link?.delivery === 'url' ? delivered : '',
  }
}
