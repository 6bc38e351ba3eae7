/**
 * Previews which members a pair of group rules would admit. The database counts members with equal properties as one row,
 * and `refusalOf` decides about each row.
 */
import { sql } from 'kysely'
import { nameHere, parseGroupAliases } from '../../accounts/forum/groups.ts'
import { groupsOf, type User } from '../../accounts/people/users.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { type GroupRules, type MemberStatus, type Refusal, refusalOf } from './access.ts'

/** A preview reads the newest members only, up to this number, so that it stays cheap on any forum. */
const MEMBERS_MAX = 50_000
const SAMPLES_MAX = 5

/**
 * Members with the same outcome; in a rough preview, all refused members. `samples` are usernames, never those of suspended
 * members.
 */
export type Fare = { refusal: Refusal | { rule: 'any' } | undefined; count: number; samples: string[] }

export type Admission = {
  admitted: Fare
  refused: Fare[]
  looked_at: number
  isBounded: boolean
  /** Counts are orders of magnitude, 0 for fewer than ten, and there are no samples. */
  isRough: boolean
}

/** A page offers so many groups to tick. The owner types others. */
const OFFERED_MAX = 40

/**
 * Returns the groups that a page offers to this reader for rules: those of roles, the groups of this site, and the reader's own.
 * Names of groups of the forum may be private there, so only administrators are offered all of them.
 */
export async function offeredGroups(
  { db, settings }: Pick<Core, 'db' | 'settings'>,
  reader: Reader,
): Promise<string[]> {
  const named = (table: 'local_groups' | 'forum_groups') =>
    db.selectFrom(table).select('name').orderBy(sql`lower(name)`).limit(OFFERED_MAX).execute()
  const local = await named('local_groups')
  const { forum_group_aliases } = await settings.read()
  const aliases = parseGroupAliases(forum_group_aliases)
  const forum = reader.is_admin ? await named('forum_groups') : []
  const here = forum.flatMap(({ name }) => nameHere(name, aliases) ?? [])
  const names = [...local.map(({ name }) => name), ...here, ...reader.custom_groups]
  const byKey = new Map(names.map((name) => [name.toLowerCase(), name]))
  const sorted = [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name)
  return ['admins', 'moderators', ...sorted.slice(0, OFFERED_MAX)]
}

type Reader = Pick<User, 'is_admin' | 'is_moderator' | 'trust_level' | 'custom_groups'>

type AlikeRow = MemberStatus & { count: bigint; samples: string[] }

/**
 * Previews the rules for this reader. Only administrators and a group's own members may learn its members. For rules that
 * name another group the preview is rough, so that neither names nor counts reveal who is a member.
 */
export async function previewAdmission(
  db: Db,
  rules: GroupRules,
  reader: Reader,
  now: Date,
): Promise<Admission> {
  const admission = await admissionUnder(db, rules, now)
  return mayRead(reader, rules) ? admission : rough(admission)
}

function mayRead(reader: Reader, rules: GroupRules): boolean {
  const own = groupsOf(reader).map((name) => name.toLowerCase())
  const named = [...rules.allow_groups, ...rules.deny_groups]
  return reader.is_admin || named.every((name) => own.includes(name.toLowerCase()))
}

/** Always returns both rows, because a missing row would reveal a count. */
function rough({ admitted, refused, ...rest }: Admission): Admission {
  const count = refused.reduce((sum, fare) => sum + fare.count, 0)
  return {
    ...rest,
    admitted: { refusal: undefined, count: magnitudeOf(admitted.count), samples: [] },
    refused: [{ refusal: { rule: 'any' }, count: magnitudeOf(count), samples: [] }],
    isRough: true,
  }
}

function magnitudeOf(count: number): number {
  return count < 10 ? 0 : 10 ** (String(count).length - 1)
}

async function admissionUnder(db: Db, rules: GroupRules, now: Date): Promise<Admission> {
  const fares = new Map<string, Fare>([['', { refusal: undefined, count: 0, samples: [] }]])
  let looked_at = 0
  for (const alike of await alikeMembers(db, rules, now)) {
    const refusal = refusalOf(alike, rules, now)
    const key = refusal === undefined ? '' : JSON.stringify(refusal)
    const fare = fares.get(key) ?? { refusal, count: 0, samples: [] }
    fares.set(key, fare)
    fare.count += Number(alike.count)
    looked_at += Number(alike.count)
    if (refusal?.rule !== 'barred') {
      fare.samples = [...fare.samples, ...alike.samples].slice(0, SAMPLES_MAX)
    }
  }
  const [admitted, ...refused] = [...fares.values()]
  refused.sort((a, b) => b.count - a.count)
  return { admitted: admitted!, refused, looked_at, isBounded: looked_at === MEMBERS_MAX, isRough: false }
}

/** Counts members by equal properties. Only the custom groups that the rules name are compared. */
async function alikeMembers(db: Db, rules: GroupRules, now: Date): Promise<AlikeRow[]> {
  const names = [...rules.allow_groups, ...rules.deny_groups].map((name) => name.toLowerCase())
  const { rows } = await sql<AlikeRow>`
    with named as (
      select user_id, array_agg(lower(name) order by lower(name)) as groups
      from user_groups where lower(name) = any(${names}::text[])
      group by user_id
    )
    select trust_level, is_admin, is_moderator,
      is_banned_or_suspended(is_banned, suspended_till, ${now}) as is_banned, null as suspended_till,
      coalesce(named.groups, '{}') as custom_groups,
      count(*) as count, (array_agg(username order by id desc))[1:${sql.lit(SAMPLES_MAX)}] as samples
    from (select * from users order by id desc limit ${MEMBERS_MAX}) as member
    left join named on named.user_id = member.id
    group by 1, 2, 3, 4, 6
    order by 1, 2, 3, 4, 6
  `.execute(db)
  return rows
}
