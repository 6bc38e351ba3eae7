/** Turns settings on for the demo, and lets its shop charge under mandates: the right, and the sign-in application linked to it. */

import type { SettingName } from '../core/setting-values.ts'
import type { Db } from '../database/connection.ts'
import type { Parts } from '../parts.ts'
import { askMandateRight, decideMandateRight, linkSignInApp } from '../payment/mandates/right.ts'
import { rightOf } from '../payment/merchant/mandates.ts'
import type { DemoApps } from './apps.ts'

const IP = '127.0.0.1'
const PURPOSE = 'The sticker club, and stickers that members buy with one click'
/** Points of all charges of the shop in a day. */
const DAILY_MAX = 100_000n

type Owners = { owner_id: bigint; reviewer_id: bigint }

/** Does what is missing. A right that an administrator refused or withdrew stays so. */
export async function ensureMandates(
  deps: Parts,
  { payment_app, oauth_app }: Pick<DemoApps, 'payment_app' | 'oauth_app'>,
  { owner_id, reviewer_id }: Owners,
): Promise<void> {
  await turnOn(deps.db, ['mandates'])
  const { payment_id } = payment_app
  const owner = { user_id: owner_id, ip: IP }
  const { id } = await deps.db
    .selectFrom('payment_apps')
    .where('payment_id', '=', payment_id)
    .select('id')
    .executeTakeFirstOrThrow()
  const { mandate_right, oauth_client_id } = await rightOf(deps.db, id)
  if (mandate_right === 'none') await askMandateRight(deps, payment_id, PURPOSE, owner)
  if (mandate_right === 'none' || mandate_right === 'asked') {
    const decided = { decision: 'grant', daily_max: DAILY_MAX, reason: '' } as const
    await decideMandateRight(deps, payment_id, decided, { actor_id: reviewer_id, ip: IP })
  }
  // A start that lost the client secret has made a new application.
  if (oauth_client_id !== oauth_app.client_id)
    await linkSignInApp(deps, payment_id, oauth_app.client_id, owner)
}

/** Turns settings on. It keeps settings that an administrator has changed. */
export async function turnOn(db: Db, names: SettingName[]): Promise<void> {
  await db
    .insertInto('site_settings')
    .values(names.map((name) => ({ name, value: 'on' })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
