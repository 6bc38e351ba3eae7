/** `tessera keys …`: the keys that ID tokens are signed with. */
import { type NextKey, replaceSigningKeys, rotateSigningKeys } from '../identity/key-rotation.ts'
import { type Command, type Result, withDeps } from './command.ts'

export const keyCommands: Command[] = [
  {
    name: 'keys rotate',
    takes: [],
    options: { now: { type: 'boolean' } },
    summary:
      'Makes new signing keys, published now and signing once every cache of the old set has ended. --now is for an emergency: the new ones sign at once, and whatever the old ones signed is refused.',
    run: ({ config, options }) =>
      withDeps(config, async (deps) =>
        options.now === true
          ? told(await replaceSigningKeys(deps))
          : toldOfNext(await rotateSigningKeys(deps)),
      ),
  },
]

const PRICE = `Every ID token signed before is refused from now on: as a hint by the service, whose running processes follow within a
minute, and by each application once it has fetched the keys again, which takes most of them up to 5 minutes.
Until then an application may refuse a sign-in, which then has to be begun again. Nobody is signed out here, and access
tokens and refresh tokens stay good.`

const lineOf = ({ alg, kid, signs_from }: NextKey) => `${alg}  ${kid} signs from ${signs_from.toISOString()}`

function toldOfNext(keys: NextKey[]): Result {
  return { lines: keys.map(lineOf), data: keys }
}

function told({ made, withdrawn }: { made: NextKey[]; withdrawn: string[] }): Result {
  const gone = withdrawn.map((kid) => `       ${kid} is withdrawn`)
  return { lines: [...made.map(lineOf), ...gone, PRICE], data: { made, withdrawn } }
}
