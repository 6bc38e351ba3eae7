/**
 * `tessera doctor --forum` sends each request that Tessera sends to a forum once, and says what fails: the sign-in, the reads of a member,
 * and the first page of each list, and of each kind a page after the end. So an operator of any forum learns what it lacks. It needs no database, and spends some 20 of the
 * forum's requests of this minute.
 */
import { SYSTEM_PATH } from '../../accounts/forum/api.ts'
import { connectProbeUrl, forumOf } from '../../accounts/forum/connect.ts'
import { idOf, objectOf } from '../../accounts/forum/facts.ts'
import { apiHeaders, BODY_BYTES_MAX } from '../../accounts/forum/requests.ts'
import { readSingle } from '../../accounts/forum/single-read.ts'
import {
  AUTOMATIC_GROUPS,
  type Fact,
  factOf,
  type ListedGroup,
  questionOf,
  readGroups,
  readPage,
} from '../../accounts/forum-sync/lists.ts'
import type { Config } from '../../platform/config.ts'
import { ask, cannotReach, type Finding, fault, off, skippedFor } from './finding.ts'

const NONE = Symbol('nobody')
/** The forum answers 404 about an id that it never gave. Otherwise deleted members would look like others. */
const UNUSED_ID = 2_147_483_647
/** Lists of each kind, none of which is empty at any forum. The worker reads a list until a page is empty. */
const READ_TO_THE_END = ['staff', 'names', 'scores']
/** A page that no forum has. */
const FAR_PAGE = 100_000
const KEY_CURE = 'make a read-only key of a single administrator, such as system, and set DISCOURSE_API_KEY'

export type Found = Finding & { check: string }

/** Sends each request once. */
export async function examineForumRequests(config: Config): Promise<Found[]> {
  const name = (check: string) => (finding: Finding) => ({ check, ...finding })
  if (config.DISCOURSE_URL === undefined) return [name('forum')(off('DISCOURSE_URL is not set'))]
  const found = [await examineConnect(config).then(name('sign-in')), name('webhook')(webhook(config))]
  if (config.DISCOURSE_API_KEY === undefined)
    return [...found, name('API')(off('DISCOURSE_API_KEY is not set, so no member and no list is read'))]
  const member = await findStaffMember(config)
  found.push(name('read of a member')(await examineSingle(config, member.id)))
  found.push(name('read by name')(await examineNamed(config, member)))
  found.push(name('read of the account system')(await examineSystem(config)))
  found.push(name('read of an unknown member')(await examineUnknown(config)))
  const { groups, finding } = await examineGroups(config)
  for (const list of ['suspended', 'staff', 'silenced'])
    found.push(name(`list ${list}`)(await examineList(config, list, null)))
  found.push(name('list groups')(finding))
  found.push(...(await examineMembers(config, groups, finding)))
  return [...found, name('list scores')(await examineList(config, 'scores', null))]
}

/** Reads the members of the groups that every forum has, and of one of its own. */
async function examineMembers(config: Config, groups: ListedGroup[], { state }: Finding): Promise<Found[]> {
  const found: Found[] = []
  const custom = groups.find(({ isAutomatic }) => !isAutomatic)
  for (const [list, id] of [...AUTOMATIC_GROUPS, ['group', custom?.id] as const]) {
    const group = groups.find((each) => each.id === id)
    const missing =
      list === 'group'
        ? off('the forum has no custom group')
        : fault(`/groups/search.json has no automatic group with the id ${id}`)
    const source = list === 'group' ? `group:${id}` : list
    const read = () => (group === undefined ? missing : examineList(config, source, group.name))
    const finding = state === 'good' ? await read() : skippedFor('list groups')
    found.push({ check: list === 'group' ? 'list of a group' : `list ${list}`, ...finding })
  }
  return found
}

/** Asks for the identity of a visitor who is not logged in. The forum checks the signature before it shows its login. */
async function examineConnect(config: Config): Promise<Finding> {
  const forum = forumOf(config)
  if (forum === undefined) return off('DISCOURSE_SECRET is not set')
  const answer = await ask(connectProbeUrl(forum, config.PUBLIC_URL))
  if (answer instanceof Error) return cannotReach(forum.url, answer)
  await answer.body?.cancel()
  const { status } = answer
  if (status >= 300 && status < 400) return { state: 'good', note: 'it accepts DISCOURSE_SECRET' }
  if (status === 404)
    return fault('/session/sso_provider answers 404: turn on enable_discourse_connect_provider at the forum')
  return fault(
    `/session/sso_provider answers ${status}: discourse_connect_provider_secrets must have the host of PUBLIC_URL with DISCOURSE_SECRET`,
  )
}

/** Only the forum can send a webhook, so a page tells when the last one came. */
function webhook({ DISCOURSE_WEBHOOK_SECRET, PUBLIC_URL }: Config): Finding {
  if (DISCOURSE_WEBHOOK_SECRET === undefined)
    return off('DISCOURSE_WEBHOOK_SECRET is not set, so changes arrive with the lists')
  return {
    state: 'unknown',
    note: `send a ping at the forum to ${PUBLIC_URL}/forum/webhook; /admin/forum shows the last webhook`,
  }
}

type StaffMember = { id: number; username: string }

/** Returns one of the staff, whom every forum has, or the account "system" of Discourse. */
async function findStaffMember(config: Config): Promise<StaffMember> {
  const { path } = questionOf({ kind: 'staff' }, { group_name: null, leaderboard_id: '' }, 1)
  const answer = await askFor(config, path, BODY_BYTES_MAX)
  const rows = 'body' in answer && Array.isArray(answer.body) ? answer.body : []
  const found = rows.map(objectOf).find((row) => idOf(row?.id) !== undefined)
  return { id: Number(found?.id ?? -1), username: String(found?.username ?? 'system') }
}

