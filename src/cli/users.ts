/** `tessera user …` creates and repairs accounts without a sign-in, and exports or anonymises a member. */
import {
  createAccount,
  dropSecondFactor,
  makeSignInLink,
  resetPassword,
  setAdministrator,
} from '../accounts/operator.ts'
import { isUsername } from '../accounts/people/users.ts'
import type { Parts } from '../parts.ts'
import { AppError } from '../platform/errors.ts'
import { anonymise, type Obstacle, obstaclesOf, REFUNDABLE_DAYS } from '../privacy/anonymise.ts'
import { exportMember, recordExport } from '../privacy/export.ts'
import { isHonestText } from '../web/parameters.ts'
import { counted } from '../web/plurals.ts'
import {
  type Command,
  findMember,
  type OptionValues,
  requiredOption,
  UsageError,
  withDeps,
} from './command.ts'
import { writeNewFile } from './new-file.ts'

export const userCommands: Command[] = [
  {
    name: 'user create',
    takes: ['username'],
    options: {
      name: { type: 'string' },
      email: { type: 'string' },
      'trust-level': { type: 'string' },
      admin: { type: 'boolean' },
    },
    summary: 'Creates a local account and prints its one-time password.',
    async run({ config, arguments: [username], options }) {
      const account = { username: asUsername(username!), ...detailsOf(options) }
      const { id, password } = await withDeps(config, (deps) => createAccount(deps, account))
      return {
        lines: [
          `Created ${account.username} with the one-time password ${password}`,
          'It must be changed at the first sign-in.',
        ],
        data: { id, username: account.username, one_time_password: password },
      }
    },
  },
  administratorCommand('user grant-admin', true, 'Makes a member an administrator.'),
  administratorCommand('user revoke-admin', false, 'Takes the administrator’s rights from a member.'),
  {
    name: 'user reset-password',
    takes: ['username'],
    summary: 'Sets a one-time password, prints it, and ends the member’s sessions.',
    async run({ config, arguments: [typed] }) {
      const { username, password } = await withDeps(config, async (deps) => {
        const member = await findMember(deps.db, typed!)
        return { ...member, password: await resetPassword(deps, member.username) }
      })
      return {
        lines: [`The one-time password of ${username} is ${password}`, 'All their sessions have ended.'],
        data: { username, one_time_password: password },
      }
    },
  },
  {
    name: 'user reset-second-factor',
    takes: ['username'],
    options: { reason: { type: 'string' } },
    summary:
      'Turns a second factor off and removes all passkeys, for a member who has lost them and the recovery codes.',
    async run({ config, arguments: [typed], options: { reason } }) {
      const why = typeof reason === 'string' ? reason : 'Reset by the operator'
      const username = await withDeps(config, async (deps) => {
        const member = await findMember(deps.db, typed!)
        await dropSecondFactor(deps, member.username, why)
        return member.username
      })
      return {
        lines: [`The second factor of ${username} is off, and the passkeys are removed.`],
        data: { username },
      }
    },
  },
  {
    name: 'user sign-in-link',
    takes: ['username'],
    summary:
      'Prints a link that signs the member in once without the password. A second factor is still required.',
    async run({ config, arguments: [typed] }) {
      const { username, url, expires_at } = await withDeps(config, async (deps) => {
        const member = await findMember(deps.db, typed!)
        return { ...member, ...(await makeSignInLink(deps, member.username)) }
      })
      return {
        lines: [url, `Works once, until ${expires_at.toISOString()}.`],
        data: { username, url, expires_at },
      }
    },
  },
  {
    name: 'user export',
    takes: ['username'],
    options: { file: { type: 'string' } },
    summary: 'Prints all data about a member as JSON, or writes it to a new file.',
    async run({ config, arguments: [username], options: { file } }) {
      return withDeps(config, async (deps) => {
        const { id: user_id } = await findMember(deps.db, username!)
        if (typeof file === 'string') return writeExport(deps, user_id, file)
        await recordExport(deps, { user_id, actor_id: null, ip: null })
        let text = ''
        for await (const piece of exportMember(deps, user_id)) text += piece
        return { lines: text.trimEnd().split('\n'), data: JSON.parse(text) }
      })
    },
  },
  {
    name: 'user anonymise',
    takes: ['username'],
    options: { reason: { type: 'string', isRequired: true }, 'give-up-points': { type: 'string' } },
    summary:
      'Removes the identity of a member for good; the books stay. --give-up-points names all their points, if they give them up.',
    async run({ config, arguments: [username], options }) {
      const reason = requiredOption(options, 'reason')
      const digits = options['give-up-points'] ?? '0'
      if (!/^\d{1,16}$/.test(String(digits)))
        throw new UsageError('--give-up-points is a whole number of points')
      const give_up = BigInt(digits)
      return withDeps(config, async (deps) => {
        const { id: user_id } = await findMember(deps.db, username!)
        await requireNoObstacle(deps, { user_id, username: username!, give_up })
        await anonymise(deps, { user_id, actor_id: null, reason, ip: null, give_up })
        return { lines: [`${username} is anonymised, and is now deleted-${user_id}.`], data: { user_id } }
      })
    },
  },
]

