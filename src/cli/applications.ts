// This room: the command line of operators: one file for the commands of a subject.
// Verbs: tessera, withDeps, writeNewFile.
/** `tessera payment-app …` reviews payment applications. `tessera app …` replaces a lost client secret. */
import { resetSecret } from '../identity/apps/secrets.ts'
import {
  DECISIONS_WITH_REASON,
  decidedPaymentApps,
  getPaymentApp,
  reviewPaymentApp,
  reviewQueue,
} from '../payment/apps/review.ts'
import { actorOf, type Command, withDeps } from './command.ts'

const DECISIONS = ['approve', 'reject', 'suspend', 'reinstate'] as const

const LISTED_MAX = 1_000

const by = { by: { type: 'string', isRequired: true } } as const

export const applicationCommands: Command[] = [
  {
    name: 'payment-app list',
    takes: [],
    summary:
      'Lists the payment applications: first the new and the changed ones to review, then the approved and the suspended ones.',
    async run({ config }) {
      const apps = await withDeps(config, async ({ db }) => [
        ...(await reviewQueue(db, 0n, LISTED_MAX)).map((app) => ({ ...app, isWaiting: true })),
        ...(await decidedPaymentApps(db)).map((app) => ({ ...app, isWaiting: false })),
      ])
      const listed = apps.map(({ payment_id, status, name, username, isWaiting }) => ({
        payment_id,
        status,
        name,
        applicant: username,
        is_changed: isWaiting && status === 'approved',
      }))
      return {
        lines: listed.map(({ payment_id, status, name, applicant, is_changed }) => {
          const state = is_changed ? 'changed' : status
          return `${payment_id}  ${state.padEnd(9)}  ${name} (@${applicant})`
        }),
        data: listed,
      }
    },
  },
  ...DECISIONS.map(
    (decision): Command => ({
      name: `payment-app ${decision}`,
      takes: ['payment_id'],
      options: {
        ...by,
        reason: { type: 'string', isRequired: DECISIONS_WITH_REASON.includes(decision) },
      },
      summary: `${decision[0]!.toUpperCase()}${decision.slice(1)}s a payment application, in the name of an administrator.`,
      async run({ config, arguments: [payment_id], options }) {
        const reason = String(options.reason ?? '').trim()
        await withDeps(config, async (deps) => {
          const reviewer_id = await actorOf(deps, options)
          const app = await getPaymentApp(deps.db, payment_id!)
          const review = { payment_id: app.payment_id, decision, reason, reviewer_id }
          // The operator reviews the application in its present state.
          await reviewPaymentApp(deps, { ...review, seen_change_at: app.unreviewed_change_at })
        })
        return { lines: [`${payment_id}: ${decision} done.`], data: { payment_id, decision } }
      },
    }),
  ),
  {
    name: 'app reset-secret',
    takes: ['client_id'],
    options: by,
    summary: 'Ends every secret of an OAuth application and prints a new one.',
    async run({ config, arguments: [client_id], options }) {
      const { client_secret, name } = await withDeps(config, async (deps) =>
        resetSecret(deps.db, {
          client_id: client_id!,
          actor_id: await actorOf(deps, options),
          now: deps.clock(),
          ip: 'command line',
        }),
      )
      return {
        lines: [
          `The client secret of ${name} is ${client_secret}`,
          'It is not shown again. All earlier secrets have ended.',
        ],
        data: { client_id, client_secret },
      }
    },
  },
]
