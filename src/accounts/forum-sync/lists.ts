/**
 * The forum's lists: how each is asked for by page, and what its rows say. A row is judged like a single read, each field alone. One
 * without an id in its right form is left out.
 */
import {
  endOf,
  flagOf,
  GROUP_NAME_LENGTH_MAX,
  idOf,
  nameOf,
  objectOf,
  USERNAME_LENGTH_MAX,
} from '../forum/facts.ts'
import type { Question } from '../forum/requests.ts'

/** The members that a page of a group has, and by how many each next page begins later. So pages that shift still overlap. */
const MEMBERS_MAX = 1_000
const MEMBERS_STEP = 980
const TIMEOUT_MS = 20_000
const BYTES_OF_LIST_MAX = 1_048_576
const BYTES_MAX = 4_194_304

/** What a list states of its members. */
export type Fact =
  | { kind: 'suspended' | 'staff' | 'silenced' | 'names' | 'groups' | 'scores' }
  | { kind: 'trust_level'; level: number }
  | { kind: 'group'; group_id: bigint }

/** Returns the fact of a list by its name in forum_sources. */
export function factOf({ name, group_id }: { name: string; group_id: bigint | null }): Fact {
  if (group_id !== null) return { kind: 'group', group_id }
  const level = /^trust_level_([1-4])$/.exec(name)?.[1]
  if (level !== undefined) return { kind: 'trust_level', level: Number(level) }
  return { kind: name as 'suspended' }
}

/** The automatic group whose members a list has. */
export const AUTOMATIC_GROUPS: ReadonlyMap<string, bigint> = new Map([
  ['names', 10n],
  ['trust_level_1', 11n],
  ['trust_level_2', 12n],
  ['trust_level_3', 13n],
  ['trust_level_4', 14n],
])

/** The request for a page, counted from 1. */
export function questionOf(
  fact: Fact,
  { group_name, leaderboard_id }: { group_name: string | null; leaderboard_id: string },
  page: number,
): Question {
  const asked = { lane: 'worker', isList: true, timeout_ms: TIMEOUT_MS } as const
  const small = { ...asked, bytes_max: BYTES_OF_LIST_MAX }
  const large = { ...asked, bytes_max: BYTES_MAX }
  switch (fact.kind) {
    case 'suspended':
    case 'staff':
    case 'silenced':
      return { ...small, path: `/admin/users/list/${fact.kind}.json?page=${page}` }
    case 'groups':
      return { ...large, path: '/groups/search.json?ignore_automatic=false' }
    case 'scores':
      return {
        ...small,
        path: `/leaderboard${leaderboard_id && `/${leaderboard_id}`}.json?period=all_time&page=${page - 1}`,
      }
    default: {
      const offset = (page - 1) * MEMBERS_STEP
      const order = 'order=added_at&asc=true'
      const path = `/groups/${encodeURIComponent(group_name ?? '')}/members.json`
      return { ...large, path: `${path}?limit=${MEMBERS_MAX}&offset=${offset}&${order}` }
    }
  }
}

/** A member as a list states it. Undefined: unknown. */
export type Row = {
  forum_id: bigint
  username: string | undefined
  is_admin: boolean | undefined
  is_moderator: boolean | undefined
  /** Undefined also where the list does not say until when. */
  suspended_till: Date | undefined
  score: bigint | undefined
}

/** A page of a list. `isLast`: no page follows. */
export type Page = { rows: Row[]; skipped: number; isLast: boolean }

/** Reads a page of members. Returns undefined for an answer in no right form. */
export function readPage(fact: Fact, page: number, body: unknown): Page | undefined {
  if (fact.kind === 'suspended' || fact.kind === 'staff' || fact.kind === 'silenced')
    return Array.isArray(body) ? pageOf(body, body.length === 0) : undefined
  const answer = objectOf(body)
  if (fact.kind === 'scores') {
    if (!Array.isArray(answer?.users)) return undefined
    const read = pageOf(answer.users, answer.users.length === 0)
    // Below the first member without a score are only such.
    return {
      ...read,
      isLast: read.isLast || read.rows.some(({ score }) => score !== undefined && score <= 0n),
    }
  }
  const total = objectOf(answer?.meta)?.total
  if (!Array.isArray(answer?.members) || !Number.isSafeInteger(total)) return undefined
  // A group that became shorter while it was read may end with an empty page.
  const isLast = page * MEMBERS_STEP >= (total as number) || answer.members.length === 0
  return pageOf(answer.members, isLast)
}

function pageOf(values: unknown[], isLast: boolean): Page {
  const rows = values.flatMap((value) => rowOf(objectOf(value)) ?? [])
  return { rows: rows.slice(0, MEMBERS_MAX), skipped: values.length - rows.length, isLast }
}

function rowOf(value: Record<string, unknown> | undefined): Row | undefined {
  const forum_id = idOf(value?.id)
  if (value === undefined || forum_id === undefined) return undefined
  return {
    forum_id,
    username: nameOf(value.username, USERNAME_LENGTH_MAX),
    is_admin: flagOf(value.admin),
    is_moderator: flagOf(value.moderator),
    suspended_till: endOf(value.suspended_till) ?? undefined,
    score: Number.isSafeInteger(value.total_score) ? BigInt(value.total_score as number) : undefined,
  }
}

/** A group of the forum as its list of groups states it. */
export type ListedGroup = { id: bigint; name: string; isAutomatic: boolean }

/** Reads the list of all groups. Returns undefined for an answer in no right form. */
export function readGroups(body: unknown): ListedGroup[] | undefined {
  if (!Array.isArray(body)) return undefined
  return body.flatMap((value) => {
    const group = objectOf(value)
    const [id, name] = [idOf(group?.id), nameOf(group?.name, GROUP_NAME_LENGTH_MAX)]
    return id === undefined || name === undefined
      ? []
      : [{ id, name, isAutomatic: group?.automatic === true }]
  })
}
