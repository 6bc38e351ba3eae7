/**
 * Acts that need two administrators: one proposes the act, and another approves it, which carries it out. The database
 * enforces that the two differ and are administrators, that a proposal never changes and is decided once and in time,
 * and that at most one with the same key is open or approved (070-payments.sql, functions/guards/second-approver.sql).
 * spec/points 2.5.
 */
import { type Selectable, sql } from 'kysely'
import { type PointsLine, postLinesWithin } from '../../accounts/points.ts'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { SettingName } from '../../core/setting-values.ts'
import { type Db, type Tx, violatedConstraint } from '../../database/connection.ts'
import { type Counts, countEach } from '../../database/counts.ts'
import type { ProposalsTable } from '../../database/tables/payments.ts'
import { setTermsWithin, type Terms, termsOfTexts, textsOf } from '../../payment/apps/terms.ts'
import { refundWithin, reverseWithin } from '../../payment/orders/refunds.ts'
import { AppError } from '../../platform/errors.ts'
import { keyOf, type ProposedAct, readAct, type StoredAct, storedAct } from './acts.ts'

const OPEN_DAYS = 7
const DAY_MS = 86_400_000
/** At most one proposal with the same key is open or approved. */
const isInForce = sql<boolean>`decision is null or decision = 'approved'`

type Actor = { actor_id: bigint; ip: string }

type Proposal = Selectable<ProposalsTable>
type NewProposal = Pick<Proposal, 'kind' | 'reason' | 'key' | 'proposed_by'> & { act: string }

/** Another proposal with the same key, which blocks a new one. */
export type EarlierProposal = { proposer: string; decision: 'approved' | null }

/**
 * Writes a proposal. A repeated call with the same key and content writes nothing. Returns another proposal with the
 * same key that is open or approved, and writes nothing then. Throws invalid_form for an invalid line, and conflict when
 * that other proposal was decided meanwhile.
 */
export async function propose(
  { db, databaseTime }: Core,
  proposed: ProposedAct,
  actor: Actor,
): Promise<EarlierProposal | undefined> {
  const now = await databaseTime()
  return db.transaction().execute((tx) => proposeWithin(tx, proposed, actor, now))
}

/**
 * Does the work of `propose` in a larger transaction. `now` is the database's time, because it closes an expired proposal for
 * good.
 */
async function proposeWithin(
  tx: Tx,
  proposed: ProposedAct,
  { actor_id, ip }: Actor,
  now: Date,
): Promise<EarlierProposal | undefined> {
  const { reason } = proposed
  const key = keyOf(proposed)
  const act = storedAct(proposed)
  const { kind, ...facts } = act
  const proposal = { kind, reason, key, act: JSON.stringify(facts), proposed_by: actor_id }
  await closeExpired(tx, key, now)
  const written = await tx
    .insertInto('proposals')
    .values({
      ...proposal,
      proposed_at: now,
      expires_at: new Date(now.getTime() + OPEN_DAYS * DAY_MS),
    })
    .onConflict((conflict) => conflict.column('key').where(isInForce).doNothing())
    .returning('id')
    .executeTakeFirst()
  if (written === undefined) return findOther(tx, proposal)
  const detail = { ...subjectOf(act), reason, ...changeOf(act) }
  const subject = `proposal:${written.id}`
  await recordAudit(tx, { actor_id, action: 'proposal.create', subject, detail, ip })
  return undefined
}

/** What the audit log says of every proposal. */
function subjectOf(act: StoredAct) {
  const transaction_id = 'transaction_id' in act ? act.transaction_id : null
  return { kind: act.kind, transaction_id, amount: act.kind === 'refund' ? act.amount : null }
}

function changeOf(act: StoredAct) {
  if (act.kind === 'setting') return { setting: act.setting, setting_value: act.value }
  if (act.kind === 'terms') return { payment_id: act.payment_id, terms: JSON.stringify(act.terms) }
  return {}
}

/** Closes an expired proposal, so a new one with the same key can be written. */
async function closeExpired(tx: Tx, key: string, now: Date): Promise<void> {
  await tx
    .updateTable('proposals')
    .set({ decision: 'expired', decided_at: now })
    .where('key', '=', key)
    .where('decision', 'is', null)
    .where('expires_at', '<=', now)
    .execute()
}

