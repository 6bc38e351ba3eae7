/**
 * The site settings, one row each: where the page shows it, what it may hold, its default, and which change needs a second
 * administrator. Its words are in admin/wording/setting-names.texts.ts. The page keeps the order of the rows.
 */
import { z } from 'zod'
import {
  amounts,
  choice,
  colour,
  hosts,
  idOrNone,
  type Kind,
  limit,
  line,
  link,
  pairs,
  picture,
  points,
  pointsOrNone,
  rate,
  text,
  timeZone,
  whole,
} from './setting-kinds.ts'

const LEVELS = [0, 1, 2, 3, 4] as const
type Level = (typeof LEVELS)[number]

/** The values of a setting that need a second administrator. The function setting_needs_two decides (second-approver.sql). */
type Approval = 'every' | 'on' | 'off' | 'raised'

type Row<Value, Place extends string> = Kind<Value> & { place: Place; approval: Approval | undefined }

/** A setting in a section of a group: `group.section`. */
function setting<const Place extends string, Value>(
  place: Place,
  kind: Kind<Value>,
  standard: NoInfer<Value>,
  approval?: Approval,
): Row<Value, Place> & { standard: Value } {
  return { ...kind, place, standard, approval }
}

/** One setting for each trust level: `name_tl0` to `name_tl4`. */
function byTrustLevel<const Place extends string>(
  place: Place,
  kind: Kind<string>,
  standards: readonly [string, string, string, string, string],
  approval?: Approval,
): Row<string, Place> & { standards: readonly string[] } {
  return { ...kind, place, standards, approval }
}

const level = (min: number) => whole(min, 4)

