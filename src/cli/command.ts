/** What a command of the command line is made of, and what all of them share. */
import { findUserByUsername } from '../accounts/people/users.ts'
import { openDatabase } from '../database/connection.ts'
import { requireMigrated } from '../database/migrate.ts'
import { withDatabaseUrl } from '../database/url.ts'
import { openSecrets } from '../operations/first-start.ts'
import { openParts, type Parts } from '../parts.ts'
import type { Config, ConfigError } from '../platform/config.ts'
import { AppError } from '../platform/errors.ts'

/** What was typed or configured is wrong, whatever the state of things is, and nothing was done. */
export class UsageError extends Error {}

/** What a command has to say: lines for people, and the same as data for `--json`. */
export type Result = {
  lines: string[]
  data: unknown
  /** A check that found something wrong: the command did its work, and its exit code is 3. */
  isFaulty?: boolean
}

export type OptionValues = Record<string, string | boolean | undefined>

/** How far a long piece of work is; `total` is 0 where nobody knows. */
export type Progress = (done: number, total: number) => void

export type Run = {
  config: Config
  /** As many as `takes` names, in its order. */
  arguments: string[]
  options: OptionValues
  progress: Progress
}

export type Command = {
  /** `user create` */
  name: string
  /** The names of its arguments, all required. */
  takes: string[]
  options?: Record<string, { type: 'string' | 'boolean'; isRequired?: boolean }>
  /** One line of the help. */
  summary: string
  run(run: Run): Promise<Result>
  /** What a check has to say of a configuration with which nothing can be run. */
  judgeConfig?(error: ConfigError): Result
}

/**
 * Runs an act over the configured database, as the service would, and closes everything. Throws ConfigError for another
 * APP_SECRET than the database's: then nothing was done.
 */
export async function withDeps<T>(config: Config, act: (deps: Parts) => Promise<T>): Promise<T> {
  return withDatabaseUrl(config, async (url) => {
    const db = openDatabase(url, { max: 4, onBroken: () => {} })
    try {
      await requireMigrated(db)
      const secrets = await openSecrets(config, db)
      const deps = openParts({ config, db, secrets, clock: () => new Date() })
      try {
        return await act(deps)
      } finally {
        await deps.limits.close()
      }
    } finally {
      await db.destroy()
    }
  })
}

/** An option that must be given. Throws UsageError. */
export function requiredOption(options: OptionValues, name: string): string {
  const value = options[name]
  if (typeof value !== 'string' || value.trim() === '') throw new UsageError(`--${name} is required`)
  return value.trim()
}

/**
 * The administrator who answers for an act, named by `--by`: the ledger and the audit log say who did it. Throws
 * UsageError when nobody is named, not_found when there is no such member, and forbidden for one without the right.
 */
export async function actorOf({ db }: Pick<Parts, 'db'>, options: OptionValues): Promise<bigint> {
  const username = requiredOption(options, 'by')
  const user = await findMember(db, username)
  if (!user.is_admin) throw new AppError('forbidden', `${user.username} is no administrator`)
  return user.id
}

/** Throws not_found when there is no member of this name. */
export async function findMember(db: Parts['db'], username: string) {
  const user = await findUserByUsername(db, username)
  if (user === undefined) throw new AppError('not_found', `There is no member ${username}`)
  return user
}