/** Finds the proposal that blocks this one. Undefined when it is open and has the same content. */
async function findOther(
  tx: Tx,
  { kind, reason, key, act, proposed_by }: NewProposal,
): Promise<EarlierProposal | undefined> {
  const { rows } = await sql<EarlierProposal & { is_same: boolean }>`
    select proposer.username as proposer, decision, decision is null and
      (kind, reason, act, proposed_by) = (${kind}, ${reason}, ${act}::jsonb, ${proposed_by}::bigint) as is_same
    from proposals join users as proposer on proposer.id = proposed_by
    where key = ${key} and (${isInForce})`.execute(tx)
  if (rows[0] === undefined) throw new AppError('conflict', 'The proposal before this one was just decided')
  const { is_same, ...earlier } = rows[0]
  return is_same ? undefined : earlier
}

/**
 * Proposes a change of a setting within a transaction. The key names the last change of the setting, so one proposal is
 * open at a time, and another is possible after the next change. Returns and throws as `propose` does.
 */
export async function proposeSettingWithin(
  tx: Tx,
  { name, value, now }: { name: SettingName; value: string; now: Date },
  actor: Actor,
): Promise<EarlierProposal | undefined> {
  const set = await tx
    .selectFrom('site_settings')
    .where('name', '=', name)
    .select('updated_at')
    .executeTakeFirst()
  const key = `setting-${name}-${set?.updated_at.getTime() ?? 'default'}`
  return proposeWithin(
    tx,
    { kind: 'setting', setting: name, value: value.trim(), reason: '', key },
    actor,
    now,
  )
}

/**
 * Proposes the terms of an application. The key names the last approved terms, so one proposal is open at a time, and
 * the same terms can be proposed again later. Returns and throws as `propose` does.
 */
export async function proposeTerms(
  deps: Core,
  payment_id: string,
  { reason, ...terms }: Terms,
  actor: Actor,
): Promise<EarlierProposal | undefined> {
  const last = await deps.db
    .selectFrom('proposals')
    .where('kind', '=', 'terms')
    .where(sql`act ->> 'payment_id'`, '=', payment_id)
    .where('decision', '=', 'approved')
    .select((eb) => eb.fn.max('id').as('id'))
    .executeTakeFirstOrThrow()
  const key = `terms-${payment_id}-${last.id ?? 'first'}`
  return propose(deps, { kind: 'terms', payment_id, terms: textsOf(terms), reason, key }, actor)
}

/**
 * Approves a proposal and carries it out in one transaction. Throws not_found, and forbidden for its proposer. Throws
 * conflict when it is decided or expired, when its proposer is no longer an administrator, or when the act fails. The
 * proposal then stays open.
 */
export async function approveProposal(deps: Core, id: bigint, actor: Actor): Promise<void> {
  const now = deps.clock()
  await deps.db.transaction().execute(async (tx) => {
    const proposal = await lockOpen(tx, id)
    if (proposal.proposed_by === actor.actor_id)
      throw new AppError('forbidden', 'Another administrator has to approve this')
    if (proposal.expires_at <= now) throw new AppError('conflict', 'The time to approve this is over')
    await decide(tx, id, 'approved', actor, now)
    await carryOut(tx, deps, proposal, now)
    await recordDecision(tx, proposal, 'approve', actor, '')
  })
}

/**
 * Declines a proposal, or withdraws it for its proposer, and returns which. Throws not_found, and conflict when it is
 * decided.
 */
export async function declineProposal(
  { db, clock }: Core,
  id: bigint,
  { reason, ...actor }: Actor & { reason: string },
): Promise<'declined' | 'withdrawn'> {
  return db.transaction().execute(async (tx) => {
    const proposal = await lockOpen(tx, id)
    const isOwn = proposal.proposed_by === actor.actor_id
    const decision = isOwn ? 'withdrawn' : 'declined'
    await decide(tx, id, decision, actor, clock())
    await recordDecision(tx, proposal, isOwn ? 'withdraw' : 'decline', actor, reason)
    return decision
  })
}

async function lockOpen(tx: Tx, id: bigint): Promise<Proposal> {
  const proposal = await tx
    .selectFrom('proposals')
    .where('id', '=', id)
    .selectAll()
    .forUpdate()
    .executeTakeFirst()
  if (proposal === undefined) throw new AppError('not_found', 'There is no such proposal')
  if (proposal.decision !== null) throw new AppError('conflict', `This proposal is ${proposal.decision}`)
  return proposal
}

