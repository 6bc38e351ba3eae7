/** Leaves what thirty days of sign-ins leave: sessions, sign-ins at the shops, and passkeys. Their tokens are kept nowhere. */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { relyingPartyId } from '../accounts/session/relying-party.ts'
import { newSid, SESSION_DAYS } from '../accounts/session/session.ts'
import type { Parts } from '../parts.ts'
import { randomToken, sha256 } from '../platform/secrets.ts'
import type { MemberName } from './cast.ts'
import { daysBefore } from './members.ts'
import { dayOf, isWeekend, makeDraw, midnightOf } from './plan.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
/** The chart of an application shows so many days, and tokens live as long. */
const DAYS = 30
/** A session ends then. One that is younger is surely there at the start. */
const SESSION_MS = (SESSION_DAYS - 1) * DAY_MS
/** The tests of a demo take what is younger for their own. */
const YOUNGEST_MS = 65 * MINUTE_MS
/** On so many of twenty days a member of each trust level signs in, and on more of a weekend. */
const OF_TWENTY_DAYS = [4, 6, 8, 10, 12]
const WEEKEND_MORE = 4
/** Alice signs in on these days before the demo in any case, so that her pages have something to show. */
const ALICE_DAYS = [1, 5, 9]
/** Members who have not come for so many days. */
const AWAY_DAYS: { [username: string]: number } = { qiuqiu: 9, yoyo: 12, nina: 17 }

const AGENTS = [
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0',
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
]

export type Visitor = { id: bigint; username: string; trust_level: number; created_at: Date }
export type Visit = { user_id: bigint; auth_time: Date; agent: string; ip: string; minutes: number }

/** Plans the sign-ins of the members, in the order of time: none before a member joined, and a first one soon after. */
export function planVisits(visitors: readonly Visitor[], now: Date): Visit[] {
  const draw = makeDraw()
  const visits = visitors.flatMap(({ id: user_id, username, trust_level, created_at }, i) => {
    const visitAt = (auth_time: Date): Visit => ({
      ...{ user_id, auth_time, ip: `203.0.113.${10 + i}`, minutes: 2 + draw(40) },
      agent: AGENTS[(i + (draw(3) === 0 ? 1 : 0)) % AGENTS.length]!,
    })
    const own = [visitAt(new Date(created_at.getTime() + 3 * MINUTE_MS))]
    for (let ago = DAYS - 1; ago >= (AWAY_DAYS[username] ?? 0); ago -= 1) {
      const midnight = midnightOf(dayOf(now) - ago)
      const seconds = 8 * 3_600 + draw(15 * 3_600)
      const chance = OF_TWENTY_DAYS[trust_level]! + (isWeekend(midnight) ? WEEKEND_MORE : 0)
      if (draw(20) < chance || (username === 'alice' && ALICE_DAYS.includes(ago)))
        own.push(visitAt(new Date(midnight.getTime() + seconds * 1_000)))
    }
    return own.filter(({ auth_time: at }) => {
      const age = now.getTime() - at.getTime()
      return at > created_at && age > YOUNGEST_MS && age < (DAYS - 1 / 24) * DAY_MS
    })
  })
  return visits.toSorted((a, b) => a.auth_time.getTime() - b.auth_time.getTime())
}

/**
 * Writes the sign-ins of these members, with the sessions that are still open: the last one on each device. A part of the sign-ins went
 * on to the shops that the member had allowed.
 */
