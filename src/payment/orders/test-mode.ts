/**
 * Test mode: applications of the test book, which need no review because their points are worth nothing, and what a
 * tester may ask to go wrong. That no live point moves is not decided here but in the database: every row of an
 * application carries its book in a foreign key, and entries cannot join accounts of two books.
 */
import { randomUUID } from 'node:crypto'
import { sql, type Updateable } from 'kysely'
import { lockUser } from '../../accounts/people/users.ts'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import type { Book, ForcedFault, OrdersTable } from '../../database/tables.ts'
import { AppError } from '../../platform/errors.ts'
import {
  type NewPaymentApp,
  type PaymentAppCredentials,
  storeCredentials,
  withNewKeys,
} from '../apps/apps.ts'
import type { Actor } from '../rights/rights.ts'

/** Of one member. Nobody reviews them, so their number is bounded. */
export const TEST_APPS_MAX = 10

export type NewTestApp = NewPaymentApp & {
  /** The application that it tries things out for. */
  live_app_id?: bigint
  ip: string
}

/**
 * Makes an application of the test book, in force at once, for a member of any trust level. Throws conflict when the
 * member has TEST_APPS_MAX already, or the live application has one, and not_found when that is not theirs (any more);
 * then no key has been made.
 */
export async function createTestApp(deps: Core, app: NewTestApp): Promise<PaymentAppCredentials> {
  const { applicant_id, name, description, callback_url, live_app_id = null, ip } = app
  const admit = async (tx: Tx) => {
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
  }
  return withNewKeys(deps, 'test', admit, async (tx, { payment_id, ...keys }) => {
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

/**
 * Counts an order that is being created, if it is of the test book: anybody may have applications there, and orders are
 * kept for ever. Throws too_many_attempts.
 */
export async function countTestOrder(
  { limits }: Pick<Core, 'limits'>,
  { book, applicant_id }: { book: Book; applicant_id: bigint },
): Promise<void> {
  if (book === 'test') await limits.hit('test_orders', applicant_id.toString())
}

/** Whoever makes the test application of a live one holds its row, and so does whoever hands it over. */
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

/** Makes the test application of an owner's live one, set up alike. Throws not_found for others, and as createTestApp. */
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

/** The other one of a pair, as its owner may see it. */
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

/** Opens a member's test wallet where there is none yet; the database fills it with play points. */
export async function openPlayWallet(db: Db, user_id: bigint): Promise<void> {
  await sql`select open_wallets(array[${user_id}::bigint], array['test'])`.execute(db)
}

/** Fills a member's test wallet up to what it opened with. */
export async function refillPlayPoints({ db, clock }: Core, user_id: bigint): Promise<void> {
  await sql`select refill_play_points(${user_id}::bigint, ${randomUUID()}, ${clock()}::timestamptz)`.execute(
    db,
  )
}

/** Says what is to go wrong when this order is paid. Does nothing to a live order, or one that is not open. */
export async function forceFault(
  { db }: Core,
  transaction_id: string,
  forced: ForcedFault,
  actor: Actor,
): Promise<void> {
  await changeTestOrder(db, transaction_id, { forced }, { ...actor, action: 'test_order.fault' })
}

/** Ends the time to pay an order at once. Does nothing to a live order, or one that is not open. */
export async function expireNow({ db, clock }: Core, transaction_id: string, actor: Actor): Promise<void> {
  const now = clock()
  const changed = { status: 'expired', expires_at: now, updated_at: now } as const
  await changeTestOrder(db, transaction_id, changed, { ...actor, action: 'test_order.expire' })
}

async function changeTestOrder(
  db: Db,
  transaction_id: string,
  changed: Updateable<OrdersTable>,
  { user_id: actor_id, ip, action }: Actor & { action: string },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const order = await tx
      .updateTable('orders')
      .set(changed)
      .where('transaction_id', '=', transaction_id)
      .where('book', '=', 'test')
      .where('status', '=', 'unpaid')
      .returning(['id', 'status', 'forced'])
      .executeTakeFirst()
    if (order === undefined) return
    const { id, status, forced } = order
    if (status === 'expired')
      await sql`select write_order_events('order.expired', array[${id}::bigint])`.execute(tx)
    await recordAudit(tx, { actor_id, action, subject: transaction_id, detail: { forced }, ip })
  })
}