async function decide(
  tx: Tx,
  id: bigint,
  decision: NonNullable<Proposal['decision']>,
  { actor_id }: Actor,
  now: Date,
): Promise<void> {
  await tx
    .updateTable('proposals')
    .set({ decision, decided_by: actor_id, decided_at: now })
    .where('id', '=', id)
    .execute()
    .catch(explainAlone)
}

function explainAlone(error: unknown): never {
  if (violatedConstraint(error) !== 'proposals_two_administrators') throw error
  throw new AppError('conflict', 'The proposer of this is no longer an administrator', { cause: error })
}

/** Carries out the act of a proposal, with the proposer as actor and with the proposer's reason. */
async function carryOut(tx: Tx, { settings }: Core, proposal: Proposal, now: Date): Promise<void> {
  const { reason, key, proposed_by: actor_id } = proposal
  const by = { reason, actor_id, ip: null }
  const act = readAct(proposal)
  switch (act.kind) {
    case 'setting': {
      const name = act.setting as SettingName
      return settings.changeWithin(tx, { name, value: act.value, actor_id, ip: null, now })
    }
    case 'terms':
      return setTermsWithin(
        tx,
        act.payment_id,
        { ...termsOfTexts(act.terms), reason },
        { actor_id, ip: null, now },
      )
    case 'points':
      await postLinesWithin(tx, act.lines.map(resolvedLine), { ...by, key, now })
      return
    case 'refund': {
      const { kind: _, amount, request_id, ...order } = act
      const request = request_id === undefined ? {} : { request_id: BigInt(request_id) }
      await refundWithin(tx, { ...order, ...by, ...request, amount: BigInt(amount), key }, now)
      return
    }
    case 'reversal': {
      const { transaction_id, with_fee } = act
      await reverseWithin(tx, { transaction_id, with_fee, ...by }, now)
      return
    }
  }
}

function resolvedLine(
  { user_id, username, amount }: { user_id: string; username: string; amount: string },
  index: number,
): PointsLine {
  return {
    line: index + 1,
    username,
    text: `${username},${amount}`,
    amount: BigInt(amount),
    user_id: BigInt(user_id),
    fault: undefined,
  }
}

async function recordDecision(
  tx: Tx,
  proposal: Proposal,
  act: 'approve' | 'decline' | 'withdraw',
  { actor_id, ip }: Actor,
  reason: string,
): Promise<void> {
  const { kind, transaction_id } = subjectOf(readAct(proposal))
  const detail = { kind, transaction_id, ...(reason === '' ? {} : { reason }) }
  await recordAudit(tx, {
    actor_id,
    action: `proposal.${act}`,
    subject: `proposal:${proposal.id}`,
    detail,
    ip,
  })
}

/** Reads a proposal that exists. */
export async function readProposal(db: Db, id: bigint) {
  const row = await db
    .selectFrom('proposals')
    .where('id', '=', id)
    .select(['kind', 'act'])
    .executeTakeFirstOrThrow()
  return { act: readAct(row) }
}

/** Reads the newest proposals: only open ones if `isOpen`, and only those with an ID below `before` if it is given. */
export async function readProposals(
  db: Db,
  { isOpen, before }: { isOpen: boolean; before: bigint | undefined },
  limit: number,
) {
  let proposals = db
    .selectFrom('proposals as proposal')
    .innerJoin('users as proposer', 'proposer.id', 'proposal.proposed_by')
    .leftJoin('users as decider', 'decider.id', 'proposal.decided_by')
    .orderBy('proposal.id', 'desc')
    .limit(limit)
    .selectAll('proposal')
    .select(['proposer.username as proposer', 'decider.username as decider'])
  if (isOpen) proposals = proposals.where('proposal.decision', 'is', null)
  if (before !== undefined) proposals = proposals.where('proposal.id', '<', before)
  const rows = await proposals.execute()
  return rows.map((row) => ({ ...row, act: readAct(row) }))
}

/** Counts the proposals without a decision, and all. */
export async function countProposals(db: Db): Promise<Counts<'open'>> {
  return countEach(db, {
    all: sql`select from proposals`,
    open: sql`select from proposals where decision is null order by id`,
  })
}
