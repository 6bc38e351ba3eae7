/**
 * Acts that need two administrators: one proposes the act, and another approves it, which carries it out. The database
 * enforces that the two differ and are administrators, that a proposal never changes and is decided once and in time,
 * and that at most one with the same key is open or approved (070-payments.sql, functions/guards/second-approver.sql).
 */
import { type Insertable, type Selectable, sql } from 'kysely'
import { type PointsLine, postLinesWithin } from '../../accounts/points.ts'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { SettingName } from '../../core/setting-values.ts'
import { type Db, type Tx, violatedConstraint } from '../../database/connection.ts'
import type { CorrectionProposalsTable, ProposedTerms } from '../../database/tables/payments.ts'
import { setTermsWithin, type Terms, textsOf } from '../../payment/apps/terms.ts'
import { refundWithin, reverseWithin } from '../../payment/orders/refunds.ts'
import { AppError } from '../../platform/errors.ts'

const OPEN_DAYS = 7
const DAY_MS = 86_400_000
/** At most one proposal with the same key is open or approved. */
const isStanding = sql<boolean>`decision is null or decision = 'approved'`

type Named = { reason: string; key: string }

/** A refund, a reversal, or lines of grants and adjustments. Amounts are whole points. */
export type PointsAct = Named &
  (
    | { kind: 'refund'; transaction_id: string; amount: bigint; with_fee: boolean }
    | { kind: 'reversal'; transaction_id: string; with_fee: boolean }
    | { kind: 'points'; lines: PointsLine[] }
  )

/** A setting that one administrator cannot change alone. */
type SettingChange = Named & { kind: 'setting'; setting: SettingName; setting_value: string }

type TermsChange = Named & { kind: 'terms'; payment_id: string; terms: ProposedTerms }

type ProposedAct = PointsAct | SettingChange | TermsChange

type Actor = { actor_id: bigint; ip: string }

type Proposal = Selectable<CorrectionProposalsTable>

/** Another proposal with the same key, which blocks a new one. */
export type StandingProposal = { proposer: string; decision: 'approved' | null }

/**
 * Writes a proposal. A repeated call with the same key and content writes nothing. Returns another proposal with the
 * same key that is open or approved, and writes nothing then. Throws invalid_form for an invalid line, and conflict when
 * that other proposal was decided meanwhile.
 */
export async function propose(
  { db, clock }: Core,
  act: ProposedAct,
  { actor_id, ip }: Actor,
): Promise<StandingProposal | undefined> {
  const now = clock()
  const { kind, reason, key } = act
  const facts = factsOf(act)
  const proposal = { kind, reason, key, ...facts, proposed_by: actor_id }
  return db.transaction().execute(async (tx) => {
    await closeExpired(tx, key, now)
    const written = await tx
      .insertInto('correction_proposals')
      .values({
        ...proposal,
        proposed_at: now,
        expires_at: new Date(now.getTime() + OPEN_DAYS * DAY_MS),
      })
      .onConflict((conflict) => conflict.column('key').where(isStanding).doNothing())
      .returning('id')
      .executeTakeFirst()
    if (written === undefined) return findOther(tx, proposal)
    const { transaction_id, amount, setting, setting_value, payment_id } = facts
    const detail = {
      ...{ kind, reason, transaction_id, amount: amount?.toString() ?? null },
      ...(setting !== null && { setting, setting_value }),
      ...(payment_id !== null && { payment_id, terms: facts.terms }),
    }
    const subject = `proposal:${written.id}`
    await recordAudit(tx, { actor_id, action: 'correction.propose', subject, detail, ip })
    return undefined
  })
}

/** Closes an expired proposal, so a new one with the same key can be written. */
async function closeExpired(tx: Tx, key: string, now: Date): Promise<void> {
  await tx
    .updateTable('correction_proposals')
    .set({ decision: 'expired', decided_at: now })
    .where('key', '=', key)
    .where('decision', 'is', null)
    .where('expires_at', '<=', now)
    .execute()
}

