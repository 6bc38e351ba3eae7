/** `tessera user list` and `tessera user show` read accounts, and change nothing. */
import { localGroupsOf } from '../accounts/local-groups.ts'
import { accessOf, getMember, type MemberStatus, recentEvents, searchMembers } from '../accounts/members.ts'
import { isBannedOrSuspended } from '../accounts/people/users.ts'
import { liveGrants } from '../identity/authorised-apps.ts'
import { walletOf } from '../ledger/wallet.ts'
import type { Parts } from '../parts.ts'
import { type Command, findMember, type Result, readLimit, UsageError, withDeps } from './command.ts'

const LISTED = 50
const LISTED_MAX = 1_000
const STATUSES: (MemberStatus | 'all')[] = ['all', 'barred', 'admins']

export const userListCommands: Command[] = [
  {
    name: 'user list',
    takes: [],
    options: { search: { type: 'string' }, status: { type: 'string' }, limit: { type: 'string' } },
    summary: `Lists the newest members, ${LISTED} or --limit of them: --search a part of a name or address, --status ${STATUSES.join(', ')}.`,
    async run({ config, options }) {
      const status = STATUSES.find((each) => each === (options.status ?? 'all'))
      if (status === undefined) throw new UsageError(`--status is ${STATUSES.join(', ')}`)
      const limit = readLimit(options, LISTED, LISTED_MAX)
      const search = { text: options.search?.toString() ?? '', status, before: undefined }
      const members = await withDeps(config, async ({ db, clock }) => {
        const now = clock()
        const found = await searchMembers(db, search, now, limit)
        return found.map((member) => ({
          id: member.id,
          username: member.username,
          name: member.name,
          trust_level: member.trust_level,
          is_admin: member.is_admin,
          is_suspended_or_banned: isBannedOrSuspended(member, now),
        }))
      })
      return { lines: members.map(lineOf), data: members }
    },
  },
  {
    name: 'user show',
    takes: ['username'],
    summary:
      'Shows a member: status, balance, groups, sessions, second factor, applications, and the last acts.',
    run: ({ config, arguments: [username] }) => withDeps(config, (deps) => show(deps, username!)),
  },
]

type Listed = {
  username: string
  id: bigint
  trust_level: number
  is_admin: boolean
  is_suspended_or_banned: boolean
}

function lineOf({ username, id, trust_level, is_admin, is_suspended_or_banned }: Listed): string {
  const marks = [
    ...(is_admin ? ['administrator'] : []),
    ...(is_suspended_or_banned ? ['suspended or banned'] : []),
  ]
  return [username.padEnd(30), String(id).padStart(8), `trust level ${trust_level}`, ...marks].join('  ')
}

async function show(deps: Parts, username: string): Promise<Result> {
  const { id } = await findMember(deps.db, username)
  const member = await getMember(deps.db, id)
  const now = deps.clock()
  const [{ sessions, factor, passkeys }, grants, groups, events, wallet] = await Promise.all([
    accessOf(deps, id),
    liveGrants(deps.db, id, now),
    localGroupsOf(deps.db, id),
    recentEvents(deps.db, id),
    walletOf(deps.db, id),
  ])
  const data = {
    id,
    username: member.username,
    name: member.name,
    email: member.email,
    forum_id: member.forum_id,
    trust_level: member.trust_level,
    is_admin: member.is_admin,
    is_suspended_or_banned: isBannedOrSuspended(member, now),
    joined_at: member.created_at,
    balance: wallet.balance,
    frozen_reason: wallet.frozen_reason,
    local_groups: groups,
    sessions: sessions.length,
    last_seen_at: sessions[0]?.last_seen_at ?? null,
    has_second_factor: factor !== undefined,
    passkeys,
    applications: grants.map(({ name }) => name),
    events,
  }
  const { events: _, ...facts } = data
  const width = Math.max(...Object.keys(facts).map(({ length }) => length)) + 2
  const lines = Object.entries(facts).map(([name, value]) => `${name.padEnd(width)}${textOf(value)}`)
  const acts = events.map(({ at, what, actor, reason }) =>
    [at.toISOString(), what, actor ?? '–', reason ?? ''].join('  ').trimEnd(),
  )
  return { lines: [...lines, ...acts], data }
}

function textOf(value: unknown): string {
  if (value === null) return '–'
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.join(', ')
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value)
}
