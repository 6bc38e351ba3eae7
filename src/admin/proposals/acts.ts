// This room: acts that wait for a second administrator, while the setting second_approver is on.
// Verbs: propose, approveProposal, declineProposal.
// Tables: proposals.
// Clauses: spec/points 2.5.
/** The acts that one administrator proposes and another approves, each kind with its shape. Numbers are decimal text. */
import { z } from 'zod'
import type { PointsLine } from '../../accounts/points.ts'
import type { SettingName } from '../../core/setting-values.ts'
import { AppError } from '../../platform/errors.ts'

const Text = z.string()
const Points = z.string().regex(/^-?\d{1,19}$/)

const Refund = z.strictObject({
  kind: z.literal('refund'),
  transaction_id: Text,
  amount: Points,
  with_fee: z.boolean(),
  /** The merchant's request that it accepts. */
  request_id: Text.optional(),
})
const Reversal = z.strictObject({ kind: z.literal('reversal'), transaction_id: Text, with_fee: z.boolean() })
const Lines = z.strictObject({
  kind: z.literal('points'),
  lines: z.array(z.strictObject({ user_id: Text, username: Text, amount: Points })),
})
const Setting = z.strictObject({ kind: z.literal('setting'), setting: Text, value: Text })
const Terms = z.strictObject({
  kind: z.literal('terms'),
  payment_id: Text,
  terms: z.strictObject({
    fee_rate: Text.nullable(),
    daily_payments_max: Points.nullable(),
    daily_transfers_max: Points.nullable(),
  }),
})

/** An act as it is stored: the kind in its own column, and the rest as one value. */
const StoredAct = z.discriminatedUnion('kind', [Refund, Reversal, Lines, Setting, Terms])
export type StoredAct = z.output<typeof StoredAct>

export type Terms = z.output<typeof Terms>['terms']

type Named = { reason: string; key: string }

/** A refund, a reversal, or lines of grants and adjustments. Amounts are whole points. */
export type PointsAct = Named &
  (
    | { kind: 'refund'; transaction_id: string; amount: bigint; with_fee: boolean; request_id?: bigint }
    | { kind: 'reversal'; transaction_id: string; with_fee: boolean }
    | { kind: 'points'; lines: PointsLine[] }
  )

/** A setting that one administrator cannot change alone. */
type SettingChange = Named & { kind: 'setting'; setting: SettingName; value: string }

type TermsChange = Named & { kind: 'terms'; payment_id: string; terms: Terms }

export type ProposedAct = PointsAct | SettingChange | TermsChange

/** Returns the act as it is stored. Throws invalid_form for an invalid line. */
export function storedAct(proposed: ProposedAct): StoredAct {
  const { reason: _, key: __, ...act } = proposed
  switch (act.kind) {
    case 'refund': {
      const { request_id, ...refund } = act
      const request = request_id === undefined ? {} : { request_id: String(request_id) }
      return { ...refund, amount: String(act.amount), ...request }
    }
    case 'points':
      return { kind: act.kind, lines: act.lines.map(storedLine) }
    default:
      return act
  }
}

function storedLine({ user_id, username, amount, fault }: PointsLine) {
  if (user_id === undefined || fault !== undefined) throw new AppError('invalid_form', 'A line is invalid')
  return { user_id: String(user_id), username, amount: String(amount) }
}

/** Reads a stored act. */
export function readAct(row: { kind: string; act: unknown }): StoredAct {
  return StoredAct.parse({ kind: row.kind, ...(row.act as object) })
}

/**
 * The key of a proposal. At most one with the same key is open or approved, so a request of a merchant is proposed for
 * acceptance once, whoever proposes it.
 */
export function keyOf(act: ProposedAct): string {
  return act.kind === 'refund' && act.request_id !== undefined ? `request-${act.request_id}` : act.key
}
