/** `tessera links …` stops a payment link, and allows it again. */
import { stopLink } from '../payment/links/acts.ts'
import { actorOf, type Command, requiredOption, withDeps } from './command.ts'

const IP = 'command line'
const by = { by: { type: 'string', isRequired: true } } as const

export const linkCommands: Command[] = [
  {
    name: 'links stop',
    takes: ['slug'],
    options: { ...by, reason: { type: 'string', isRequired: true } },
    summary:
      'Stops a payment link by the end of its address. Nothing more is sold there. Its team reads the reason.',
    async run({ config, arguments: [slug], options }) {
      const reason = requiredOption(options, 'reason')
      await withDeps(config, async (deps) =>
        stopLink(deps, { slug: slug!, reason }, { user_id: await actorOf(deps, options), ip: IP }),
      )
      return { lines: [`The link ${slug} is stopped.`], data: { slug, state: 'stopped' } }
    },
  },
  {
    name: 'links allow',
    takes: ['slug'],
    options: by,
    summary: 'Allows a stopped payment link again. It is paused then, and its team may resume it.',
    async run({ config, arguments: [slug], options }) {
      await withDeps(config, async (deps) =>
        stopLink(deps, { slug: slug!, reason: undefined }, { user_id: await actorOf(deps, options), ip: IP }),
      )
      return { lines: [`The link ${slug} is paused.`], data: { slug, state: 'paused' } }
    },
  },
]
