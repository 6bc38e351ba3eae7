// @ts-check
/** The members and groups of the example forum, and their JSON in Discourse's format. */

/**
 * @typedef {{
 *   id: number, username: string, name?: string, email: string, avatar_url?: string, trust_level: number,
 *   admin?: boolean, moderator?: boolean, suspended_till?: string, silenced_till?: string,
 *   groups?: number[], score?: number
 * }} Member
 * @typedef {{ id: number, name: string, automatic: boolean }} Group
 */

const TRUST_LEVEL_0_GROUP = 10

/** The names of the automatic groups in an English forum. A forum in another language translates them. */
const AUTOMATIC = {
  1: 'admins',
  2: 'moderators',
  3: 'staff',
  10: 'trust_level_0',
  11: 'trust_level_1',
  12: 'trust_level_2',
  13: 'trust_level_3',
  14: 'trust_level_4',
}

/**
 * @param {Member[]} list
 * @param {{ id: number, name: string }[]} customGroups
 */
export function openCommunity(list, customGroups = []) {
  /** @type {Map<number, Member>} */
  const members = new Map(list.map((member) => [member.id, member]))
  /** @type {Map<number, Group>} */
  const groups = new Map()
  for (const [id, name] of Object.entries(AUTOMATIC))
    groups.set(Number(id), { id: Number(id), name, automatic: true })
  for (const { id, name } of customGroups) groups.set(id, { id, name, automatic: false })

  /** @param {Member} member */
  function groupsOf(member) {
    const staff = member.admin || member.moderator ? [3] : []
    const levels = Array.from({ length: member.trust_level + 1 }, (_, n) => TRUST_LEVEL_0_GROUP + n)
    const ids = [member.admin ? [1] : [], member.moderator ? [2] : [], staff, levels, member.groups ?? []]
    return ids.flat().flatMap((id) => groups.get(id) ?? [])
  }

  /** @param {Member} member */
  function isSuspended(member) {
    return member.suspended_till !== undefined && new Date(member.suspended_till) > new Date()
  }

  return {
    members,
    groups,
    groupsOf,
    isSuspended,
    /** @param {string} username */
    findByName(username) {
      const wanted = username.toLowerCase()
      return [...members.values()].find((member) => member.username.toLowerCase() === wanted)
    },
    /** The members of a list of the administration. @param {'suspended' | 'staff' | 'silenced'} kind */
    list(kind) {
      const isListed = {
        suspended: isSuspended,
        staff: (/** @type {Member} */ { admin, moderator }) => admin === true || moderator === true,
        silenced: (/** @type {Member} */ { silenced_till }) => silenced_till !== undefined,
      }[kind]
      return [...members.values()].filter(isListed)
    },
    /** @param {string} group the name of a group */
    membersOf(group) {
      const wanted = group.toLowerCase()
      return [...members.values()].filter((member) =>
        groupsOf(member).some(({ name }) => name.toLowerCase() === wanted),
      )
    },
    /** The members with a score, the highest first. Discourse leaves suspended members out. */
    leaderboard() {
      return [...members.values()]
        .filter((member) => member.score !== undefined && !isSuspended(member))
        .sort((a, b) => (b.score ?? 0) - (a.score ?? 0))
        .map(({ id, username, score }, place) => ({ id, username, total_score: score, position: place + 1 }))
    },
    /**
     * The answer of `GET /admin/users/{id}.json`.
     * @param {Member} member
     */
    adminView(member) {
      return {
        id: member.id,
        username: member.username,
        name: member.name ?? '',
        active: true,
        admin: member.admin ?? false,
        moderator: member.moderator ?? false,
        trust_level: member.trust_level,
        ...(isSuspended(member) ? { suspended_till: member.suspended_till } : {}),
        ...(member.silenced_till === undefined
          ? {}
          : { silenced: true, silenced_till: member.silenced_till }),
        groups: groupsOf(member),
      }
    },
    /**
     * The user inside `GET /u/{username}.json` and inside webhooks.
     * @param {Member} member
     */
    publicView(member) {
      return {
        id: member.id,
        username: member.username,
        name: member.name ?? '',
        trust_level: member.trust_level,
        admin: member.admin ?? false,
        moderator: member.moderator ?? false,
        ...(isSuspended(member) ? { suspended_till: member.suspended_till } : {}),
        // Discourse leaves suspended members out of the leaderboard, and so shows no points of theirs.
        ...(member.score === undefined ? {} : { gamification_score: isSuspended(member) ? 0 : member.score }),
        groups: groupsOf(member),
      }
    },
  }
}

/** @typedef {ReturnType<typeof openCommunity>} Community */