const SETTINGS = {
  site_name_zh_cn: setting('brand.name', line(40), ''),
  site_name_en: setting('brand.name', line(40), ''),
  point_zh_cn: setting('brand.points', line(20), ''),
  point_one_en: setting('brand.points', line(20), ''),
  point_many_en: setting('brand.points', line(20), ''),
  site_logo: setting('brand.look', picture, ''),
  site_accent: setting('brand.look', colour, ''),
  link_forum: setting('brand.links', link, ''),
  link_terms: setting('brand.links', link, ''),
  link_privacy: setting('brand.links', link, ''),
  link_contact: setting('brand.links', link, ''),
  time_zone: setting('brand.time', timeZone, 'Asia/Shanghai'),
  /** Whether administrators begin at the overview, or at the first steps of a new site. */
  set_up_finished: setting('brand.setUp', choice('off', 'on'), 'off'),

  /** The share of a payment that the platform keeps. */
  points_payment_fee_rate: setting('payments.payments', rate, '0.05', 'every'),
  order_expiry_minutes: setting('payments.payments', whole(1, 10_080, 'minutes'), 30),
  reauthenticate_above_points: setting('payments.payments', whole(0, Number.MAX_SAFE_INTEGER, 'points'), 0),
  payments_read_only: setting('payments.payments', choice('off', 'on'), 'off'),
  /** Whether refunds, reversals, grants, adjustments, terms and the changes that this table names need two administrators. */
  second_approver: setting('payments.approval', choice('off', 'on'), 'off', 'off'),
  gateway_at_root: setting('payments.gateway', choice('off', 'on'), 'off'),
  /** While it is off, no token of an access key is issued or accepted. */
  access_keys: setting('payments.accessKeys', choice('on', 'off'), 'on'),
  alert_failed_attempts: setting('payments.alerts', whole(1, 6, 'times'), 3),
  alert_key_hours: setting('payments.alerts', whole(1, 720, 'hours'), 6),
  /** Findings of smaller sums are not shown to administrators. */
  suspicious_points_min: setting('payments.suspicion', points, '100'),

  points_transfers: setting('transfers.transfers', choice('on', 'off'), 'on'),
  payouts: setting('transfers.transfers', choice('on', 'off'), 'on'),
  points_transfer_fee_rate: byTrustLevel(
    'transfers.transferFees',
    rate,
    ['0.10', '0.05', '0.03', '0.01', '0.005'],
    'every',
  ),
  points_transfer_min_amount: byTrustLevel(
    'transfers.transferBounds',
    points,
    ['1', '1', '1', '1', '1'],
    'every',
  ),
  points_transfer_max_amount: byTrustLevel(
    'transfers.transferBounds',
    points,
    ['1000', '5000', '20000', '50000', '100000'],
    'every',
  ),
  points_transfer_daily_limit: byTrustLevel(
    'transfers.transferBounds',
    pointsOrNone,
    ['', '', '', '', ''],
    'every',
  ),

  mandates: setting('mandates.mandates', choice('off', 'on'), 'off'),
  mandates_fresh_sign_in_above: setting('mandates.mandates', pointsOrNone, '0'),
  mandate_charge_max: byTrustLevel('mandates.mandateLimits', points, ['0', '500', '2000', '5000', '20000']),
  mandate_month_max: byTrustLevel('mandates.mandateLimits', points, [
    '0',
    '2000',
    '10000',
    '50000',
    '200000',
  ]),

  links: setting('links.sale', choice('on', 'off'), 'on'),
  links_min_trust_level: setting('links.sale', level(0), 1),
  /** The most that a buyer may choose to pay, by the trust level of the owner. */
  links_free_max: byTrustLevel('links.linkLimits', points, ['0', '1000', '5000', '20000', '100000']),

  registration: setting('signIn.accounts', choice('closed', 'open'), 'closed'),
  reauthenticate_minutes: setting('signIn.accounts', whole(1, 1_440, 'minutes'), 10),
  admins_need_second_factor: setting('signIn.accounts', choice('off', 'on'), 'off'),
  apps_min_trust_level: setting('signIn.applications', level(0), 0),
  /** The interface demands at least 1. */
  payment_apps_min_trust_level: setting('signIn.applications', level(1), 1),
  /** Whether an application that another one registered works for everyone at once, or for its owner until confirmed. */
  apps_by_any_token: setting('signIn.applications', choice('open', 'draft'), 'open'),
  /** Whether a client may use the address of its metadata document as client_id. */
  client_id_metadata_documents: setting('signIn.metadata', choice('off', 'listed', 'any'), 'off'),
  client_id_metadata_hosts: setting('signIn.metadata', hosts, ''),
  refresh_grace_seconds: setting('signIn.tokens', whole(0, 60, 'seconds'), 30),
  signing_key_days: setting('signIn.tokens', whole(1, 3_650, 'days'), 90),

  /** In all. The forum counts all administrators' keys together, and allows 60. */
  forum_requests_per_minute: setting('forum.sync', whole(10, 1_200, 'perMinute'), 50),
  forum_group_aliases: setting('forum.sync', pairs, ''),
  /** Whether the forum's pages may show a member's own wallet. */
  forum_wallet: setting('forum.shown', choice('off', 'on'), 'off'),
  /** Whether members may give points to authors. Paying reads the settings of tips in SQL: tip_standard has their defaults too. */
  tips: setting('forum.tips', choice('off', 'on'), 'off', 'on'),
  tip_amounts: setting('forum.tips', amounts, '10,50,100'),
  tip_receive_min_trust_level: setting('forum.tips', level(0), 1),
  tip_min_age_days: setting('forum.tips', whole(0, 3_650, 'days'), 7),
  tip_max: byTrustLevel('forum.tipLimits', points, ['0', '50', '200', '500', '1000'], 'raised'),
  tip_day_max: byTrustLevel('forum.tipLimits', points, ['0', '100', '500', '2000', '5000'], 'raised'),
  tip_received_day_max: setting('forum.tipLimits', points, '5000', 'raised'),
  /** Between two members, in both directions. */
  tip_pair_week_max: setting('forum.tipLimits', whole(1, 1_000, 'times'), 5, 'raised'),
  forum_points_bridge: setting('forum.scores', choice('off', 'on'), 'off', 'on'),
  /** Whether the first import grants a member's whole score, or only later imports grant gains. */
  forum_points_for_past_score: setting('forum.scores', choice('off', 'on'), 'off', 'on'),
  /** Empty: the default leaderboard, from which the forum computes the score that it shows of a member. */
  forum_leaderboard_id: setting('forum.scores', idOrNone, '', 'every'),

  /** Failures in 15 minutes. */
  limit_sign_in_failures_per_account: setting('limits.visitors', limit('times'), 10),
  limit_sign_in_failures_per_address: setting('limits.visitors', limit('times'), 30),
  limit_registrations: setting('limits.visitors', limit('perHour'), 10),
  limit_pages: setting('limits.visitors', limit('perMinute'), 300),
  limit_apps_created: setting('limits.members', limit('perHour'), 30),
  /** RSA key pairs; each new payment application needs one. */
  limit_key_pairs: setting('limits.members', limit('perHour'), 30),
  limit_invitations: setting('limits.members', limit('perHour'), 30),
  limit_links_created: setting('limits.members', limit('perHour'), 30),
  limit_payouts: setting('limits.members', limit('perHour'), 30),
  limit_link_orders: setting('limits.members', limit('perHour'), 60),
  limit_link_reports: setting('limits.members', limit('perHour'), 10),
  limit_tips: setting('limits.members', limit('perHour'), 20),
  limit_metadata_fetches: setting('limits.members', limit('perHour'), 30),
  limit_test_orders: setting('limits.members', limit('perHour'), 1_000),
  limit_exports: setting('limits.members', limit('perHour'), 5),
  limit_order_files: setting('limits.members', limit('perHour'), 30),
  limit_token_failures: setting('limits.programs', limit('perMinute'), 60),
  /** Refreshes of one grant; each minute of its age allows one more. */
  limit_refreshes: setting('limits.programs', limit('times'), 100),
  limit_device_requests: setting('limits.programs', limit('perMinute'), 60),
  limit_api_requests: setting('limits.programs', limit('perMinute'), 6_000),
  limit_access_tokens: setting('limits.programs', limit('perMinute'), 60),
  limit_refused_requests: setting('limits.programs', limit('perMinute'), 60),
  limit_address_tries: setting('limits.programs', limit('perHour'), 20),

  announcement_zh_cn: setting('notices.announcement', text(500), ''),
  announcement_en: setting('notices.announcement', text(500), ''),
}

