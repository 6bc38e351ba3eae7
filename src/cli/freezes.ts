/** `tessera freeze …` and `tessera unfreeze …`: wallets and orders. spec/points 2.6. */
import {
  type FreezeAct,
  freezeOrder,
  freezeWallet,
  unfreezeOrder,
  unfreezeWallet,
} from '../admin/points/freezes.ts'
import type { Core } from '../core/core.ts'
import { actorOf, type Command, findMember, requiredOption, withDeps } from './command.ts'

type Act = 'freeze' | 'unfreeze'

export const freezeCommands: Command[] = (['freeze', 'unfreeze'] as const).flatMap((act) => [
  command(act, {
    thing: 'wallet',
    takes: 'username',
    summary: {
      freeze: 'Stops a member’s wallet from paying.',
      unfreeze: 'Lets a member’s wallet pay again.',
    },
    async run(deps, username, by) {
      const { id } = await findMember(deps.db, username)
      await (act === 'freeze' ? freezeWallet : unfreezeWallet)(deps, id, by)
    },
  }),
  command(act, {
    thing: 'order',
    takes: 'transaction_id',
    summary: {
      freeze: 'Stops an unpaid order from being paid.',
      unfreeze: 'Lets a frozen order be paid again.',
    },
    run: act === 'freeze' ? freezeOrder : unfreezeOrder,
  }),
])

type Subject = {
  thing: 'wallet' | 'order'
  /** What names it. */
  takes: string
  summary: Record<Act, string>
  run(deps: Core, name: string, by: FreezeAct): Promise<void>
}

function command(act: Act, { thing, takes, summary, run }: Subject): Command {
  return {
    name: `${act} ${thing}`,
    takes: [takes],
    options: { by: { type: 'string', isRequired: true }, reason: { type: 'string', isRequired: true } },
    summary: summary[act],
    async run({ config, arguments: [typed], options }) {
      const name = typed!
      const reason = requiredOption(options, 'reason')
      await withDeps(config, async (deps) =>
        run(deps, name, { reason, actor_id: await actorOf(deps, options), ip: 'command line' }),
      )
      const isFrozen = act === 'freeze'
      return {
        lines: [`The ${thing} ${name} is ${isFrozen ? 'frozen' : 'not frozen any more'}.`],
        data: { [thing]: name, is_frozen: isFrozen },
      }
    },
  }
}