/** Finds the proposal that blocks this one. Undefined when it is open and has the same content. */
async function findOther(
  tx: Tx,
  proposal: Insertable<Omit<CorrectionProposalsTable, 'proposed_at' | 'expires_at'>>,
): Promise<StandingProposal | undefined> {
  const { kind, reason, transaction_id, amount, with_fee, lines, proposed_by } = proposal
  const { setting, setting_value, payment_id, terms } = proposal
  const { rows } = await sql<StandingProposal & { is_same: boolean }>`
    select proposer.username as proposer, decision, decision is null and
      (kind, reason, transaction_id, amount, with_fee, lines, setting, setting_value, payment_id, terms, proposed_by)
      is not distinct from
      (${kind}, ${reason}, ${transaction_id}::text, ${amount}::bigint, ${with_fee}::boolean, ${lines}::jsonb,
        ${setting}::text, ${setting_value}::text, ${payment_id}::text, ${terms}::jsonb, ${proposed_by}::bigint) as is_same
    from correction_proposals join users as proposer on proposer.id = proposed_by
    where key = ${proposal.key} and (${isStanding})`.execute(tx)
  if (rows[0] === undefined) throw new AppError('conflict', 'The proposal before this one was just decided')
  const { is_same, ...standing } = rows[0]
  return is_same ? undefined : standing
}

/**
 * Proposes a change of a setting. The key names the last change of the setting, so one proposal is open at a time, and
 * another is possible after the next change. Returns and throws as `propose` does.
 */
export async function proposeSetting(
  deps: Core,
  { name, value }: { name: SettingName; value: string },
  actor: Actor,
): Promise<StandingProposal | undefined> {
  const set = await deps.db
    .selectFrom('site_settings')
    .where('name', '=', name)
    .select('updated_at')
    .executeTakeFirst()
  const key = `setting-${name}-${set?.updated_at.getTime() ?? 'default'}`
  const setting_value = value.trim()
  return propose(deps, { kind: 'setting', setting: name, setting_value, reason: '', key }, actor)
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
): Promise<StandingProposal | undefined> {
  const last = await deps.db
    .selectFrom('correction_proposals')
    .where('payment_id', '=', payment_id)
    .where('decision', '=', 'approved')
    .select((eb) => eb.fn.max('id').as('id'))
    .executeTakeFirstOrThrow()
  const key = `terms-${payment_id}-${last.id ?? 'first'}`
  return propose(deps, { kind: 'terms', payment_id, terms: textsOf(terms), reason, key }, actor)
}

const NO_FACTS = {
  transaction_id: null,
  with_fee: null,
  amount: null,
  lines: null,
  setting: null,
  setting_value: null,
  payment_id: null,
  terms: null,
}

function factsOf(act: ProposedAct) {
  if (act.kind === 'setting') {
    const { setting, setting_value } = act
    return { ...NO_FACTS, setting, setting_value }
  }
  if (act.kind === 'terms') {
    const { payment_id, terms } = act
    return { ...NO_FACTS, payment_id, terms: JSON.stringify(terms) }
  }
  if (act.kind !== 'points') {
    const { transaction_id, with_fee } = act
    const amount = act.kind === 'refund' ? act.amount : null
    return { ...NO_FACTS, transaction_id, with_fee, amount }
  }
  const lines = act.lines.map(({ user_id, username, amount, fault }) => {
    if (user_id === undefined || fault !== undefined) throw new AppError('invalid_form', 'A line is invalid')
    return { user_id: String(user_id), username, amount: String(amount) }
  })
  return { ...NO_FACTS, lines: JSON.stringify(lines) }
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

/** Declines a proposal, or withdraws it for its proposer. Throws not_found, and conflict when it is decided. */
export async function declineProposal(
  { db, clock }: Core,
  id: bigint,
  { reason, ...actor }: Actor & { reason: string },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const proposal = await lockOpen(tx, id)
    const isOwn = proposal.proposed_by === actor.actor_id
    await decide(tx, id, isOwn ? 'withdrawn' : 'declined', actor, clock())
    await recordDecision(tx, proposal, isOwn ? 'withdraw' : 'decline', actor, reason)
  })
}

