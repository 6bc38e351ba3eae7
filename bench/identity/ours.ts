/** Creates the rows that the bench needs in our database: members, an application, and issued codes. */

import { sql } from 'kysely'
import { createUser } from '../../src/accounts/people/users.ts'
import { hashPassword } from '../../src/accounts/security/password.ts'
import { newSid } from '../../src/accounts/session/session.ts'
import type { Db } from '../../src/database/connection.ts'
import { registerApp } from '../../src/identity/apps/apps.ts'
import type { SigningAlgorithm } from '../../src/identity/keys/keys.ts'
import { randomToken, sha256 } from '../../src/platform/secrets.ts'

export const REDIRECT_URI = 'https://app.example/callback'
export const PASSWORD = 'correct horse battery'
const SCOPES = ['openid', 'profile']
const BATCH = 500

export type Member = { id: bigint; username: string; session_id: bigint }

export async function makeMembers(db: Db, count: number): Promise<Member[]> {
  const password_hash = await hashPassword(PASSWORD)
  const members: Member[] = []
  await sql`insert into local_groups (name) values ('crew')`.execute(db)
  for (let n = 0; n < count; n += 1) {
    const username = `member${n}`
    const id = await createUser(db, {
      username,
      password_hash,
      name: `Member ${n}`,
      email: `member${n}@example.org`,
      trust_level: 2,
    })
    await sql`insert into user_groups (user_id, name, local_group_id) select ${id}, name, id from local_groups`.execute(
      db,
    )
    const { id: session_id } = await db
      .insertInto('sessions')
      .values({
        sid: newSid(),
        token_hash: sha256(randomToken()),
        user_id: id,
        auth_time: new Date(),
        amr: ['pwd'],
        ip: '127.0.0.1',
        agent: 'bench',
        expires_at: new Date(Date.now() + 86_400_000),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    members.push({ id, username, session_id })
  }
  return members
}

export function makeApp(db: Db, { id }: Member, id_token_signed_response_alg: SigningAlgorithm) {
  return registerApp(db, {
    owner_id: id,
    name: 'Bench',
    id_token_signed_response_alg,
    description: '',
    redirect_uris: [REDIRECT_URI],
    allow_groups: [],
    deny_groups: [],
  })
}

export async function makeCodes(db: Db, app_id: bigint, members: Member[], count: number): Promise<string[]> {
  const codes = Array.from({ length: count }, () => randomToken())
  const now = new Date()
  for (let start = 0; start < count; start += BATCH) {
    const rows = codes.slice(start, start + BATCH).map((code, n) => {
      const { id: user_id, session_id } = members[(start + n) % members.length]!
      return {
        code_hash: sha256(code),
        app_id,
        user_id,
        session_id,
        redirect_uri: REDIRECT_URI,
        redirect_uri_sent: true,
        scopes: SCOPES,
        nonce: 'a nonce of the application',
        code_challenge: null,
        auth_time: now,
        amr: ['pwd'],
        expires_at: new Date(now.getTime() + 60_000),
      }
    })
    await db.insertInto('authorization_codes').values(rows).execute()
  }
  return codes
}
