/** Test applications: they need no review, because test points are worth nothing. */
import { sql } from 'kysely'
import { lockUser } from '../../accounts/people/users.ts'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { APPLICATIONS } from '../rights/owned.ts'
import type { Actor } from '../rights/rights.ts'
import { type NewPaymentApp, newKeys, type PaymentAppCredentials, storeCredentials } from './apps.ts'

/** The limit for each member, because test applications need no review. */
export const TEST_APPS_MAX = 10

export type NewTestApp = Omit<NewPaymentApp, 'callback_url'> & {
  /** By default, the overview of the application, so that a payment can be tried without a shop. */
  callback_url?: string | undefined
  /** The live application that it belongs to. */
  live_app_id?: bigint
  ip: string
}

/**
 * Makes an approved application of the test book, for a member of any trust level. Throws conflict if the member has
 * TEST_APPS_MAX already or the live application has one, and not_found if the member does not own the live
 * application.
 */
export async function createTestApp(deps: Core, app: NewTestApp): Promise<PaymentAppCredentials> {
  const { applicant_id, name, description, live_app_id = null, ip } = app
  return deps.db.transaction().execute(async (tx) => {
    await lockUser(tx, applicant_id)
    const { count } = await tx
      .selectFrom('payment_apps')
      .where('applicant_id', '=', applicant_id)
      .where('book', '=', 'test')
      .select((eb) => eb.fn.countAll<bigint>().as('count'))
      .executeTakeFirstOrThrow()
    if (count >= TEST_APPS_MAX)
      throw new AppError('conflict', `A member has at most ${TEST_APPS_MAX} test applications`)
    if (live_app_id !== null) await lockWithoutTwin(tx, live_app_id, applicant_id)
    const { payment_id, ...keys } = newKeys('test')
    const callback_url = app.callback_url ?? `${deps.config.PUBLIC_URL}${APPLICATIONS}/${payment_id}`
    const row = await tx
      .insertInto('payment_apps')
      .values({
        payment_id,
        pid: sql<bigint>`nextval('payment_apps_test_pid')`,
        book: 'test',
        status: 'approved',
        applicant_id,
        name,
        description,
        callback_url,
        live_app_id,
      })
      .returning(['id', 'pid'])
      .executeTakeFirstOrThrow()
    const credentials = await storeCredentials(tx, deps.secrets, row.id, keys)
    const detail = { name, description, callback_url }
    const entry = {
      actor_id: applicant_id,
      action: 'payment_app.create_test',
      subject: payment_id,
      detail,
      ip,
    }
    await recordAudit(tx, entry)
    return { ...row, payment_id, ...credentials }
  })
}

/** Locks the live application, as a handover does. Throws not_found, and conflict if it has a test application. */
async function lockWithoutTwin(tx: Tx, id: bigint, applicant_id: bigint): Promise<void> {
  const live = await tx
    .selectFrom('payment_apps')
    .where('id', '=', id)
    .where('applicant_id', '=', applicant_id)
    .select('id')
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (live === undefined) throw noSuchApp()
  const twin = await tx
    .selectFrom('payment_apps')
    .where('live_app_id', '=', id)
    .select('id')
    .executeTakeFirst()
  if (twin !== undefined) throw new AppError('conflict', 'This application has a test application already')
}

const noSuchApp = () => new AppError('not_found', 'There is no such payment application')

/** Makes the test application of an owner's live one, with the same facts. Throws not_found and what createTestApp throws. */
export async function createTwin(
  deps: Core,
  payment_id: string,
  { user_id, ip }: Actor,
): Promise<PaymentAppCredentials & { name: string }> {
  const app = await deps.db
    .selectFrom('payment_apps')
    .where('payment_id', '=', payment_id)
    .where('applicant_id', '=', user_id)
    .where('book', '=', 'live')
    .select(['id', 'name', 'description', 'callback_url'])
    .executeTakeFirst()
  if (app === undefined) throw noSuchApp()
  const { id: live_app_id, ...facts } = app
  const credentials = await createTestApp(deps, { ...facts, live_app_id, applicant_id: user_id, ip })
  return { ...credentials, name: app.name }
}

/** The Payment ID of the other application of a live and test pair, if the same member owns it. */
export async function twinOf(
  db: Db,
  { id, live_app_id }: { id: bigint; live_app_id: bigint | null },
  owner_id: bigint,
): Promise<string | undefined> {
  const twin = await db
    .selectFrom('payment_apps')
    .where((eb) => (live_app_id === null ? eb('live_app_id', '=', id) : eb('id', '=', live_app_id)))
    .where('applicant_id', '=', owner_id)
    .select('payment_id')
    .executeTakeFirst()
  return twin?.payment_id
}