export async function signInOften(
  { db, clock }: Pick<Parts, 'db' | 'clock'>,
  user_ids: bigint[],
  client_ids: string[],
): Promise<void> {
  const now = clock()
  const visitors = await db
    .selectFrom('users')
    .where('id', 'in', user_ids)
    .orderBy('id')
    .select(['id', 'username', 'trust_level', 'created_at'])
    .execute()
  const visits = planVisits(visitors, now)
  const open = visits.filter(
    ({ user_id, agent, auth_time }, i) =>
      now.getTime() - auth_time.getTime() < SESSION_MS &&
      !visits.slice(i + 1).some((later) => later.user_id === user_id && later.agent === agent),
  )
  const sessions = await db
    .insertInto('sessions')
    .values(
      open.map(({ minutes, ...visit }) => ({
        ...visit,
        token_hash: sha256(randomToken()),
        sid: newSid(),
        amr: ['pwd'],
        last_seen_at: new Date(visit.auth_time.getTime() + minutes * MINUTE_MS),
        expires_at: new Date(visit.auth_time.getTime() + SESSION_DAYS * DAY_MS),
      })),
    )
    .returning(['id', 'user_id', 'auth_time'])
    .execute()
  const keyOf = ({ user_id, auth_time }: Pick<Visit, 'user_id' | 'auth_time'>) =>
    `${user_id} ${auth_time.getTime()}`
  const sessionIds = new Map(sessions.map((session) => [keyOf(session), session.id]))
  const consents = await db
    .selectFrom('consents')
    .innerJoin('oauth_apps as app', 'app.id', 'consents.app_id')
    .where('app.client_id', 'in', client_ids)
    .orderBy('consents.app_id')
    .select(['consents.app_id', 'consents.user_id', 'consents.scopes', 'consents.created_at'])
    .execute()
  const draw = makeDraw()
  const grants = visits.flatMap((visit) => {
    const session_id = sessionIds.get(keyOf(visit)) ?? null
    return consents
      .filter(({ user_id, created_at }) => user_id === visit.user_id && created_at < visit.auth_time)
      .filter(({ app_id }) => draw(10) < (session_id === null ? 6 : 8) || app_id === consents[0]!.app_id)
      .map(({ app_id, scopes }, nth) => {
        const created_at = new Date(visit.auth_time.getTime() + (nth + 1) * MINUTE_MS)
        const expires_at = new Date(created_at.getTime() + DAYS * DAY_MS)
        const { user_id, auth_time } = visit
        return { app_id, user_id, session_id, scopes, auth_time, amr: ['pwd'], created_at, expires_at }
      })
  })
  // No token was issued, so nothing can be done with them.
  await db.insertInto('grants').values(grants).execute()
}

/** Who signs in with a passkey, and with which: made and last used so many days ago. A password is enough for each of them. */
const PASSKEYS: { of: MemberName | 'alice'; name: string; made: number; used: number; isSynced: boolean }[] =
  [
    { of: 'oliver', name: 'MacBook', made: 402, used: 3, isSynced: true },
    { of: 'linxi', name: 'iPhone', made: 317, used: 1, isSynced: true },
    { of: 'oliver', name: 'YubiKey 5C', made: 288, used: 40, isSynced: false },
    { of: 'alice', name: 'iPhone', made: 164, used: 6, isSynced: true },
    { of: 'momo', name: 'Windows Hello', made: 121, used: 2, isSynced: false },
    { of: 'hana', name: 'Pixel 9', made: 58, used: 4, isSynced: true },
  ]

/** Gives members passkeys, whose private keys are kept nowhere. At an IP address there are none. */
export async function addPasskeys(
  { db, clock, config }: Pick<Parts, 'db' | 'clock' | 'config'>,
  ids: Record<MemberName | 'alice', bigint>,
): Promise<void> {
  const rp_id = relyingPartyId(config)
  if (rp_id === undefined) return
  const now = clock()
  for (const username of new Set(PASSKEYS.map(({ of }) => of)))
    await db
      .updateTable('users')
      .set({ passkey_handle: randomBytes(32) })
      .where('id', '=', ids[username])
      .execute()
  await db
    .insertInto('passkeys')
    .values(
      PASSKEYS.map(({ of, name, made, used, isSynced }) => ({
        ...{ user_id: ids[of], name, rp_id, public_key: newPublicKey(), credential_id: randomBytes(32) },
        // Authenticators that sync their passkeys count no signatures.
        sign_count: isSynced ? 0n : BigInt(made - used),
        transports: isSynced ? ['internal', 'hybrid'] : name.startsWith('YubiKey') ? ['usb'] : ['internal'],
        ...{ is_backup_eligible: isSynced, is_backed_up: isSynced },
        ...{ is_user_verified: true, is_discoverable: true },
        ...{ created_at: daysBefore(now, made), last_used_at: daysBefore(now, used) },
      })),
    )
    .execute()
}

/** A new public key for ES256, as a COSE_Key (RFC 9053, 7.1.1). */
function newPublicKey(): Buffer {
  const { x, y } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
  const coordinate = (text: string | undefined) => Buffer.from(text ?? '', 'base64url')
  // {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}
  return Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    coordinate(x),
    Buffer.from('225820', 'hex'),
    coordinate(y),
  ])
}
