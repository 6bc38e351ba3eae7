/** `tessera mandate …` decides on the right of payment applications to hold mandates, and ends mandates. */
import { appsByRight } from '../admin/apps/mandates.ts'
import { revokeByStaff } from '../payment/mandates/acts.ts'
import { decideMandateRight } from '../payment/mandates/right.ts'
import { Amount } from '../payment/wire-fields/fields.ts'
import { actorOf, type Command, requiredOption, UsageError, withDeps } from './command.ts'

const IP = 'command line'
const by = { by: { type: 'string', isRequired: true } } as const
const reason = { type: 'string', isRequired: true } as const

export const mandateCommands: Command[] = [
  {
    name: 'mandate rights',
    takes: [],
    summary: 'Lists the payment applications that ask for the right to mandates, and those that ever had it.',
    async run({ config }) {
      const apps = await withDeps(config, ({ db }) => appsByRight(db, undefined))
      const listed = apps.map(({ payment_id, name, owner, mandate_right, mandate_daily_max }) => ({
        payment_id,
        name,
        owner,
        right: mandate_right,
        daily_max: mandate_daily_max === null ? null : Number(mandate_daily_max),
      }))
      return {
        lines: listed.map((app) => `${app.payment_id}  ${app.right.padEnd(9)}  ${app.name} (@${app.owner})`),
        data: listed,
      }
    },
  },
  {
    name: 'mandate grant',
    takes: ['payment_id'],
    options: { ...by, 'daily-max': { type: 'string', isRequired: true }, reason: { type: 'string' } },
    summary:
      'Gives a payment application the right to mandates, up to so many points a day, or changes the limit.',
    async run({ config, arguments: [payment_id], options }) {
      const { success, data } = Amount.safeParse(requiredOption(options, 'daily-max'))
      if (!success) throw new UsageError('--daily-max is a whole number of points from 1')
      const decided = { decision: 'grant', daily_max: BigInt(data), reason: textOf(options.reason) } as const
      await withDeps(config, async (deps) => {
        const actor = { actor_id: await actorOf(deps, options), ip: IP }
        await decideMandateRight(deps, payment_id!, decided, actor)
      })
      return { lines: [`${payment_id}: granted.`], data: { payment_id, right: 'granted' } }
    },
  },
  ...(['refuse', 'withdraw'] as const).map(
    (decision): Command => ({
      name: `mandate ${decision}`,
      takes: ['payment_id'],
      options: { ...by, reason },
      summary:
        decision === 'refuse'
          ? 'Refuses a payment application the right to mandates.'
          : 'Withdraws the right to mandates. No charge of the application is possible then.',
      async run({ config, arguments: [payment_id], options }) {
        const decided = { decision, reason: requiredOption(options, 'reason') }
        await withDeps(config, async (deps) => {
          const actor = { actor_id: await actorOf(deps, options), ip: IP }
          await decideMandateRight(deps, payment_id!, decided, actor)
        })
        return { lines: [`${payment_id}: ${decision} done.`], data: { payment_id, decision } }
      },
    }),
  ),
  {
    name: 'mandate end',
    takes: ['mandate_id'],
    options: { ...by, reason },
    summary: 'Ends a mandate. Its member reads the reason.',
    async run({ config, arguments: [mandate_id], options }) {
      const act = { mandate_id: mandate_id!, reason: requiredOption(options, 'reason') }
      const { status } = await withDeps(config, async (deps) =>
        revokeByStaff(deps, act, { actor_id: await actorOf(deps, options), ip: IP }),
      )
      return { lines: [`${mandate_id}: ${status}.`], data: { mandate_id, status } }
    },
  },
]

function textOf(value: string | boolean | undefined): string {
  return typeof value === 'string' ? value.trim() : ''
}
