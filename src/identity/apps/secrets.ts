/**
 * The secrets of applications. They are shown once and stored as hashes. Two may be live, so that a new one can replace an
 * old one without an interruption. An owner adds a secret by presenting one (spec/registry 1.4). An owner who has lost all
 * secrets asks an administrator.
 */
import { timingSafeEqual } from 'node:crypto'
import { recordAudit } from '../../core/audit.ts'
import type { Db, Tx } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { ALNUM, randomText, sha256 } from '../../platform/secrets.ts'
import { isPublic } from './access.ts'
import { lockApp, type Owned } from './lock.ts'

const CLIENT_SECRET_LENGTH = 48
const FINGERPRINT_LENGTH = 12
const HOUR_MS = 3_600_000
export const LIVE_SECRETS_MAX = 2
/** How many hours the old secret may stay live beside a new one. */
export const OVERLAP_HOURS = [0, 1, 24, 168, 720]
export const OVERLAP_HOURS_DEFAULT = 24

/** Makes a secret and its hash. */
export function newSecret(): { client_secret: string; secret_hash: Buffer } {
  const client_secret = randomText(CLIENT_SECRET_LENGTH, ALNUM)
  return { client_secret, secret_hash: sha256(client_secret) }
}

/** Returns the start of the hash, by which an owner distinguishes secrets. It does not help to guess one. */
function fingerprintOf(secret_hash: Buffer): string {
  return secret_hash.toString('hex').slice(0, FINGERPRINT_LENGTH)
}

/** Returns the secrets that work now, oldest first. */
export async function liveSecrets(db: Db, app_id: bigint, now: Date) {
  const rows = await db
    .selectFrom('app_secrets')
    .where('app_id', '=', app_id)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .orderBy('id')
    .select(['id', 'secret_hash', 'created_at', 'last_used_at', 'expires_at'])
    .execute()
  return rows.map((row) => ({ ...row, fingerprint: fingerprintOf(row.secret_hash) }))
}

export type LiveSecret = Awaited<ReturnType<typeof liveSecrets>>[number]

/** The new secret, or why none was added. */
export type Addition = { client_secret: string } | { problem: 'not_live' | 'two_live' }

/**
 * Says why no secret would be added for the presented one, and else which one it is. Nothing changes.
 */
export function judgeSecret(
  live: LiveSecret[],
  presented: string,
): { problem: 'not_live' | 'two_live' } | { presented: LiveSecret } {
  const hash = sha256(presented)
  const found = live.find(({ secret_hash }) => timingSafeEqual(secret_hash, hash))
  if (found === undefined) return { problem: 'not_live' }
  return live.length >= LIVE_SECRETS_MAX ? { problem: 'two_live' } : { presented: found }
}

/**
 * Adds a secret, and sets the end of the presented one. It locks the application's row first, so simultaneous additions and
 * resets run one after another. Throws not_found.
 */
export async function addSecret(
  db: Db,
  owned: Owned & { presented: string; overlap_hours: number },
): Promise<Addition> {
  const { client_id, presented, overlap_hours, now } = owned
  return db.transaction().execute(async (tx) => {
    const app = await lockApp(tx, owned)
    const live = await liveSecrets(tx, app.id, now)
    const judged = judgeSecret(live, presented)
    if ('problem' in judged) return judged
    const { client_secret, secret_hash } = newSecret()
    await endSecrets(tx, live, new Date(now.getTime() + overlap_hours * HOUR_MS))
    await tx.insertInto('app_secrets').values({ app_id: app.id, secret_hash }).execute()
    await recordSecrets(tx, 'secret_added', { client_id, before: live, app_id: app.id }, owned)
    return { client_secret }
  })
}

/** Ends one secret at once, and returns how many are left. Throws not_found when no live secret has this fingerprint. */
export async function endSecret(db: Db, owned: Owned & { fingerprint: string }): Promise<number> {
  const { client_id, fingerprint, now } = owned
  return db.transaction().execute(async (tx) => {
    const app = await lockApp(tx, owned)
    const live = await liveSecrets(tx, app.id, now)
    const ended = live.filter((secret) => secret.fingerprint === fingerprint)
    if (ended.length === 0) throw new AppError('not_found', 'No such secret')
    await endSecrets(tx, ended, now)
    await recordSecrets(tx, 'secret_ended', { client_id, before: live, app_id: app.id }, owned)
    return live.length - 1
  })
}

/** Makes one new secret and ends all others at once. Throws not_found, and conflict for a public client. */
export async function resetSecret(
  db: Db,
  by: { client_id: string; actor_id: bigint; now: Date; ip: string },
): Promise<{ client_secret: string; name: string }> {
  const { client_id, now } = by
  return db.transaction().execute(async (tx) => {
    const app = await lockApp(tx, { client_id })
    if (isPublic(app)) throw new AppError('conflict', 'A public application has no secret')
    const live = await liveSecrets(tx, app.id, now)
    const { client_secret, secret_hash } = newSecret()
    await endSecrets(tx, live, now)
    await tx.insertInto('app_secrets').values({ app_id: app.id, secret_hash }).execute()
    await recordSecrets(tx, 'secret_reset', { client_id, before: live, app_id: app.id }, by)
    return { client_secret, name: app.name }
  })
}

/** Sets the end of secrets, but keeps an earlier end. */
async function endSecrets(tx: Tx, secrets: LiveSecret[], end: Date): Promise<void> {
  const ids = secrets.filter(({ expires_at }) => expires_at === null || expires_at > end).map(({ id }) => id)
  if (ids.length === 0) return
  await tx.updateTable('app_secrets').set({ expires_at: end }).where('id', 'in', ids).execute()
}

async function recordSecrets(
  tx: Tx,
  act: 'secret_added' | 'secret_ended' | 'secret_reset',
  { client_id, before, app_id }: { client_id: string; before: LiveSecret[]; app_id: bigint },
  by: { actor_id: bigint; now: Date; ip: string },
): Promise<void> {
  const summary = (secrets: LiveSecret[]) =>
    secrets.map(({ fingerprint, expires_at }) => ({ fingerprint, expires_at }))
  const after = await liveSecrets(tx, app_id, by.now)
  await recordAudit(tx, {
    actor_id: by.actor_id,
    action: `oauth_app.${act}`,
    subject: client_id,
    detail: { before: { secrets: summary(before) }, after: { secrets: summary(after) } },
    ip: by.ip,
  })
}
