/** `tessera notifications …` lists notifications and sends them again. */
import type { Db } from '../database/connection.ts'
import type { Parts } from '../parts.ts'
import {
  type Notification,
  type NotificationFilter,
  readNotifications,
  redeliver,
  redeliverFailed,
} from '../payment/notifications/redelivery.ts'
import { actorOf, type Command, type OptionValues, UsageError, withDeps } from './command.ts'

const SHOWN_MAX = 200
const STATUSES = ['due', 'delivered', 'failed'] as const

const by = { by: { type: 'string', isRequired: true } } as const

export const notificationCommands: Command[] = [
  {
    name: 'notifications list',
    takes: [],
    options: { status: { type: 'string' }, app: { type: 'string' } },
    summary: `Lists the newest ${SHOWN_MAX}: --status ${STATUSES.join(', ')}; --app a Payment ID.`,
    async run({ config, options }) {
      const status = STATUSES.find((each) => each === options.status)
      if (options.status !== undefined && status === undefined)
        throw new UsageError(`--status is ${STATUSES.join(', ')}`)
      const filter = { status, payment_id: options.app?.toString() }
      const found = await withDeps(config, ({ db }) => newestOf(db, filter))
      return {
        lines: found.map(({ transaction_id, status: state, attempts, host, app_name, log }) => {
          const last = log.at(-1)
          return `${transaction_id}  ${state.padEnd(9)}  ${attempts} attempts  ${host}  ${app_name}${last ? `: ${last.outcome} ${last.detail ?? ''}` : ''}`
        }),
        // The addresses of the attempts are signed, so the output omits them.
        data: found.map(({ log, ...notification }) => ({
          ...notification,
          log: log.map(({ url: _, ...attempt }) => attempt),
        })),
      }
    },
  },
  {
    name: 'notifications redeliver',
    takes: ['transaction_id'],
    options: by,
    summary: 'Sends the merchant the notification again, and starts its schedule from the beginning.',
    async run({ config, arguments: [transaction_id], options }) {
      await withDeps(config, async (deps) =>
        redeliver(deps, transaction_id!, await administrator(deps, options)),
      )
      return { lines: ['It is due now: a running service sends it.'], data: { transaction_id } }
    },
  },
  {
    name: 'notifications redeliver-failed',
    takes: ['since'],
    options: { ...by, app: { type: 'string' } },
    summary: 'Sends again all that failed since a moment (ISO 8601), of one application or of all.',
    async run({ config, arguments: [moment], options }) {
      const since = new Date(moment!)
      if (Number.isNaN(since.getTime()))
        throw new UsageError('The moment is written like 2026-01-31T00:00:00Z')
      const payment_id = options.app?.toString()
      const count = await withDeps(config, async (deps) =>
        redeliverFailed(deps, { since, payment_id }, await administrator(deps, options)),
      )
      return { lines: [`${count} are due now: a running service sends them.`], data: { count } }
    },
  },
]

/** Reads the newest notifications of a filter. A page of them is found in a bounded number of rows; this looks on to the end. */
async function newestOf(db: Db, filter: NotificationFilter): Promise<Notification[]> {
  const found: Notification[] = []
  for (let before: bigint | undefined; ; ) {
    const page = await readNotifications(db, { role: 'administrator' }, { ...filter, before }, SHOWN_MAX)
    found.push(...page.rows)
    before = page.next
    if (before === undefined || found.length >= SHOWN_MAX) return found.slice(0, SHOWN_MAX)
  }
}

async function administrator(deps: Parts, options: OptionValues) {
  const actor_id = await actorOf(deps, options)
  return { role: 'administrator' as const, actor_id, ip: 'command line' }
}
