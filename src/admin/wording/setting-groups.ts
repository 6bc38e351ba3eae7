/** How the page of site settings orders them: by groups and sections, with their units. */
import { SETTING_NAMES, type SettingName } from '../../core/setting-values.ts'

/** A setting's name without its trust level. Settings by trust level share one line. */
export type SettingBaseName = SettingName extends infer Name
  ? Name extends `${infer Base}_tl${number}`
    ? Base
    : Name
  : never

/** Every setting belongs to one section of one group. */
export const GROUPS = {
  brand: {
    name: ['site_name_zh_cn', 'site_name_en'],
    points: ['point_zh_cn', 'point_one_en', 'point_many_en'],
    look: ['site_logo', 'site_accent'],
    links: ['link_forum', 'link_terms', 'link_privacy', 'link_contact'],
    time: ['time_zone'],
  },
  payments: {
    payments: [
      'points_payment_fee_rate',
      'order_expiry_minutes',
      'reauthenticate_above_points',
      'payments_read_only',
    ],
    approval: ['second_approver'],
    gateway: ['gateway_at_root'],
    alerts: ['alert_failed_attempts', 'alert_key_hours'],
  },
  transfers: {
    transfers: ['points_transfers'],
    transferFees: ['points_transfer_fee_rate'],
    transferBounds: [
      'points_transfer_min_amount',
      'points_transfer_max_amount',
      'points_transfer_daily_limit',
    ],
  },
  mandates: {
    mandates: ['mandates', 'mandates_fresh_sign_in_above'],
    mandateLimits: ['mandate_charge_max', 'mandate_month_max'],
  },
  signIn: {
    accounts: ['registration', 'reauthenticate_minutes', 'admins_need_second_factor'],
    applications: ['apps_min_trust_level', 'payment_apps_min_trust_level', 'apps_by_any_token'],
    metadata: ['client_id_metadata_documents', 'client_id_metadata_hosts'],
    tokens: ['refresh_grace_seconds', 'signing_key_days'],
  },
  forum: {
    sync: ['forum_requests_per_minute', 'forum_group_aliases'],
    scores: ['forum_points_bridge', 'forum_points_for_past_score'],
  },
  limits: {
    visitors: [
      'limit_sign_in_failures_per_account',
      'limit_sign_in_failures_per_address',
      'limit_registrations',
      'limit_pages',
    ],
    members: [
      'limit_apps_created',
      'limit_key_pairs',
      'limit_invitations',
      'limit_metadata_fetches',
      'limit_test_orders',
      'limit_exports',
      'limit_order_files',
    ],
    programs: [
      'limit_token_failures',
      'limit_refreshes',
      'limit_device_requests',
      'limit_api_requests',
      'limit_refused_requests',
      'limit_address_tries',
    ],
  },
  notices: { announcement: ['announcement_zh_cn', 'announcement_en'] },
} as const satisfies Record<string, Record<string, readonly SettingBaseName[]>>

export type Group = keyof typeof GROUPS
export type Section = { [G in Group]: keyof (typeof GROUPS)[G] }[Group]
export const GROUP_NAMES = Object.keys(GROUPS) as Group[]

/** Returns the name of a setting without its trust level. */
export function baseOf(name: SettingName): SettingBaseName {
  return name.replace(/_tl\d$/, '') as SettingBaseName
}

/** Returns the trust level of a setting, if it has one. */
export function levelOf(name: SettingName): number | undefined {
  const level = /_tl(\d)$/.exec(name)?.[1]
  return level === undefined ? undefined : Number(level)
}

const NAMES_OF = Map.groupBy(SETTING_NAMES, baseOf)

/** Returns the settings with this base name: one, or one for each trust level. */
export function namesOf(base: SettingBaseName): SettingName[] {
  return NAMES_OF.get(base)!
}

const GROUP_OF = new Map(
  GROUP_NAMES.flatMap((group) =>
    Object.values(GROUPS[group])
      .flat()
      .map((base) => [base as SettingBaseName, group] as const),
  ),
)

/** Returns the group of a setting. */
export function groupOf(name: SettingName): Group {
  return GROUP_OF.get(baseOf(name))!
}

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

const UNITS: Partial<Record<SettingBaseName, Unit>> = {
  points_payment_fee_rate: 'percent',
  points_transfer_fee_rate: 'percent',
  points_transfer_min_amount: 'points',
  points_transfer_max_amount: 'points',
  points_transfer_daily_limit: 'points',
  mandate_charge_max: 'points',
  mandate_month_max: 'points',
  mandates_fresh_sign_in_above: 'points',
  reauthenticate_above_points: 'points',
  order_expiry_minutes: 'minutes',
  reauthenticate_minutes: 'minutes',
  refresh_grace_seconds: 'seconds',
  signing_key_days: 'days',
  alert_key_hours: 'hours',
  alert_failed_attempts: 'times',
  limit_sign_in_failures_per_account: 'times',
  limit_sign_in_failures_per_address: 'times',
  limit_refreshes: 'times',
  forum_requests_per_minute: 'perMinute',
  limit_pages: 'perMinute',
  limit_token_failures: 'perMinute',
  limit_device_requests: 'perMinute',
  limit_api_requests: 'perMinute',
  limit_refused_requests: 'perMinute',
  limit_registrations: 'perHour',
  limit_apps_created: 'perHour',
  limit_key_pairs: 'perHour',
  limit_invitations: 'perHour',
  limit_metadata_fetches: 'perHour',
  limit_test_orders: 'perHour',
  limit_exports: 'perHour',
  limit_order_files: 'perHour',
  limit_address_tries: 'perHour',
}

/** Returns the unit of a setting, if it is a number with one. */
export function unitOf(name: SettingName): Unit | undefined {
  return UNITS[baseOf(name)]
}
