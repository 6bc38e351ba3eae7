/** The types of a command, and the helpers that all commands share. */
import { findUserByUsername } from '../accounts/people/users.ts'
import { openDatabase } from '../database/connection.ts'
import { requireMigrated } from '../database/migrate.ts'
import { withDatabaseUrl } from '../database/url.ts'
import { openSecrets } from '../operations/first-start.ts'
import { openParts, type Parts } from '../parts.ts'
import type { Config, ConfigError } from '../platform/config.ts'
import { AppError } from '../platform/errors.ts'

/** The operator typed or configured something wrong. The command did nothing. */
export class UsageError extends Error {}

/** The output of a command: lines for people, and the same as data for `--json`. */
export type Result = {
  lines: string[]
  data: unknown
  /** The command ran, and its check found a fault. The exit code is 3. */
  isFaulty?: boolean
}

export type OptionValues = Record<string, string | boolean | undefined>

/** Reports the progress of a long piece of work. `total` is 0 when it is unknown. */
export type Progress = (done: number, total: number) => void

export type Run = {
  config: Config
  /** One value for each name in `takes`, in that order. */
  arguments: string[]
  options: OptionValues
  progress: Progress
}

export type Command = {
  /** `user create` */
  name: string
  /** The names of the arguments, all required. */
  takes: string[]
  options?: Record<string, { type: 'string' | 'boolean'; isRequired?: boolean }>
  /** One line of the help. */
  summary: string
  run(run: Run): Promise<Result>
  /** Reports an invalid configuration. Without it, the command fails with the error. */
  judgeConfig?(error: ConfigError): Result
}

/**
 * Runs an act over the configured database with the parts of the service, and closes them afterwards. Throws
 * ConfigError, before the act runs, when APP_SECRET is not the one that encrypted the database.
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
        await deps.limits.share()
      }
    } finally {
      await db.destroy()
    }
  })
}

/** Reads a required option and trims it. Throws UsageError when it is missing or blank. */
export function requiredOption(options: OptionValues, name: string): string {
  const value = options[name]
  if (typeof value !== 'string' || value.trim() === '') throw new UsageError(`--${name} is required`)
  return value.trim()
}

/** Reads a number of whole points from 1. Throws UsageError. */
export function readAmount(text: string): bigint {
  if (!/^[1-9]\d{0,15}$/.test(text)) throw new UsageError('The amount is a whole number of points from 1')
  return BigInt(text)
}

/** Reads how many rows `--limit` asks for, from 1 to `max`. Throws UsageError. */
export function readLimit({ limit }: OptionValues, standard: number, max: number): number {
  if (limit === undefined) return standard
  if (!/^\d{1,6}$/.test(String(limit)) || Number(limit) < 1 || Number(limit) > max)
    throw new UsageError(`--limit is 1 to ${max}`)
  return Number(limit)
}

/**
 * Finds the administrator that `--by` names. The ledger and the audit log record this member as the actor. Throws
 * UsageError without `--by`, not_found for an unknown member, and forbidden for a member who is no administrator.
 */
export async function actorOf({ db }: Pick<Parts, 'db'>, options: OptionValues): Promise<bigint> {
  const username = requiredOption(options, 'by')
  const member = await findMember(db, username)
  if (!member.is_admin) throw new AppError('forbidden', `${member.username} is no administrator`)
  return member.id
}

/** Finds a member by username. Throws not_found. */
export async function findMember(db: Parts['db'], username: string) {
  const member = await findUserByUsername(db, username)
  if (member === undefined) throw new AppError('not_found', `There is no member ${username}`)
  return member
}
