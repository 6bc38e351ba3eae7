/** `tessera user …`: accounts, when nobody can sign in to make or mend them. */
import {
  createAccount,
  dropSecondFactor,
  makeSignInLink,
  resetPassword,
  setAdministrator,
} from '../accounts/operator.ts'
import { isUsername } from '../accounts/users.ts'
import { isHonestText } from '../web/parameters.ts'
import { type Command, type OptionValues, UsageError, withDeps } from './command.ts'

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
  administratorCommand('user grant-admin', true, 'Makes an administrator of a member.'),
  administratorCommand('user revoke-admin', false, 'Makes a member of an administrator.'),
  {
    name: 'user reset-password',
    takes: ['username'],
    summary: 'Sets a one-time password, prints it, and ends the member’s sessions.',
    async run({ config, arguments: [username] }) {
      const password = await withDeps(config, (deps) => resetPassword(deps, username!))
      return {
        lines: [`The one-time password of ${username} is ${password}`, 'Every session of theirs was ended.'],
        data: { username, one_time_password: password },
      }
    },
  },
  {
    name: 'user reset-second-factor',
    takes: ['username'],
    options: { reason: { type: 'string' } },
    summary: 'Turns a second factor off, for a member who has lost the phone and the recovery codes.',
    async run({ config, arguments: [username], options: { reason } }) {
      const why = typeof reason === 'string' ? reason : 'Reset by the operator'
      await withDeps(config, (deps) => dropSecondFactor(deps, username!, why))
      return { lines: [`The second factor of ${username} is off.`], data: { username } }
    },
  },
  {
    name: 'user sign-in-link',
    takes: ['username'],
    summary:
      'Prints a link that signs the member in once, in place of the password; a second factor is still asked for.',
    async run({ config, arguments: [username] }) {
      const { url, expires_at } = await withDeps(config, (deps) => makeSignInLink(deps, username!))
      return {
        lines: [url, `Works once, until ${expires_at.toISOString()}.`],
        data: { username, url, expires_at },
      }
    },
  },
]

function administratorCommand(name: string, isAdmin: boolean, summary: string): Command {
  return {
    name,
    takes: ['username'],
    summary,
    async run({ config, arguments: [username] }) {
      await withDeps(config, (deps) => setAdministrator(deps, username!, isAdmin))
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
      'A username has 1 to 60 characters, no spaces, and none that are invisible or reverse it',
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