async function examineSingle(config: Config, id: number): Promise<Finding> {
  const path = `/admin/users/${id}.json`
  const answer = await askFor(config, path, BODY_BYTES_MAX)
  if (!('body' in answer)) return answer
  const body = objectOf(answer.body)
  const user = body && readSingle(body, BigInt(id), new Date())
  if (user === undefined) return fault(`${path} is no JSON object with the id ${id}`)
  const { username, trust_level, is_admin, is_moderator, groups } = user
  const read = { username, trust_level, admin: is_admin, moderator: is_moderator, groups }
  const unknown = Object.entries(read).flatMap(([field, value]) => (value === undefined ? [field] : []))
  return unknown.length === 0
    ? { state: 'good', note: path }
    : fault(`${path} states in no right form: ${unknown.join(', ')}`)
}

/** Scores of newcomers are read by the name, and an administrator tries the connection with one. */
async function examineNamed(config: Config, { id, username }: StaffMember): Promise<Finding> {
  if (id < 0) return skippedFor('list staff')
  const path = `/u/${encodeURIComponent(username)}.json`
  const answer = await askFor(config, path, BODY_BYTES_MAX, NONE)
  if (!('body' in answer)) return answer
  if (answer.body === NONE) return fault(`${path} answers 404, so no first score of a member is read`)
  const found = objectOf(objectOf(answer.body)?.user)?.id
  return found === id ? { state: 'good', note: path } : fault(`${path} states no user with the id ${id}`)
}

/** Without this account, an answer of 404 about a deleted member looks like a key without rights, and pauses all requests. */
async function examineSystem(config: Config): Promise<Finding> {
  const answer = await askFor(config, SYSTEM_PATH, BODY_BYTES_MAX)
  if (!('body' in answer)) return answer
  return objectOf(answer.body)?.id === -1
    ? { state: 'good', note: SYSTEM_PATH }
    : fault(`${SYSTEM_PATH} is no JSON object with the id -1, so no deleted member is believed`)
}

async function examineUnknown(config: Config): Promise<Finding> {
  const path = `/admin/users/${UNUSED_ID}.json`
  const answer = await askFor(config, path, BODY_BYTES_MAX, NONE)
  if ('body' in answer)
    return answer.body === NONE
      ? { state: 'good', note: `${path} answers 404` }
      : fault(`${path} must answer 404, because the forum has no such member`)
  return answer
}

async function examineGroups(config: Config): Promise<{ groups: ListedGroup[]; finding: Finding }> {
  const { path, bytes_max } = questionOf({ kind: 'groups' }, { group_name: null, leaderboard_id: '' }, 1)
  const answer = await askFor(config, path, bytes_max!)
  if (!('body' in answer)) return { groups: [], finding: answer }
  const groups = readGroups(answer.body)
  return groups === undefined
    ? { groups: [], finding: fault(`${path} is no JSON array of groups`) }
    : { groups, finding: { state: 'good', note: `${path}: ${groups.length}` } }
}

/** Reads the first page of a list. A forum without a leaderboard gives no points for scores. */
async function examineList(config: Config, name: string, group_name: string | null): Promise<Finding> {
  const group_id = name.startsWith('group:') ? BigInt(name.slice(6)) : null
  const fact = factOf({ name, group_id })
  const { path, bytes_max } = questionOf(fact, { group_name, leaderboard_id: '' }, 1)
  const answer = await askFor(config, path, bytes_max!, fact.kind === 'scores' ? NONE : undefined)
  if (!('body' in answer)) return answer
  if (answer.body === NONE) return off(`${path} answers 404: the forum has no leaderboard`)
  const page = readPage(fact, 1, answer.body)
  if (page === undefined) return fault(`${path} is in no right form`)
  if (page.skipped > 0) return fault(`${path} has ${page.skipped} rows without a right id`)
  const endless = READ_TO_THE_END.includes(name) ? await examineEnd(config, fact, group_name) : undefined
  return endless ?? { state: 'good', note: `${path}: ${page.rows.length}` }
}

/** A forum that ignores the number of the page has a list without end. Returns undefined when it ends. */
async function examineEnd(
  config: Config,
  fact: Fact,
  group_name: string | null,
): Promise<Finding | undefined> {
  const { path, bytes_max } = questionOf(fact, { group_name, leaderboard_id: '' }, FAR_PAGE)
  const answer = await askFor(config, path, bytes_max!)
  if (!('body' in answer)) return answer
  if (readPage(fact, FAR_PAGE, answer.body)?.rows.length === 0) return undefined
  return fault(`${path} must be empty: a list ends, so it must heed page or offset`)
}

async function askFor(
  config: Config,
  path: string,
  bytes_max: number,
  missing?: typeof NONE,
): Promise<{ body: unknown } | Finding> {
  const answer = await ask(`${config.DISCOURSE_URL}${path}`, { headers: apiHeaders(config) })
  if (answer instanceof Error) return cannotReach(path, answer)
  const { status } = answer
  const text = await answer.text()
  if (status === 404 && missing !== undefined) return { body: missing }
  if (status === 429)
    return { state: 'unknown', note: `${path} answers 429: another program uses the 60 requests a minute` }
  if (status === 401 || status === 403 || status === 404)
    return fault(`${path} answers ${status}: ${KEY_CURE}`)
  // The forum has still to compute what was asked for.
  if (status === 202) return { state: 'unknown', note: `${path} is not ready` }
  if (status !== 200) return fault(`${path} answers ${status}`)
  if (Buffer.byteLength(text) > bytes_max) return fault(`${path} is longer than ${bytes_max} bytes`)
  try {
    return { body: JSON.parse(text) as unknown }
  } catch {
    return fault(`${path} is no JSON`)
  }
}