type Rows = typeof SETTINGS
/** A setting's name without its trust level. Settings by trust level share one row. */
export type SettingBaseName = keyof Rows
type NameOf<Base extends SettingBaseName> = Rows[Base] extends { standards: unknown }
  ? `${Base}_tl${Level}`
  : Base
export type SettingName = { [Base in SettingBaseName]: NameOf<Base> }[SettingBaseName]
export type SettingValues = {
  [Base in SettingBaseName as NameOf<Base>]: z.output<Rows[Base]['schema']>
}

type Place = Rows[SettingBaseName]['place']
export type Group = Place extends `${infer First}.${string}` ? First : never
export type Section = Place extends `${string}.${infer Second}` ? Second : never

/** The default of each setting, by name. */
const STANDARDS = new Map(
  Object.entries(SETTINGS).flatMap(([base, row]): [SettingName, unknown][] =>
    'standards' in row
      ? row.standards.map((value, level) => [`${base}_tl${level}` as SettingName, value])
      : [[base as SettingName, row.standard]],
  ),
)
export const SETTING_NAMES = [...STANDARDS.keys()]

export function isSetting(name: string): name is SettingName {
  return STANDARDS.has(name as SettingName)
}

/** Returns the name of a setting without its trust level. */
export function baseOf(name: SettingName): SettingBaseName {
  return name.replace(/_tl\d$/, '') as SettingBaseName
}

/** Returns the trust level of a setting, if it has one. */
export function levelOf(name: SettingName): number | undefined {
  const level = /_tl(\d)$/.exec(name)?.[1]
  return level === undefined ? undefined : Number(level)
}

/** Returns the row of a setting. */
export function settingOf(name: SettingName): Kind<unknown> & { approval: Approval | undefined } {
  return SETTINGS[baseOf(name)]
}

/** Returns the default of a setting as it would be stored. */
export function standardOf(name: SettingName): string {
  return String(STANDARDS.get(name))
}

/** Returns the group of a setting on the page, and its section there. */
export function placeOf(name: SettingName): { group: Group; section: Section } {
  const [group, section] = SETTINGS[baseOf(name)].place.split('.') as [Group, Section]
  return { group, section }
}

/** Reads stored texts. A setting without one has its default. */
export const schema = z.object(
  Object.fromEntries(
    SETTING_NAMES.map((name) => [name, settingOf(name).schema.default(STANDARDS.get(name))]),
  ),
) as unknown as z.ZodType<SettingValues>

/** The settings of the smallest and of the largest transfer, by trust level. */
const TRANSFER_BOUNDS = LEVELS.map(
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
