/** Payouts of the merchant's page: a file becomes a draft, which the owner looks at and pays. spec/payouts 3.1 and 3.2. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { dayIn } from '../../web/periods/days.ts'
import { byLevel } from '../orders/transfers.ts'
import { type Actor, audit, getPermitted, lockPermitted } from '../rights/rights.ts'
import type { FileLine, LineFault, NamedMember } from './csv.ts'
import {
  cancelPayout,
  findPayout,
  insertPayout,
  payoutWithId,
  requirePayoutsOn,
  requireTurn,
  resumePayout,
} from './payouts.ts'

/** How long a draft can be paid. */
export const DRAFT_HOURS = 24
const HOUR_MS = 3_600_000
/** Stands for a name that no member has. No member has this id either, so the line is refused. */
const NO_MEMBER = 0n

export type Draft = { reference: string; mode: 'each' | 'all'; lines: FileLine[] }

/**
 * Makes a draft and returns its id. Names become ids. Throws conflict when the reference was used, what refuses every new payout,
 * and too_many_attempts.
 */
export async function createDraft(
  deps: Core,
  payment_id: string,
  draft: Draft,
  actor: Actor,
): Promise<bigint> {
  const settings = await deps.settings.read()
  requirePayoutsOn(settings)
  const { id: app_id } = await getPermitted(deps.db, payment_id, actor.user_id, 'settings.edit')
  await deps.limits.hit('payouts', app_id.toString())
  const ids = await idsOf(deps, draft.lines)
  return deps.db.transaction().execute(async (tx) => {
    const app = await lockPermitted(tx, payment_id, actor, 'settings.edit')
    const reference =
      draft.reference || (await freeReference(tx, app.id, dayIn(settings.time_zone, deps.clock())))
    if ((await findPayout(tx, app.id, reference)) !== undefined)
      throw new AppError('conflict', 'This reference was used before')
    const id = await insertPayout(tx, {
      ...{
        app_id: app.id,
        owner_id: app.applicant_id,
        reference,
        mode: draft.mode,
        status: 'draft' as const,
      },
      lines: draft.lines.map(({ line_id, username, user_id, amount, memo }) => ({
        ...{ line_id, amount, memo, to_username: username },
        to_user_id: user_id ?? ids.get(username.toLowerCase()) ?? NO_MEMBER,
      })),
      now: deps.clock(),
      rates: byLevel(settings, 'points_transfer_fee_rate'),
    })
    await audit(tx, 'payout.draft', payment_id, { reference, lines: String(draft.lines.length) }, actor)
    return id
  })
}

/** The first reference of a day that is free: `payout-2026-11-28`, then `payout-2026-11-28-2`. The caller has locked the application. */
async function freeReference(tx: Tx, app_id: bigint, day: string): Promise<string> {
  const name = `payout-${day}`
  const used = await tx
    .selectFrom('payouts')
    .where('app_id', '=', app_id)
    .where((eb) => eb.or([eb('reference', '=', name), eb('reference', 'like', `${name}-%`)]))
    .select('reference')
    .execute()
  const taken = new Set(used.map(({ reference }) => reference))
  let free = name
  for (let n = 2; taken.has(free); n += 1) free = `${name}-${n}`
  return free
}

/** Finds the lines whose recipient is no member: a name that is unknown, or that has another id. */
export async function unknownMembers(deps: Core, named: NamedMember[]): Promise<LineFault[]> {
  const ids = await idsOf(deps, named)
  return named.flatMap(({ line, username, user_id }) => {
    const id = ids.get(username.toLowerCase())
    if (id !== undefined && (user_id ?? id) === id) return []
    return { line, column: 'member' as const, value: user_id ? `${username}, ${user_id}` : username }
  })
}

/** The ids of members by their names in lower case. */
async function idsOf({ db }: Core, lines: { username: string }[]): Promise<Map<string, bigint>> {
  const names = [...new Set(lines.map(({ username }) => username.toLowerCase()))]
  const { rows } = await sql<{ id: bigint; name: string }>`
    select users.id, asked.name from unnest(${names}::text[]) as asked (name)
    cross join lateral (
      select id from users where lower(username) = asked.name and anonymised_at is null offset 0
    ) as users`.execute(db)
  return new Map(rows.map(({ id, name }) => [name, id]))
}

/**
 * Lets a draft wait for its turn. A repeat does nothing. Throws conflict for a draft that is older than a day, what refuses every new
 * payout, application_unusable, and too_many_attempts when ten wait.
 */
export async function payDraft(deps: Core, payment_id: string, id: bigint, actor: Actor): Promise<void> {
  const settings = await deps.settings.read()
  const now = deps.clock()
  await deps.db.transaction().execute(async (tx) => {
    const app = await lockPermitted(tx, payment_id, actor, 'points.transfer')
    const payout = await payoutWithId(tx, app.id, id)
    if (payout === undefined) throw notFound()
    if (payout.status !== 'draft') return
    requirePayoutsOn(settings)
    if (app.status !== 'approved')
      throw new AppError('application_unusable', 'This payment application is not approved')
    if (now.getTime() - payout.created_at.getTime() >= DRAFT_HOURS * HOUR_MS)
      throw new AppError('conflict', `A draft can be paid for ${DRAFT_HOURS} hours`)
    await requireTurn(tx, app.id)
    await tx.updateTable('payouts').set({ status: 'waiting', updated_at: now }).where('id', '=', id).execute()
    const { reference, count, amount, fee } = payout
    const detail = { reference, lines: String(count), amount: String(amount), fee: String(fee) }
    await audit(tx, 'payout.pay', payment_id, detail, actor)
  })
}

/** Cancels or resumes a payout from its page. Returns whether it did. Throws not_found and what lockPermitted throws. */
export async function changePayout(
  deps: Core,
  payment_id: string,
  { id, change }: { id: bigint; change: 'cancel' | 'resume' },
  actor: Actor,
): Promise<boolean> {
  const now = deps.clock()
  return deps.db.transaction().execute(async (tx) => {
    const right = change === 'cancel' ? 'settings.edit' : 'points.transfer'
    const app = await lockPermitted(tx, payment_id, actor, right)
    const payout = await payoutWithId(tx, app.id, id)
    if (payout === undefined) throw notFound()
    const isDone =
      change === 'cancel' ? await cancelPayout(tx, id, 'merchant', now) : await resumePayout(tx, id, now)
    if (isDone) await audit(tx, `payout.${change}`, payment_id, { reference: payout.reference }, actor)
    return isDone
  })
}

export function notFound(): AppError {
  return new AppError('not_found', 'There is no such payout')
}
