/**
 * Acts that need two administrators: one proposes the act, and another approves it, which carries it out. The database
 * enforces that the two differ and are administrators, that a proposal never changes and is decided once and in time,
 * and that at most one with the same key is open or approved (070-payments.sql, functions/guards/second-approver.sql).
 * spec/points 2.5.
 */
import { type Selectable, sql } from 'kysely'
import { postLinesWithin } from '../../accounts/points.ts'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { lockSettings, lockTwoPeopleRule } from '../../core/settings.ts'
import { type Db, type Tx, violatedConstraint } from '../../database/connection.ts'
import { type Counts, countEach } from '../../database/counts.ts'
import type { ProposalsTable } from '../../database/tables/payments.ts'
import { setTermsWithin, termsNeedTwo, termsOfTexts } from '../../payment/apps/terms.ts'
import { refundWithin, reverseWithin } from '../../payment/orders/refunds.ts'
import { AppError } from '../../platform/errors.ts'
import {
  type PointsAct,
  type ProposedAct,
  proposedAct,
  readAct,
  type StoredAct,
  storedAct,
  type TermsChange,
} from './acts.ts'

const OPEN_DAYS = 7
const DAY_MS = 86_400_000
/** At most one proposal with the same key is open or approved. */
const isInForce = sql<boolean>`decision is null or decision = 'approved'`

type Actor = { actor_id: bigint; ip: string }

type Proposal = Selectable<ProposalsTable>
type NewProposal = Pick<Proposal, 'kind' | 'reason' | 'key' | 'proposed_by'> & { act: string }

/** Another proposal with the same key, which blocks a new one. */
export type EarlierProposal = { proposer: string; decision: 'approved' | null }

/** `repeated`: the same act was done before. `earlier`: another proposal blocks this one. */
export type Outcome =
  | { state: 'done' | 'repeated' }
  | { state: 'proposed'; earlier: EarlierProposal | undefined }

/**
 * Carries out an act, or proposes it where it needs a second administrator. The rule cannot change in between. Throws as the
 * act and `proposeWithin` do.
 */
export async function actOrPropose(
  { db, clock, settings, databaseTime }: Core,
  act: PointsAct | TermsChange,
  actor: Actor,
): Promise<Outcome> {
  const [now, proposed_at] = [clock(), await databaseTime()]
  return db.transaction().execute(async (tx) => {
    const needsTwo = (await lockTwoPeopleRule(tx)) && (act.kind !== 'terms' || (await changesTerms(tx, act)))
    if (needsTwo) return { state: 'proposed', earlier: await proposeWithin(tx, act, actor, proposed_at) }
    return { state: (await carryOut(tx, settings, act, { ...actor, now })) ? 'done' : 'repeated' }
  })
}

function changesTerms(tx: Tx, { payment_id, terms }: TermsChange): Promise<boolean> {
  return termsNeedTwo(tx, payment_id, termsOfTexts(terms))
}

/**
 * Writes a proposal. A repeated call with the same key and content writes nothing. Returns another proposal with the
 * same key that is open or approved, and writes nothing then. Throws invalid_form for an invalid line, and conflict when
 * that other proposal was decided meanwhile. `now` is the database's time, because it closes an expired proposal for good.
 */
export async function proposeWithin(
  tx: Tx,
  proposed: ProposedAct,
  { actor_id, ip }: Actor,
  now: Date,
): Promise<EarlierProposal | undefined> {
  const reason = 'reason' in proposed ? proposed.reason : ''
  const key = await keyOf(tx, proposed)
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
 * Returns the key of a proposal. At most one with the same key is open or approved. A merchant's request has one key for all
 * proposers. A setting, and the terms of an application, have a new key after each change.
 */
async function keyOf(tx: Tx, act: ProposedAct): Promise<string> {
  if (act.kind === 'setting') {
    const { rows } = await sql<{ updated_at: Date }>`
      select updated_at from site_settings where name = ${act.setting}`.execute(tx)
    return `setting-${act.setting}-${rows[0]?.updated_at.getTime() ?? 'default'}`
  }
  if (act.kind === 'terms') {
    const { rows } = await sql<{ id: bigint | null }>`
      select max(id) as id from proposals
      where kind = 'terms' and act ->> 'payment_id' = ${act.payment_id} and decision = 'approved'`.execute(tx)
    return `terms-${act.payment_id}-${rows[0]?.id ?? 'first'}`
  }
  return act.kind === 'refund' && act.request_id !== undefined ? `request-${act.request_id}` : act.key
}

/**
 * Approves a proposal and carries it out in one transaction. Throws not_found, and forbidden for its proposer. Throws
 * conflict when it is decided or expired, when its proposer is no longer an administrator, or when the act fails. The
 * proposal then stays open.
 */
export async function approveProposal(deps: Core, id: bigint, actor: Actor): Promise<void> {
  const now = deps.clock()
  await deps.db.transaction().execute(async (tx) => {
    await lockSettings(tx)
    const proposal = await lockOpen(tx, id)
    if (proposal.proposed_by === actor.actor_id)
      throw new AppError('forbidden', 'Another administrator has to approve this')
    if (proposal.expires_at <= now) throw new AppError('conflict', 'The time to approve this is over')
    await decide(tx, id, 'approved', actor, now)
    const { proposed_by: proposer_id } = proposal
    await carryOut(tx, deps.settings, proposedAct(proposal), { actor_id: proposer_id, ip: null, now })
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

/** Carries out an act. Returns false for a repeated one, which does nothing. */
async function carryOut(
  tx: Tx,
  settings: Core['settings'],
  act: ProposedAct,
  by: { actor_id: bigint; ip: string | null; now: Date },
): Promise<boolean> {
  switch (act.kind) {
    case 'setting':
      await settings.changeWithin(tx, { name: act.setting, value: act.value, ...by })
      return true
    case 'terms':
      await setTermsWithin(tx, act.payment_id, { ...termsOfTexts(act.terms), reason: act.reason }, by)
      return true
    case 'points':
      return postLinesWithin(tx, act.lines, { ...act, ...by })
    case 'refund':
      return refundWithin(tx, { ...act, ...by }, by.now)
    case 'reversal':
      return reverseWithin(tx, { ...act, ...by }, by.now)
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
