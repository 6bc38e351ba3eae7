/** Proposals of administrators, without the page that makes them. */
import type { ProposedAct } from '../../src/admin/proposals/acts.ts'
import { proposeWithin } from '../../src/admin/proposals/proposals.ts'
import type { Core } from '../../src/core/core.ts'

/** Proposes an act, whether it needs a second administrator or not. Returns the proposal that blocks it. */
export async function propose(
  { db, databaseTime }: Core,
  act: ProposedAct,
  actor: { actor_id: bigint; ip: string },
) {
  const now = await databaseTime()
  return db.transaction().execute((tx) => proposeWithin(tx, act, actor, now))
}
