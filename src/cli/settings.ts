/** `tessera setting …` reads and changes site settings. A change needs no second administrator. */

import { isSetting, type SettingName } from '../core/setting-values.ts'
import { describeSettings } from '../core/settings.ts'
import type { Config } from '../platform/config.ts'
import { AppError } from '../platform/errors.ts'
import { type Command, UsageError, withDeps } from './command.ts'

export const settingCommands: Command[] = [
  {
    name: 'setting list',
    takes: [],
    summary: 'Lists the site settings: the value of each, and * where it differs from the default.',
    async run({ config }) {
      const settings = await readSettings(config)
      return {
        lines: settings.map(({ name, value, is_default }) => `${is_default ? ' ' : '*'} ${name} = ${value}`),
        data: settings,
      }
    },
  },
  {
    name: 'setting get',
    takes: ['name'],
    summary: 'Prints the value of a site setting.',
    async run({ config, arguments: [typed] }) {
      const name = asSetting(typed!)
      const setting = (await readSettings(config)).find((each) => each.name === name)!
      return { lines: [setting.value], data: setting }
    },
  },
  {
    name: 'setting set',
    takes: ['name', 'value'],
    summary:
      'Changes a site setting, without the second administrator that the pages require: the operator can change the database anyway.',
    async run({ config, arguments: [typed, value] }) {
      const name = asSetting(typed!)
      await withDeps(config, async ({ settings, clock }) => {
        const change = { name, value: value!, actor_id: null, ip: 'command line', now: clock() }
        await settings.change(change).catch(asTyped)
      })
      return { lines: [`${name} is ${value}, everywhere within seconds.`], data: { name, value } }
    },
  },
]

async function readSettings(config: Config) {
  const settings = await withDeps(config, ({ db }) => describeSettings(db))
  return settings.map(({ name, value, standard }) => ({
    name,
    value,
    default: standard,
    is_default: value === standard,
  }))
}

function asSetting(typed: string): SettingName {
  if (!isSetting(typed))
    throw new UsageError(`There is no setting ${typed}. tessera setting list shows them.`)
  return typed
}

function asTyped(error: unknown): never {
  if (error instanceof AppError && error.code === 'invalid_form') throw new UsageError(error.message)
  throw error
}
