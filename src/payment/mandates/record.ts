/** Locks of one mandate, the end of mandates, and the record of acts on them: audit log and events. spec/mandates 3.3. */
import { sql } from 'kysely'
import type { Tx } from '../../database/connection.ts'

/** Locks one mandate until the transaction ends, so that a charge comes wholly before the act or wholly after it. */
export async function lockMandate(tx: Tx, mandate_id: string): Promise<void> {
  await sql`select from mandates where mandate_id = ${mandate_id} for no key update`.execute(tx)
}

/** Reads the terms before an act, for the audit log. */
export async function termsBefore(tx: Tx, id: bigint): Promise<string> {
  const { rows } = await sql<{ terms: string }>`
    select mandate_terms(m)::text as terms from mandates as m where id = ${id}`.execute(tx)
  return rows[0]!.terms
}

export type MandateAct = {
  action: 'mandate.accept' | 'mandate.pause' | 'mandate.resume' | 'mandate.change' | 'mandate.next_period'
  before: string
  /** Null for the operator and for a merchant's program. */
  actor_id: bigint | null
  ip: string | null
  /** Where the act came from, and what else explains it. */
  detail: Record<string, unknown>
}

/** Writes an act to the audit log, with the terms before and after it. */
export async function noteAct(
  tx: Tx,
  id: bigint,
  { action, before, actor_id, ip, detail }: MandateAct,
): Promise<void> {
  await sql`select note_mandate_act(
    ${id}::bigint, ${action}, ${before}::jsonb, ${actor_id}::bigint, ${ip}, ${JSON.stringify(detail)}::jsonb
  )`.execute(tx)
}

/** Writes the event of an act, if the application has an address for events. The act writes it last. */
export async function writeEvent(
  tx: Tx,
  id: bigint,
  kind: 'mandate.created' | 'mandate.changed',
): Promise<void> {
  await sql`select write_mandate_event(${kind}, ${id}::bigint)`.execute(tx)
}

/** Ends mandates, and writes the audit log and the events. Returns the ids of those that had not ended before. */
export async function endMandates(
  tx: Tx,
  ids: bigint[],
  {
    reason,
    now,
    actor_id,
    ip,
    detail,
  }: {
    reason: 'declined' | 'member' | 'merchant' | 'staff' | 'replaced'
    now: Date
    actor_id: bigint | null
    ip: string | null
    detail: Record<string, unknown>
  },
): Promise<bigint[]> {
  const { rows } = await sql<{ ended: bigint[] }>`
    select end_mandates(
      ${ids}::bigint[], ${reason}, ${now}::timestamptz, ${actor_id}::bigint, ${ip}, ${JSON.stringify(detail)}::jsonb
    ) as ended`.execute(tx)
  return rows[0]!.ended
}
