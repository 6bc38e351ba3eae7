/** `tessera setting …` changes a site setting. It needs no second administrator. */

import { isSetting } from '../core/setting-values.ts'
import { AppError } from '../platform/errors.ts'
import { type Command, UsageError, withDeps } from './command.ts'

export const settingCommands: Command[] = [
  {
    name: 'setting set',
    takes: ['name', 'value'],
    summary:
      'Changes a site setting, without the second administrator that the pages require: the operator can change the database anyway.',
    async run({ config, arguments: [typed, value] }) {
      const name = typed!
      if (!isSetting(name)) throw new UsageError(`There is no setting ${typed}`)
      await withDeps(config, async ({ settings, clock }) => {
        const change = { name, value: value!, actor_id: null, ip: 'command line', now: clock() }
        await settings.change(change).catch(asTyped)
      })
      return { lines: [`${name} is ${value}, everywhere within seconds.`], data: { name, value } }
    },
  },
]

function asTyped(error: unknown): never {
  if (error instanceof AppError && error.code === 'invalid_form') throw new UsageError(error.message)
  throw error
}