async function writeExport(deps: Parts, user_id: bigint, path: string) {
  await writeNewFile(path, async (file) => {
    await recordExport(deps, { user_id, actor_id: null, ip: null })
    await file.writeFile(exportMember(deps, user_id))
  })
  return { lines: [`Wrote ${path}`], data: { user_id, path } }
}

/** Names each obstacle and the operator's remedy. “They” is the member. */
const OBSTACLE_TEXTS: Record<Obstacle, (points: bigint) => string> = {
  points: (points) =>
    `Their wallet holds ${points} ${counted(points, 'point', 'points')}, to be spent first, or given up with --give-up-points ${points}`,
  points_coming: () => 'Points from the forum are on their way to them: try again in some minutes',
  frozen: () => 'Their wallet is frozen: an administrator has to end that first',
  last_administrator: () =>
    'They are the last administrator who can sign in: run `tessera user grant-admin` for another member first',
  team_roles: () => 'They work on payment applications of others: they have to leave those teams first',
  oauth_apps: () =>
    'Applications that members sign in to are registered in their name: those have to be deleted first',
  open_orders: () =>
    'Orders of their payment applications can still be paid: wait until their time is over, or let the application be handed over',
  refundable_orders: () =>
    `Orders were paid to them in the last ${REFUNDABLE_DAYS} days and may have to be refunded: wait, or refund them`,
  refund_requests: () => 'A refund request concerns them: an administrator has to decide it first',
}

/** Throws conflict with all obstacles as sentences. `anonymise` itself refuses an obstacle that appears later. */
async function requireNoObstacle(
  { db, clock }: Parts,
  { user_id, username, give_up }: { user_id: bigint; username: string; give_up: bigint },
): Promise<void> {
  const { obstacles, balance } = await obstaclesOf(db, user_id, clock())
  const left = obstacles.filter((name) => name !== 'points' || give_up !== balance)
  if (left.length === 0) return
  const lines = left.map((name) => `  - ${OBSTACLE_TEXTS[name](balance)}`)
  throw new AppError('conflict', [`${username} cannot be anonymised yet:`, ...lines].join('\n'))
}

function administratorCommand(name: string, isAdmin: boolean, summary: string): Command {
  return {
    name,
    takes: ['username'],
    summary,
    async run({ config, arguments: [typed] }) {
      const username = await withDeps(config, async (deps) => {
        const member = await findMember(deps.db, typed!)
        await setAdministrator(deps, member.username, isAdmin)
        return member.username
      })
      return {
        lines: [`${username} is ${isAdmin ? 'now' : 'no longer'} an administrator.`],
        data: { username, is_admin: isAdmin },
      }
    },
  }
}

function asUsername(text: string): string {
  if (!isUsername(text))
    throw new UsageError(
      'A username has 3 to 30 letters (a to z), digits, dots, hyphens and underscores, and neither begins nor ends with a dot or a hyphen',
    )
  return text
}

function detailsOf({ name, email, 'trust-level': level = '0', admin }: OptionValues) {
  if (!/^[0-4]$/.test(String(level))) throw new UsageError('--trust-level is 0 to 4')
  if (email !== undefined && !/^[^\s@]+@[^\s@]+$/.test(String(email)))
    throw new UsageError('--email is no e-mail address')
  if (name !== undefined && !isHonestText(String(name)))
    throw new UsageError('--name must not contain characters that are invisible or reverse it')
  return {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof email === 'string' ? { email } : {}),
    trust_level: Number(level),
    is_admin: admin === true,
  }
}
