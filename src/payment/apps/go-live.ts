/**
 * From a test application to a live one: its settings are copied to a new live application, or to the one that it belongs to.
 * Keys, orders and the team stay apart. spec/payment-api 6.2.
 */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { SettingValues } from '../../core/setting-values.ts'
import type { Db } from '../../database/connection.ts'
import type { PaymentAppStatus } from '../../database/tables/payment-apps.ts'
import { AppError } from '../../platform/errors.ts'
import { APPLICATIONS } from '../rights/owned.ts'
import { type Actor, getPermitted } from '../rights/rights.ts'
import { applyForPaymentApp, type PaymentAppCredentials } from './apps.ts'
import { editPaymentApp } from './own-app.ts'

/** The settings that a live application takes over, as the audit log names them. */
export type Carried = {
  name: string
  description: string
  callback_url: string
  notify_url: string | null
  homepage: string | null
  logo_url: string | null
  exchange_rate: string
  order_minutes: number | null
  allowed_addresses: string[]
}

/** What a test application hands on, and the live application that it belongs to. */
export type GoingLive = {
  id: bigint
  settings: Carried
  /** Whether its buyers return elsewhere than to its overview. */
  hasOwnCallback: boolean
  live: { payment_id: string; status: PaymentAppStatus; settings: Carried } | undefined
  /** The settings that the live application has otherwise. All, if there is none. */
  differing: (keyof Carried)[]
}

/** The trust level that a live application needs, and the lower one that the reader has. */
export type NeedsLevel = { needed: number; has: number }

/** Returns what a member lacks to apply for a live application. Undefined if the trust level is enough. */
export function levelNeeded(
  { payment_apps_min_trust_level: needed }: SettingValues,
  { trust_level: has }: { trust_level: number },
): NeedsLevel | undefined {
  return has < needed ? { needed, has } : undefined
}

/** Reads it for the owner of a test application. Throws forbidden, and not_found for a live application. */
export async function goingLiveOf(db: Db, payment_id: string, user_id: bigint): Promise<GoingLive> {
  const { id, book } = await getPermitted(db, payment_id, user_id, 'application.go_live')
  if (book !== 'test') throw new AppError('not_found', 'This application is live')
  const rows = await db
    .selectFrom('payment_apps as app')
    .where('app.applicant_id', '=', user_id)
    .where((eb) =>
      eb.or([
        eb('app.id', '=', id),
        eb('app.id', '=', eb.selectFrom('payment_apps').where('id', '=', id).select('live_app_id')),
      ]),
    )
    .select(['app.id', 'app.payment_id', 'app.status', 'app.name', 'app.description', 'app.callback_url'])
    .select(['app.notify_url', 'app.homepage', 'app.logo_url', 'app.order_minutes'])
    .select([
      sql<string>`trim_scale(app.exchange_rate)::text`.as('exchange_rate'),
      sql<string[]>`app.allowed_addresses::text[]`.as('allowed_addresses'),
    ])
    .execute()
  const of = (own: boolean) => {
    const row = rows.find((each) => (each.id === id) === own)
    if (row === undefined) return undefined
    const { id: _, payment_id, status, ...settings } = row
    return { payment_id, status, settings }
  }
  const { settings } = of(true)!
  const live = of(false)
  // A test application without a callback of its own returns to its overview, which no live application takes over.
  const hasOwnCallback = !settings.callback_url.endsWith(`${APPLICATIONS}/${payment_id}`)
  const differing = (Object.keys(settings) as (keyof Carried)[])
    .filter((name) => name !== 'callback_url' || hasOwnCallback)
    .filter((name) => !isDeepStrictEqual(settings[name], live?.settings[name]))
  return { id, settings, hasOwnCallback, live, differing }
}

/**
 * Applies for the live application of a test one, with its settings and the name that buyers will read. Throws what
 * applyForPaymentApp throws, and conflict if the test application has a live one already.
 */
export async function applyFromTest(
  deps: Core,
  { id, settings }: GoingLive,
  { name, callback_url }: { name: string; callback_url: string },
  { user_id }: Actor,
): Promise<PaymentAppCredentials> {
  const { description } = settings
  return applyForPaymentApp(
    deps,
    { applicant_id: user_id, name, description, callback_url },
    { test_app_id: id },
  )
}

/** Copies the settings to the live application, which is edited as its owner would edit it. Throws what editPaymentApp throws. */
export async function copyToLive(
  deps: Core,
  { settings, live }: GoingLive,
  callback_url: string,
  actor: Actor,
): Promise<void> {
  if (live === undefined) throw new AppError('conflict', 'There is no live application yet')
  const { notify_url, homepage, logo_url, ...rest } = settings
  const texts = { notify_url: notify_url ?? '', homepage: homepage ?? '', logo_url: logo_url ?? '' }
  await editPaymentApp(deps, live.payment_id, { ...rest, ...texts, callback_url }, actor)
}
