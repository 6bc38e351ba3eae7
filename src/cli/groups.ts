/** `tessera group …` makes local groups and changes their members. The audit log has each act without an actor. */
import {
  addMembers,
  createGroup,
  DESCRIPTION_LENGTH_MAX,
  deleteGroup,
  getGroup,
  isGroupName,
  listGroups,
  membersOf,
  removeMember,
} from '../accounts/local-groups.ts'
import { appsNaming } from '../identity/apps/naming.ts'
import type { Parts } from '../parts.ts'
import { AppError } from '../platform/errors.ts'
import { isHonestText } from '../web/parameters.ts'
import { counted } from '../web/plurals.ts'
import { type Command, findMember, type OptionValues, UsageError, withDeps } from './command.ts'

const OPERATOR = { actor_id: null, ip: null }
/** Members of one statement. */
const LINES = 1_000

export const groupCommands: Command[] = [
  {
    name: 'group list',
    takes: [],
    summary: 'Lists the local groups with the number of their members, up to 10,000.',
    async run({ config }) {
      const groups = await withDeps(config, ({ db }) => listGroups(db))
      return {
        lines: groups.map(({ name, description, members, isMore }) =>
          `${name}  ${members}${isMore ? '+' : ''}  ${description}`.trimEnd(),
        ),
        data: groups.map(({ isMore, ...group }) => ({ ...group, is_more: isMore })),
      }
    },
  },
  {
    name: 'group create',
    takes: ['group'],
    options: { description: { type: 'string' } },
    summary: 'Creates a local group, which rules of applications can name.',
    async run({ config, arguments: [typed], options }) {
      const name = asGroupName(typed!)
      const description = descriptionIn(options)
      await withDeps(config, (deps) => createGroup(deps, { name, description }, OPERATOR))
      return { lines: [`Created the group ${name}.`], data: { name, description } }
    },
  },
  {
    name: 'group delete',
    takes: ['group'],
    options: { 'leave-rules': { type: 'boolean' } },
    summary:
      'Deletes a local group. While rules of applications name it, only with --leave-rules: those rules then name nobody.',
    async run({ config, arguments: [typed], options }) {
      const { name, members } = await withDeps(config, async (deps) => {
        const group = await getGroup(deps.db, typed!)
        if (options['leave-rules'] !== true) await requireUnnamed(deps, group.name)
        return deleteGroup(deps, group.name, OPERATOR)
      })
      return {
        lines: [`Deleted the group ${name} of ${members} ${counted(members, 'member', 'members')}.`],
        data: { name, members },
      }
    },
  },
  {
    name: 'group members',
    takes: ['group'],
    summary: 'Lists the usernames of the members of a local group.',
    async run({ config, arguments: [typed] }) {
      const usernames = await withDeps(config, async ({ db }) => {
        const group = await getGroup(db, typed!)
        const all: string[] = []
        for (let before: bigint | undefined; ; ) {
          const page = await membersOf(db, group, before, LINES)
          all.push(...page.map(({ username }) => username))
          if (page.length < LINES) return all
          before = page.at(-1)!.id
        }
      })
      return { lines: usernames, data: usernames }
    },
  },
  {
    name: 'group add',
    takes: ['group', 'username'],
    summary: 'Adds a member to a local group.',
    async run({ config, arguments: [group, username] }) {
      return withDeps(config, async (deps) => {
        const member = await findMember(deps.db, username!)
        const { name } = await getGroup(deps.db, group!)
        const addition = await addMembers(deps, name, [member.username], OPERATOR)
        const isNew = 'added' in addition && addition.added.length > 0
        return {
          lines: [`${member.username} is ${isNew ? 'now' : 'already'} in ${name}.`],
          data: { group: name, username: member.username, is_new: isNew },
        }
      })
    },
  },
  {
    name: 'group remove',
    takes: ['group', 'username'],
    summary: 'Removes a member from a local group.',
    async run({ config, arguments: [group, username] }) {
      return withDeps(config, async (deps) => {
        const member = await findMember(deps.db, username!)
        const { name } = await getGroup(deps.db, group!)
        await removeMember(deps, name, member.id, OPERATOR)
        return {
          lines: [`${member.username} is no longer in ${name}.`],
          data: { group: name, username: member.username },
        }
      })
    },
  },
]

function asGroupName(text: string): string {
  if (!isGroupName(text)) throw new UsageError('A group name has 1 to 60 visible characters without spaces')
  return text
}

function descriptionIn({ description = '' }: OptionValues): string {
  const text = String(description).trim()
  if (text.length > DESCRIPTION_LENGTH_MAX || !isHonestText(text))
    throw new UsageError(
      `--description is one line of at most ${DESCRIPTION_LENGTH_MAX} characters, without invisible ones`,
    )
  return text
}

/** Throws conflict with the applications whose rules name the group. */
async function requireUnnamed({ db }: Pick<Parts, 'db'>, name: string): Promise<void> {
  const apps = await appsNaming(db, name)
  if (apps.length === 0) return
  const lines = apps.map((app) => `  - ${app.name} (${app.client_id})`)
  throw new AppError(
    'conflict',
    [`The rules of these applications name ${name}. --leave-rules deletes it all the same:`, ...lines].join(
      '\n',
    ),
  )
}
