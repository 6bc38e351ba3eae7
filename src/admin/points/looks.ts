/**
 * Which findings of suspicious activity an administrator has looked at. A finding stays away until its figure has grown by half, or for
 * 30 days. The first of two administrators is kept: the database refuses a later look at the same figure. spec/points 2.7.
 */
import { sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'

const KEPT_DAYS = 30
const DAY_MS = 86_400_000
/** The newest looks that a page heeds. More are not made by hand in a month. */
const LOOKS_MAX = 200
export const NOTE_LENGTH_MAX = 500

/** The last look at a finding: its figure then, and who looked. */
export type Look = { size: bigint; note: string; looked_at: Date; username: string }

/** What an administrator saw: the figure of a finding in points, or in accounts of an address, and who it is about. */
type Seen = { finding: string; size: bigint; note: string; who: string }

type Actor = { actor_id: bigint; ip: string }

/** Reads the looks that are in force, by finding. */
export async function readLooks(db: Db, now: Date): Promise<Map<string, Look>> {
  const rows = await db
    .selectFrom('looked_findings as look')
    .innerJoin('users', 'users.id', 'look.looked_by')
    .where('look.looked_at', '>', forgottenAt(now))
    .orderBy('look.looked_at', 'desc')
    .limit(LOOKS_MAX)
    .select(['look.finding', 'look.size', 'look.note', 'look.looked_at', 'users.username'])
    .execute()
  return new Map(rows.map(({ finding, ...look }) => [finding, look]))
}

/** Whether a finding has grown by half since it was looked at. */
export function hasGrown(size: bigint, look: Pick<Look, 'size'>): boolean {
  return size * 2n >= look.size * 3n
}

/** Keeps a look and its audit entry. Returns the look of another administrator who was earlier, and writes nothing then. */
export async function lookAt(
  { db, clock }: Pick<Core, 'db' | 'clock'>,
  { finding, size, note, who }: Seen,
  { actor_id, ip }: Actor,
): Promise<Look | undefined> {
  const now = clock()
  return db.transaction().execute(async (tx) => {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('looked_findings')
      .values({ finding, size, note, looked_by: actor_id, looked_at: now })
      .onConflict((conflict) =>
        conflict
          .column('finding')
          .doUpdateSet({ size, note, looked_by: actor_id, looked_at: now })
          .where(
            sql<boolean>`looked_findings.size < ${size} or looked_findings.looked_at <= ${forgottenAt(now)}`,
          ),
      )
      .executeTakeFirst()
    if (numInsertedOrUpdatedRows === 0n) return findLook(tx, finding)
    const detail = { who, ...figureOf(finding, size), note }
    await recordAudit(tx, { actor_id, action: 'finding.look', subject: subjectOf(finding), detail, ip })
    return undefined
  })
}

/** Puts a finding back among those to look at. A repeat does nothing. */
export async function reopen(
  { db }: Pick<Core, 'db'>,
  finding: string,
  { actor_id, ip }: Actor,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { numDeletedRows } = await tx
      .deleteFrom('looked_findings')
      .where('finding', '=', finding)
      .executeTakeFirst()
    if (numDeletedRows === 0n) return
    await recordAudit(tx, { actor_id, action: 'finding.reopen', subject: subjectOf(finding), detail: {}, ip })
  })
}

function findLook(tx: Tx, finding: string): Promise<Look> {
  return tx
    .selectFrom('looked_findings as look')
    .innerJoin('users', 'users.id', 'look.looked_by')
    .where('look.finding', '=', finding)
    .select(['look.size', 'look.note', 'look.looked_at', 'users.username'])
    .executeTakeFirstOrThrow()
}

/** Looks up to this time are no longer in force. The trigger has the same days. */
const forgottenAt = (now: Date) => new Date(now.getTime() - KEPT_DAYS * DAY_MS)
const subjectOf = (finding: string) => `finding:${finding}`
const figureOf = (finding: string, size: bigint) =>
  finding.startsWith('byAddress:') ? { accounts: String(size) } : { amount: String(size) }
