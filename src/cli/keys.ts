/** `tessera keys …`: the keys that ID tokens are signed with, and the APP_SECRET that everything is encrypted under. */

import { type NextKey, replaceSigningKeys, rotateSigningKeys } from '../identity/keys/rotation.ts'
import { reencryptAll } from '../operations/secret-rotation.ts'
import type { Parts } from '../parts.ts'
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
      'Makes new signing keys, published now and signing once every cache of the old set has ended, and withdraws those that were made under another APP_SECRET. --now is for an emergency: the new ones sign at once, and whatever the old ones signed is refused. --app-secret: not those, but everything encrypted under APP_SECRET_OTHER is encrypted anew under APP_SECRET.',
    run: ({ config, options, progress }) =>
      withDeps(config, async (deps) => {
        if (options['app-secret'] === true) return reencrypt(deps, options, progress)
        if (options.now === true) return told(await replaceSigningKeys(deps))
        return toldOfNext(await rotateSigningKeys(deps))
      }),
  },
]

const PRICE = `Every ID token signed before is refused from now on: as a hint by the service, whose running processes follow within a
minute, and by each application once it has fetched the keys again, which takes most of them up to 5 minutes.
Until then an application may refuse a sign-in, which then has to be begun again. Nobody is signed out here, and access
tokens and refresh tokens stay good.`

const lineOf = ({ alg, kid, signs_from }: NextKey) => `${alg}  ${kid} signs from ${signs_from.toISOString()}`

function toldOfNext({ next, withdrawn }: { next: NextKey[]; withdrawn: string[] }): Result {
  const gone = withdrawn.map((kid) => `       ${kid} does not open under this APP_SECRET, and is withdrawn`)
  return { lines: [...next.map(lineOf), ...gone], data: { next, withdrawn } }
}

function told({ made, withdrawn }: { made: NextKey[]; withdrawn: string[] }): Result {
  const gone = withdrawn.map((kid) => `       ${kid} is withdrawn`)
  return { lines: [...made.map(lineOf), ...gone, PRICE], data: { made, withdrawn } }
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
      ...linesFor(done, 'encrypted anew'),
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