async function lockOpen(tx: Tx, id: bigint): Promise<Proposal> {
  const proposal = await tx
    .selectFrom('correction_proposals')
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
    .updateTable('correction_proposals')
    .set({ decision, decided_by: actor_id, decided_at: now })
    .where('id', '=', id)
    .execute()
    .catch(explainAlone)
}

function explainAlone(error: unknown): never {
  if (violatedConstraint(error) !== 'correction_proposals_two_administrators') throw error
  throw new AppError('conflict', 'The proposer of this is no longer an administrator', { cause: error })
}

/** Carries out the act of a proposal, with the proposer as actor and with the proposer's reason. */
async function carryOut(tx: Tx, { settings }: Core, proposal: Proposal, now: Date): Promise<void> {
  const { kind, transaction_id, amount, with_fee, lines, reason, key, proposed_by: actor_id } = proposal
  const by = { reason, actor_id, ip: null }
  if (kind === 'setting') {
    const name = proposal.setting as SettingName
    return settings.changeWithin(tx, { name, value: proposal.setting_value!, actor_id, ip: null, now })
  }
  if (kind === 'terms') {
    const { fee_rate, daily_payments_max, daily_transfers_max } = proposal.terms!
    const terms = {
      ...{ fee_rate, reason },
      daily_payments_max: daily_payments_max === null ? null : BigInt(daily_payments_max),
      daily_transfers_max: daily_transfers_max === null ? null : BigInt(daily_transfers_max),
    }
    return setTermsWithin(tx, proposal.payment_id!, terms, { actor_id, ip: null, now })
  }
  if (kind === 'points') {
    const resolved = lines!.map((line, index) => ({
      line: index + 1,
      username: line.username,
      text: `${line.username},${line.amount}`,
      amount: BigInt(line.amount),
      user_id: BigInt(line.user_id),
      fault: undefined,
    }))
    await postLinesWithin(tx, resolved, { ...by, key, now })
    return
  }
  const act = { transaction_id: transaction_id!, with_fee: with_fee!, ...by }
  if (kind === 'refund') return refundWithin(tx, { ...act, amount: amount!, key }, now)
  return reverseWithin(tx, act, now)
}

async function recordDecision(
  tx: Tx,
  { id, kind, transaction_id }: Proposal,
  act: 'approve' | 'decline' | 'withdraw',
  { actor_id, ip }: Actor,
  reason: string,
): Promise<void> {
  const detail = { kind, transaction_id, ...(reason === '' ? {} : { reason }) }
  await recordAudit(tx, { actor_id, action: `correction.${act}`, subject: `proposal:${id}`, detail, ip })
}

/** Reads the newest proposals: only open ones if `isOpen`, and only those with an ID below `before` if it is given. */
export async function readProposals(
  db: Db,
  { isOpen, before }: { isOpen: boolean; before: bigint | undefined },
  limit: number,
) {
  let proposals = db
    .selectFrom('correction_proposals as proposal')
    .innerJoin('users as proposer', 'proposer.id', 'proposal.proposed_by')
    .leftJoin('users as decider', 'decider.id', 'proposal.decided_by')
    .orderBy('proposal.id', 'desc')
    .limit(limit)
    .selectAll('proposal')
    .select(['proposer.username as proposer', 'decider.username as decider'])
  if (isOpen) proposals = proposals.where('proposal.decision', 'is', null)
  if (before !== undefined) proposals = proposals.where('proposal.id', '<', before)
  return proposals.execute()
}
