/** `tessera audit` reads the audit log. */
import { type AuditFilter, readAudit } from '../core/audit.ts'
import { type Command, type OptionValues, readLimit, UsageError, withDeps } from './command.ts'

const LISTED_MAX = 1_000
const LISTED = 50

export const auditCommands: Command[] = [
  {
    name: 'audit',
    takes: [],
    options: {
      subject: { type: 'string' },
      action: { type: 'string' },
      actor: { type: 'string' },
      since: { type: 'string' },
      until: { type: 'string' },
      limit: { type: 'string' },
    },
    summary: `Lists the newest acts of the audit log, ${LISTED} or --limit of them. --action is an act or an area (points), --actor a username, --since and --until moments (ISO 8601).`,
    async run({ config, options }) {
      const filter = filterOf(options)
      const limit = readLimit(options, LISTED, LISTED_MAX)
      const entries = await withDeps(config, ({ db }) => readAudit(db, filter, limit))
      return {
        lines: entries.map(({ created_at, actor, action, subject, ip, detail }) =>
          [created_at.toISOString(), actor ?? '–', action, subject, ip ?? '–', JSON.stringify(detail)].join(
            '  ',
          ),
        ),
        data: entries,
      }
    },
  },
]

function filterOf(options: OptionValues): AuditFilter {
  const given = (name: string) => options[name]?.toString()
  return {
    subject: given('subject'),
    action: given('action'),
    actor: given('actor')?.replace(/^@/, ''),
    from: momentOf(given('since'), 'since'),
    until: momentOf(given('until'), 'until'),
  }
}

function momentOf(text: string | undefined, name: string): Date | undefined {
  if (text === undefined) return undefined
  const moment = new Date(text)
  if (Number.isNaN(moment.getTime())) throw new UsageError(`--${name} is written like 2026-01-31T00:00:00Z`)
  return moment
}
