/** The schema and the default of each site setting. */
import { z } from 'zod'
import { isUsableAccent } from './brand.ts'

/** How a value is entered. Choices and numbers tell it by their own type. */
export type EnteredKind =
  | 'rate'
  | 'points'
  | 'pointsOrNone'
  | 'text'
  | 'line'
  | 'link'
  | 'picture'
  | 'pairs'
  | 'hosts'
  | 'colour'
  | 'timeZone'
/** What each schema of a text is entered as, and its length where that is bounded. */
export const ENTERED = z.registry<{ kind: EnteredKind; max?: number }>()

/** A rate between 0 and 1 as exact decimal text. Postgres computes with it as numeric, never as float. */
export const rate = z
  .string()
  .regex(/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/, 'must be a decimal between 0 and 1 with at most 6 places')
  .register(ENTERED, { kind: 'rate' })

/** Whole points as text, exact above 2^53. Postgres computes with them. */
const points = z
  .string()
  .regex(/^\d{1,16}$/, 'must be a whole number of points')
  .register(ENTERED, { kind: 'points' })

const pointsOrNone = z.union([points, z.literal('')]).register(ENTERED, { kind: 'pointsOrNone' })

/** One setting for each trust level: `name_tl0` to `name_tl4`. */
function byTrustLevel<const Name extends string>(
  name: Name,
  schema: z.ZodType<string>,
  defaults: readonly [string, string, string, string, string],
) {
  const entries = defaults.map((value, level) => [`${name}_tl${level}`, schema.default(value)])
  return Object.fromEntries(entries) as Record<
    `${Name}_tl${0 | 1 | 2 | 3 | 4}`,
    z.ZodDefault<z.ZodType<string>>
  >
}

const limit = z.coerce.number().int().min(0).max(1_000_000)

function isAliasOrEmpty(part: string): boolean {
  const names = part.split('=').map((name) => name.trim())
  return part.trim() === '' || (names.length === 2 && names.every((name) => /^\S{1,100}$/.test(name)))
}

const announcement = z
  .string()
  .max(500, 'must be at most 500 characters')
  .register(ENTERED, { kind: 'text', max: 500 })

const groupAliases = z
  .string()
  .max(10_000, 'must be at most 10000 characters')
  .refine(
    (text) => text.split(/[,\n]/).every(isAliasOrEmpty),
    'must be pairs like 开发者 = developers, separated by commas',
  )
  .register(ENTERED, { kind: 'pairs', max: 10_000 })

const line = (max: number) =>
  z
    .string()
    .max(max, `must be at most ${max} characters`)
    .regex(/^[^\p{Cc}\p{Co}]*$/u, 'must be one line of text')
    .register(ENTERED, { kind: 'line', max })

/** A name that pages show. */
const siteName = line(40)

/** What one point, or several, are called. */
const unit = line(20)

/** An address that the footer links to: a page or a mailbox. */
const link = z
  .string()
  .max(500, 'must be at most 500 characters')
  .refine((text) => text === '' || isLink(text), 'must begin with https:// or mailto:')
  .register(ENTERED, { kind: 'link', max: 500 })

const HOST = /^(?=.{1,253}(?::|$))[a-z0-9_-]+(?:\.[a-z0-9_-]+)+(?::\d{1,5})?$/

/** Names of hosts, one on each line, with a port where it is not 443. */
const hosts = z
  .string()
  .max(10_000, 'must be at most 10000 characters')
  .refine(
    (text) => text.split('\n').every((line) => line.trim() === '' || HOST.test(line.trim())),
    'must be names of hosts such as app.example.com, one on each line',
  )
  .register(ENTERED, { kind: 'hosts', max: 10_000 })

/** The address of an uploaded picture (site-logo.ts). */
const UPLOADED_LOGO = /^\/brand\/logo\.[0-9a-f]{16}\.png$/

/** The address of a picture, which pages show beside the site's name. */
const picture = z
  .string()
  .max(500, 'must be at most 500 characters')
  .refine((text) => text === '' || UPLOADED_LOGO.test(text) || isHttps(text), 'must begin with https://')
  .register(ENTERED, { kind: 'picture', max: 500 })

function isHttps(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'https:' && !/[\s\p{Cc}]/u.test(text)
}

