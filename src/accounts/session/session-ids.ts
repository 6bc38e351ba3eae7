/** The public id of a session, the claim `sid` of ID tokens and logout tokens. It gives no access. */
import { randomBytes } from 'node:crypto'
import type { Secrets } from '../../platform/secrets.ts'

const SID_BYTES = 16
const PURPOSE = 'session id'

/** Makes the public id of a new session. */
export function newSid(): string {
  return randomBytes(SID_BYTES).toString('base64url')
}

/** Returns the public id of a session. Sessions of earlier releases have none of their own; theirs depends on APP_SECRET. */
export function sidOf(secrets: Secrets, { id, sid }: { id: bigint; sid: string | null }): string {
  return sid ?? sessionTag(secrets, id)
}

/** Returns a tag that names a session by its row. */
export function sessionTag(secrets: Secrets, session_id: bigint): string {
  return secrets.tag(PURPOSE, session_id.toString())
}
