/**
 * What a single read states about a member: the answer of `GET /admin/users/{id}.json`, judged field by field. No other
 * field is looked at, so no text of a member, a moderator or a group can make the answer unusable.
 * spec/accounts 5.3.
 */
import {
  endOf,
  flagOf,
  fullNameOf,
  GROUP_NAME_LENGTH_MAX,
  idOf,
  nameOf,
  objectOf,
  USERNAME_LENGTH_MAX,
} from './facts.ts'

const GROUPS_MAX = 1_000
/** How long a member counts as suspended whose suspension cannot be read. Each read begins it again. */
const UNREADABLE_SUSPENSION_MS = 30 * 86_400_000
const TRUST_LEVELS: readonly unknown[] = [0, 1, 2, 3, 4]

/** The facts of a member. Undefined: unknown. `groups` has custom groups only. */
export type ForumUser = {
  forum_id: bigint
  username: string | undefined
  name: string | null
  is_admin: boolean | undefined
  is_moderator: boolean | undefined
  trust_level: number | undefined
  suspended_till: Date | null
  silenced_till: Date | null | undefined
  groups: { id: bigint; name: string | undefined }[] | undefined
}

/** Reads the facts. Returns undefined for an answer about another member. */
export function readSingle(
  body: Record<string, unknown>,
  forum_id: bigint,
  now: Date,
): ForumUser | undefined {
  if (!Number.isInteger(body.id) || BigInt(body.id as number) !== forum_id) return undefined
  const suspended_till = endOf(body.suspended_till)
  return {
    forum_id,
    username: nameOf(body.username, USERNAME_LENGTH_MAX),
    name: fullNameOf(body.name),
    is_admin: flagOf(body.admin),
    is_moderator: flagOf(body.moderator),
    trust_level: TRUST_LEVELS.includes(body.trust_level) ? (body.trust_level as number) : undefined,
    // The forum states a suspension only of a suspended member, so an unreadable one is still one.
    suspended_till:
      suspended_till === undefined ? new Date(now.getTime() + UNREADABLE_SUSPENSION_MS) : suspended_till,
    silenced_till: endOf(body.silenced_till),
    groups: groupsOf(body.groups),
  }
}

function groupsOf(value: unknown): ForumUser['groups'] {
  if (!Array.isArray(value)) return undefined
  const named = new Map<bigint, string | undefined>()
  for (const element of value) {
    const group = objectOf(element)
    const id = idOf(group?.id)
    if (group === undefined || id === undefined || group.automatic === true || named.has(id)) continue
    named.set(id, nameOf(group.name, GROUP_NAME_LENGTH_MAX))
  }
  return [...named]
    .map(([id, name]) => ({ id, name }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, GROUPS_MAX)
}