function isLink(text: string): boolean {
  return isHttps(text) || /^mailto:[^\s@<>"']+@[^\s@<>"']+$/.test(text)
}

/** A colour as browsers write it, such as #0e6a5f; empty for the service's own. */
const colour = z
  .string()
  .regex(/^(#[0-9a-fA-F]{6})?$/, 'must be a colour such as #0e6a5f')
  .refine(
    (text) => text === '' || isUsableAccent(text),
    'must be darker: its contrast with the page is below 3 : 1',
  )
  .register(ENTERED, { kind: 'colour' })

/** A time zone by its name in the IANA database. */
const timeZone = z
  .string()
  .refine(
    (text) => Intl.supportedValuesOf('timeZone').includes(text) || text === 'UTC',
    'must be a time zone such as Asia/Shanghai',
  )
  .register(ENTERED, { kind: 'timeZone' })

export const definitions = {
  /** The site's name in each language. Pages use the other language's where one is empty, and else Tessera. */
  site_name_en: siteName.default(''),
  site_name_zh_cn: siteName.default(''),
  /** What a point is called: one and many in English, and in Chinese. */
  point_one_en: unit.default(''),
  point_many_en: unit.default(''),
  point_zh_cn: unit.default(''),
  /** The picture beside the site's name, and the colour of what can be pressed. */
  site_logo: picture.default(''),
  site_accent: colour.default(''),
  /** Links in the footer. The page that says how points are earned also links to the forum. */
  link_forum: link.default(''),
  link_terms: link.default(''),
  link_privacy: link.default(''),
  link_contact: link.default(''),
  /** The time zone of every time, filter and figure on pages. */
  time_zone: timeZone.default('Asia/Shanghai'),
  /** While on, the service refuses payments, transfers and new orders. Reads and notifications go on. */
  payments_read_only: z.enum(['off', 'on']).default('off'),
  /**
   * Whether a second administrator must approve refunds, reversals, grants, adjustments, terms, fees, transfer rates and
   * bounds, the forum bridge, and switching this off.
   */
  second_approver: z.enum(['off', 'on']).default('off'),
  /** Shown on every page, in the page's language or else in the other one. */
  announcement_en: announcement.default(''),
  announcement_zh_cn: announcement.default(''),
  /** Share of a payment that the platform keeps, unless the application has its own rate. */
  points_payment_fee_rate: rate.default('0.05'),
  /** Whether applications may transfer points at all. */
  points_transfers: z.enum(['on', 'off']).default('on'),
  /** Share of a transfer that its sender pays on top, by the sender's trust level. */
  ...byTrustLevel('points_transfer_fee_rate', rate, ['0.10', '0.05', '0.03', '0.01', '0.005']),
  /** Least and most points of one transfer. */
  ...byTrustLevel('points_transfer_min_amount', points, ['1', '1', '1', '1', '1']),
  ...byTrustLevel('points_transfer_max_amount', points, ['1000', '5000', '20000', '50000', '100000']),
  /** Most points a sender may transfer in a day (Asia/Shanghai); empty means no limit. */
  ...byTrustLevel('points_transfer_daily_limit', pointsOrNone, ['', '', '', '', '']),
  /** Whether members may permit payment applications to charge them later, within limits. */
  mandates: z.enum(['off', 'on']).default('off'),
  /** Most points of one charge, by the level of the charged member. */
  ...byTrustLevel('mandate_charge_max', points, ['0', '500', '2000', '5000', '20000']),
  /** Most points that all mandates of a member may take in a month, by the level of the member. */
  ...byTrustLevel('mandate_month_max', points, ['0', '2000', '10000', '50000', '200000']),
  /** Agreeing to more points a period than this needs a recent sign-in; 0 means always, empty means never. */
  mandates_fresh_sign_in_above: pointsOrNone.default('0'),
  /** How long a new order can be paid. */
  order_expiry_minutes: z.coerce.number().int().min(1).max(10_080).default(30),
  /** Trust level needed to register an OAuth application. */
  apps_min_trust_level: z.coerce.number().int().min(0).max(4).default(0),
  /** Whether an application that another one registered works for everyone at once, or for its owner only until confirmed. */
  apps_by_any_token: z.enum(['open', 'draft']).default('open'),
  /**
   * Whether a client may use the address of a document with its metadata as client_id, without anybody's registration, and in
   * `listed` the hosts of these clients.
   */
  client_id_metadata_documents: z.enum(['off', 'listed', 'any']).default('off'),
  client_id_metadata_hosts: hosts.default(''),
  /**
   * How long an application may repeat a refresh whose answer was lost. 0 treats every second use of a refresh token as
   * theft.
   */
  refresh_grace_seconds: z.coerce.number().int().min(0).max(60).default(30),
  /** How long a key signs ID tokens before the next one takes over. */
  signing_key_days: z.coerce.number().int().min(1).max(3_650).default(90),
  /** Failed client authentications a minute, for one client and one address; 0 is no limit. */
  limit_token_failures: limit.default(60),
  /** Refreshes of one grant; each minute of its age allows one more. 0 is no limit. */
  limit_refreshes: limit.default(100),
  /** Device codes a minute, for one application and one network; 0 is no limit. */
  limit_device_requests: limit.default(60),
  /** Documents of clients that are fetched for one member in an hour; 0 is no limit. */
  limit_metadata_fetches: limit.default(30),
  /** Requests a minute of one payment application; 0 is no limit. */
  limit_api_requests: limit.default(6_000),
  /** Refused requests a minute that one application's owner can examine later; 0 is no limit. */
  limit_refused_requests: limit.default(60),
  /** Pages a minute for one address; 0 is no limit. */
  limit_pages: limit.default(300),
  /** Applications that a member may register in an hour; 0 is no limit. */
  limit_apps_created: limit.default(30),
  /** Registrations from one address in an hour, while registration is open; 0 is no limit. */
  limit_registrations: limit.default(10),
  /** Test requests to the addresses of one payment application in an hour; 0 is no limit. */
  limit_address_tries: limit.default(20),
  /** RSA key pairs made for a member in an hour; each new payment application needs one. 0 is no limit. */
  limit_key_pairs: limit.default(30),
  /** Invitations to teams and offers of applications by a member in an hour; 0 is no limit. */
  limit_invitations: limit.default(30),
  /** Exports of a member's data in an hour; 0 is no limit. */
  limit_exports: limit.default(5),
  /** Files of orders that a member may download in an hour; 0 is no limit. */
  limit_order_files: limit.default(30),
  /** Test orders that a member's applications may create in an hour, because they are kept for ever; 0 is no limit. */
  limit_test_orders: limit.default(1_000),
  /** Failed sign-ins in 15 minutes after which an account, or an address, has to wait; 0 is no limit. */
  limit_sign_in_failures_per_account: limit.default(10),
  limit_sign_in_failures_per_address: limit.default(30),
  /** Whether the gateway's paths are also at the root of the host, for libraries without a path in their base address. */
  gateway_at_root: z.enum(['off', 'on']).default('off'),
  /** Failed attempts of a notification after which the application's team gets an alert. */
  alert_failed_attempts: z.coerce.number().int().min(1).max(6).default(3),
  /** How many hours before a replaced key ends the application's team gets an alert. */
  alert_key_hours: z.coerce.number().int().min(1).max(720).default(6),
  /** Trust level needed to apply for a payment application. The interface demands at least 1. */
  payment_apps_min_trust_level: z.coerce.number().int().min(1).max(4).default(1),
  /** Whether anybody may register a local account. It has no effect while a forum is configured. */
  registration: z.enum(['closed', 'open']).default('closed'),
  /** Whether administrators with a local account need a second factor for the administration pages. */
  admins_need_second_factor: z.enum(['off', 'on']).default('off'),
  /** How many minutes old a sign-in may be for sensitive acts. */
  reauthenticate_minutes: z.coerce.number().int().min(1).max(1_440).default(10),
  /** A payment above this many points needs such a recent sign-in; 0 means never. */
  reauthenticate_above_points: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
  /** Requests a minute to the forum's API for sign-ins, and as many for the worker. The forum allows about 60 in all. */
  forum_requests_per_minute: z.coerce.number().int().min(1).max(600).default(30),
  /** Names of forum groups in Tessera: `name at the forum = name here`, separated by commas or lines. */
  forum_group_aliases: groupAliases.default(''),
  /** Grants points for gains of the forum's gamification score, once a day. */
  forum_points_bridge: z.enum(['off', 'on']).default('off'),
  /** Whether the first import grants a member's whole score, or only later imports grant gains. */
  forum_points_for_past_score: z.enum(['off', 'on']).default('off'),
}

export const schema = z.object(definitions)
export type SettingValues = z.output<typeof schema>
export type SettingName = keyof SettingValues
/** The settings of the smallest and of the largest transfer, by trust level. */
const TRANSFER_BOUNDS = ([0, 1, 2, 3, 4] as const).map(
  (level) => [`points_transfer_min_amount_tl${level}`, `points_transfer_max_amount_tl${level}`] as const,
)

/** Returns the settings of a smallest transfer that exceeds the largest one, if one of both is changed. `textOf` gives stored texts. */
export function crossedBounds(changed: readonly SettingName[], textOf: (name: SettingName) => string) {
  return TRANSFER_BOUNDS.find(
    ([least, most]) =>
      (changed.includes(least) || changed.includes(most)) && BigInt(textOf(least)) > BigInt(textOf(most)),
  )
}

/** Whether a change of a bound allows more transfers than `before`. */
export function widensBounds(name: SettingName, before: string, after: string): boolean {
  const [least, most] = TRANSFER_BOUNDS.find((bounds) => bounds.some((bound) => bound === name)) ?? []
  if (name === least) return BigInt(after) < BigInt(before)
  return name === most && BigInt(after) > BigInt(before)
}

export const SETTING_NAMES = Object.keys(definitions) as SettingName[]
