// This room: acts that wait for a second administrator, while the setting second_approver is on.
// Verbs: actOrPropose, proposeWithin, approveProposal, declineProposal.
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

/** A refund, a reversal, or lines of grants and adjustments. Amounts are whole points. The same key acts once. */
export type PointsAct = { reason: string; key: string } & (
  | { kind: 'refund'; transaction_id: string; amount: bigint; with_fee: boolean; request_id?: bigint }
  | { kind: 'reversal'; transaction_id: string; with_fee: boolean }
  | { kind: 'points'; lines: PointsLine[] }
)

export type TermsChange = { kind: 'terms'; payment_id: string; terms: Terms; reason: string }

/** A setting that one administrator cannot change alone. */
type SettingChange = { kind: 'setting'; setting: SettingName; value: string }

export type ProposedAct = PointsAct | SettingChange | TermsChange

/** Returns the act as it is stored. Throws invalid_form for an invalid line. */
export function storedAct(act: ProposedAct): StoredAct {
  switch (act.kind) {
    case 'refund': {
      const { reason: _, key: __, request_id, ...refund } = act
      const request = request_id === undefined ? {} : { request_id: String(request_id) }
      return { ...refund, amount: String(act.amount), ...request }
    }
    case 'reversal': {
      const { reason: _, key: __, ...reversal } = act
      return reversal
    }
    case 'points':
      return { kind: act.kind, lines: act.lines.map(storedLine) }
    case 'terms': {
      const { reason: _, ...change } = act
      return change
    }
    case 'setting':
      return act
  }
}

function storedLine({ user_id, username, amount, fault }: PointsLine) {
  if (user_id === undefined || fault !== undefined) throw new AppError('invalid_form', 'A line is invalid')
  return { user_id: String(user_id), username, amount: String(amount) }
}

/** Returns the act of a proposal as it is carried out. */
export function proposedAct({ reason, key, ...row }: Proposed): ProposedAct {
  const act = readAct(row)
  switch (act.kind) {
    case 'refund': {
      const { amount, request_id, ...refund } = act
      const request = request_id === undefined ? {} : { request_id: BigInt(request_id) }
      return { ...refund, ...request, amount: BigInt(amount), reason, key }
    }
    case 'reversal':
      return { ...act, reason, key }
    case 'points':
      return { kind: act.kind, lines: act.lines.map(resolvedLine), reason, key }
    case 'terms':
      return { ...act, reason }
    case 'setting':
      return { ...act, setting: act.setting as SettingName }
  }
}

function resolvedLine(
  { user_id, username, amount }: ReturnType<typeof storedLine>,
  index: number,
): PointsLine {
  const text = `${username},${amount}`
  return {
    line: index + 1,
    username,
    text,
    amount: BigInt(amount),
    user_id: BigInt(user_id),
    fault: undefined,
  }
}

type Proposed = { kind: string; act: unknown; reason: string; key: string }

/** Reads a stored act. */
export function readAct(row: { kind: string; act: unknown }): StoredAct {
  return StoredAct.parse({ kind: row.kind, ...(row.act as object) })
}
