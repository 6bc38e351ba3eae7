/** `tessera keys …` changes the keys that sign ID tokens and APP_SECRET, which encrypts stored secrets, and revokes access keys. */

import { type NextKey, replaceSigningKeys, rotateSigningKeys } from '../identity/keys/rotation.ts'
import { reencryptAll } from '../operations/secret-rotation.ts'
import type { Parts } from '../parts.ts'
import { revokeAnyKey } from '../payment/access-keys/keys.ts'
import {
  type Command,
  type OptionValues,
  type Progress,
  type Result,
  UsageError,
  withDeps,
} from './command.ts'

export const keyCommands: Command[] = [
  {
    name: 'keys rotate',
    takes: [],
    options: { now: { type: 'boolean' }, 'app-secret': { type: 'boolean' } },
    summary:
      'Makes new signing keys and withdraws those made under another APP_SECRET. The new ones are published now, and sign once every cache of the old set has ended. --now is for an emergency: the new ones sign at once, and every token of the old ones is refused. --app-secret leaves the signing keys, and encrypts again under APP_SECRET what is encrypted under APP_SECRET_OTHER.',
    run: ({ config, options, progress }) =>
      withDeps(config, async (deps) => {
        if (options['app-secret'] === true) return reencrypt(deps, options, progress)
        if (options.now === true) return replacedResult(await replaceSigningKeys(deps))
        return rotatedResult(await rotateSigningKeys(deps))
      }),
  },
  {
    name: 'keys access revoke',
    takes: ['client_id'],
    summary:
      'Revokes an access key of a payment application at once, with its tokens: for example when its secret was found in public.',
    async run({ config, arguments: [client_id] }) {
      const payment_id = await withDeps(config, (deps) => revokeAnyKey(deps, client_id!))
      return {
        lines: [`The access key ${client_id} of ${payment_id} is revoked.`],
        data: { client_id, payment_id },
      }
    },
  },
]

const PRICE = `\
Every ID token signed before is refused from now on. The service refuses it as a hint; running processes follow
within a minute. Each application refuses it once it has fetched the keys again, which takes most of them up to 5 minutes.
Until then an application may refuse a sign-in, and the member has to start it again. Members stay signed in here, and
access tokens and refresh tokens stay valid.`.split('\n')

const lineOf = ({ alg, kid, signs_from }: NextKey) => `${alg}  ${kid} signs from ${signs_from.toISOString()}`

function rotatedResult({ next, withdrawn }: { next: NextKey[]; withdrawn: string[] }): Result {
  const gone = withdrawn.map((kid) => `       ${kid} does not open under this APP_SECRET, and is withdrawn`)
  return { lines: [...next.map(lineOf), ...gone], data: { next, withdrawn } }
}

function replacedResult({ made, withdrawn }: { made: NextKey[]; withdrawn: string[] }): Result {
  const gone = withdrawn.map((kid) => `       ${kid} is withdrawn`)
  return { lines: [...made.map(lineOf), ...gone, ...PRICE], data: { made, withdrawn } }
}

async function reencrypt(deps: Parts, options: OptionValues, progress: Progress): Promise<Result> {
  if (options.now === true) throw new UsageError('--now goes without --app-secret')
  if (deps.config.APP_SECRET_OTHER === undefined)
    throw new UsageError('Set APP_SECRET to the new one and APP_SECRET_OTHER to the old one first')
  const { done, unreadable, sealed_to } = await reencryptAll(deps, progress)
  const isFaulty = Object.values(unreadable).some((count) => count > 0)
  const linesFor = (counts: Record<string, number>, what: string) =>
    Object.entries(counts).flatMap(([table, count]) => (count > 0 ? [`${table}: ${count} ${what}`] : []))
  return {
    lines: [
      ...linesFor(done, 'encrypted again'),
      ...linesFor(unreadable, 'open under neither APP_SECRET, and stay as they are'),
      ...(sealed_to === undefined ? [] : [`The key of the seals up to journal ${sealed_to} is kept.`]),
      isFaulty
        ? 'Not all could be read: APP_SECRET_OTHER must be the one they were encrypted under.'
        : 'Nothing is left under APP_SECRET_OTHER: it can be taken away.',
    ],
    data: { reencrypted: done, unreadable, sealed_to: sealed_to ?? null },
    isFaulty,
  }
}
