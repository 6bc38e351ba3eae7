/** `tessera keys …`: the keys that ID tokens are signed with. */
import { rotateSigningKeys } from '../identity/key-rotation.ts'
import { type Command, withDeps } from './command.ts'

export const keyCommands: Command[] = [
  {
    name: 'keys rotate',
    takes: [],
    summary: 'Makes new signing keys, published now and signing once every cache of the old set has ended.',
    async run({ config }) {
      const keys = await withDeps(config, rotateSigningKeys)
      return {
        lines: keys.map(
          ({ alg, kid, signs_from }) => `${alg}  ${kid} signs from ${signs_from.toISOString()}`,
        ),
        data: keys.map(({ alg, kid, signs_from }) => ({ alg, kid, signs_from })),
      }
    },
  },
]
