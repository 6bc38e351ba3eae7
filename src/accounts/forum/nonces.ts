/** The nonces that browsers take to the forum and bring back. Each works once, for 10 minutes, in one browser. */
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { randomToken, sha256 } from '../../platform/secrets.ts'

export const NONCE_MINUTES = 10

export type NonceFault = 'unknown' | 'other_browser' | 'used' | 'expired'

/** Makes a nonce that only this browser can use. */
export async function issueNonce({ db, clock }: Core, browser: string, return_to: string): Promise<string> {
  const nonce = randomToken()
  const expires_at = new Date(clock().getTime() + NONCE_MINUTES * 60_000)
  await db
    .insertInto('forum_nonces')
    .values({ nonce_hash: sha256(nonce), browser_hash: sha256(browser), return_to, expires_at })
    .execute()
  return nonce
}

export type NonceUse = { nonce: string; browser: string }

/** Checks a nonce before any request or write. claimNonce decides. */
export async function lookAtNonce(
  { db, clock }: Core,
  { nonce, browser }: NonceUse,
): Promise<{ fault: NonceFault | undefined; return_to: string }> {
  const row = await db
    .selectFrom('forum_nonces')
    .where('nonce_hash', '=', sha256(nonce))
    .select(['browser_hash', 'return_to', 'used_at', 'expires_at'])
    .executeTakeFirst()
  if (row === undefined) return { fault: 'unknown', return_to: '/' }
  if (!row.browser_hash.equals(sha256(browser))) return { fault: 'other_browser', return_to: '/' }
  const { return_to } = row
  if (row.used_at !== null) return { fault: 'used', return_to }
  return { fault: row.expires_at <= clock() ? 'expired' : undefined, return_to }
}

/** Uses the nonce. Of any number of requests with one nonce, only one succeeds. */
export async function claimNonce(tx: Tx, { nonce, browser }: NonceUse, now: Date): Promise<boolean> {
  const claimed = await tx
    .updateTable('forum_nonces')
    .set({ used_at: now })
    .where('nonce_hash', '=', sha256(nonce))
    .where('browser_hash', '=', sha256(browser))
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return claimed.numUpdatedRows === 1n
}
