/** `tessera doctor` finds faults of an installation and says how to mend them. It writes nothing to the database. */

import { openDatabase } from '../database/connection.ts'
import { provideDatabase } from '../database/url.ts'
import type { Config } from '../platform/config.ts'
import type { Command, Progress, Result } from './command.ts'
import {
  ADDRESS,
  examineAddress,
  examineIssuer,
  examinePasskeys,
  examineProxies,
  examineVersion,
  PAYMENT_ADDRESS,
} from './doctor/addresses.ts'
import {
  examineBooks,
  examineBuiltIn,
  examineClock,
  examineDatabase,
  examineNames,
  examineSchema,
  examineSecret,
  examineTimeouts,
  examineWrites,
} from './doctor/database.ts'
import { type Finding, fault, GOOD, type Installation, sentenceFor, skippedFor } from './doctor/finding.ts'
import { examineForumRequests } from './doctor/forum.ts'
import { examineCollector, examineForum, examineForumGroups, examineMail } from './doctor/services.ts'

type Check = {
  name: string
  /** An earlier check that must pass before this one can run. */
  needs?: string
  /** An error that it throws becomes a fault. */
  examine(installation: Installation): Promise<Finding>
}

const CONFIGURATION = 'configuration'
const DATABASE = 'database'
const SCHEMA = 'schema'

const CHECKS: Check[] = [
  { name: DATABASE, examine: examineDatabase },
  { name: 'built-in Postgres', needs: DATABASE, examine: examineBuiltIn },
  { name: 'database writes', needs: DATABASE, examine: examineWrites },
  { name: 'timeouts', needs: DATABASE, examine: examineTimeouts },
  { name: 'named statements', needs: DATABASE, examine: examineNames },
  { name: SCHEMA, needs: DATABASE, examine: examineSchema },
  { name: 'APP_SECRET', needs: SCHEMA, examine: examineSecret },
  { name: 'books', needs: SCHEMA, examine: examineBooks },
  { name: 'forum groups', needs: SCHEMA, examine: examineForumGroups },
  { name: 'clock', needs: DATABASE, examine: examineClock },
  { name: ADDRESS, examine: ({ config }) => examineAddress(config.PUBLIC_URL) },
  { name: PAYMENT_ADDRESS, examine: ({ config }) => examineAddress(config.PAYMENT_PUBLIC_URL) },
  { name: 'version', needs: ADDRESS, examine: examineVersion },
  { name: 'issuer', needs: ADDRESS, examine: examineIssuer },
  { name: 'passkeys', examine: examinePasskeys },
  { name: 'proxy', examine: examineProxies },
  { name: 'forum', examine: examineForum },
  { name: 'mail', examine: examineMail },
  { name: 'traces', examine: examineCollector },
]

type Found = Finding & { check: string }

export const doctorCommands: Command[] = [
  {
    name: 'doctor',
    takes: [],
    options: { forum: { type: 'boolean' } },
    summary:
      'Checks configuration, database, age of the built-in Postgres, schema, secrets, books, clock, addresses, version, passkeys, proxy, forum and its groups, mail and traces, and says how to mend each fault. It always prints the whole list. With --forum it sends the forum each request of the service once, instead.',
    run: async ({ config, options, progress }) =>
      report(
        options.forum === true ? await examineForumRequests(config) : await examineAll(config, progress),
      ),
    judgeConfig: ({ faults }) =>
      report([
        { check: CONFIGURATION, ...fault(faults.join('; ')) },
        ...CHECKS.map(({ name }) => ({ check: name, ...skippedFor(CONFIGURATION) })),
      ]),
  },
]

async function examineAll(config: Config, progress: Progress): Promise<Found[]> {
  const clock = () => new Date()
  const database = await provideDatabase(config).catch((error: Error) => error)
  const refusal = database instanceof Error ? database : undefined
  const url = database instanceof Error ? '' : database.url
  const db = openDatabase(url, { max: 2, onBroken: () => {} })
  const found: Found[] = [{ check: CONFIGURATION, ...GOOD }]
  try {
    for (const check of CHECKS) {
      found.push({ check: check.name, ...(await examine(check, { config, clock, db, url, refusal }, found)) })
      progress(found.length - 1, CHECKS.length)
    }
  } finally {
    await db.destroy()
    if (!(database instanceof Error)) await database.stop()
  }
  return found
}

async function examine(
  { needs, examine: act }: Check,
  installation: Installation,
  found: Found[],
): Promise<Finding> {
  const needed = found.find(({ check }) => check === needs)
  if (needed?.state === 'skipped') return { state: 'skipped', ...(needed.note && { note: needed.note }) }
  if (needed?.state === 'fault') return skippedFor(needed.check)
  return act(installation).catch((error: Error) => fault(sentenceFor(error)))
}

function report(found: Found[]): Result {
  return {
    lines: found.map((each) => {
      const text = each.state === 'fault' ? each.fault : each.note
      const label = each.state === 'fault' ? 'FAULT' : each.state
      return `${label.padEnd(8)} ${each.check}${text === undefined ? '' : `: ${text}`}`
    }),
    data: found.map(({ check, state, ...more }) => ({
      check,
      state,
      is_good: state !== 'fault' && state !== 'skipped',
      ...more,
    })),
    isFaulty: found.some(({ state }) => state === 'fault'),
  }
}
