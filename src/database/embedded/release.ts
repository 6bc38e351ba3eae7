/** The version and the age of the built-in Postgres. Its packages come months after the security releases of Postgres. */
import { installedPackage } from './user.ts'

/** The release of the installed version, by postgresql.org. The package does not say it, so a new version needs its day here. */
const RELEASED = { version: '18.4', day: '2026-05-14' }
/** Postgres publishes security releases every quarter. */
const FRESH_DAYS_MAX = 100
const DAY_MS = 86_400_000

export type BuiltInRelease = {
  version: string
  /** Undefined for a version that this program does not know. */
  age_days: number | undefined
  /** Whether later security releases are sure to be missing. */
  isOld: boolean
}

/** Throws Error when there is no package for this system. */
export async function builtInRelease(now: Date): Promise<BuiltInRelease> {
  const version = (await installedPackage()).version.split('.').slice(0, 2).join('.')
  const age_days =
    version === RELEASED.version ? Math.floor((now.getTime() - Date.parse(RELEASED.day)) / DAY_MS) : undefined
  return { version, age_days, isOld: age_days !== undefined && age_days > FRESH_DAYS_MAX }
}

/** What an operator needs to know of it, in one sentence. */
export function sentenceOfRelease({ version, age_days, isOld }: BuiltInRelease): string {
  const age = age_days === undefined ? '' : `, released ${age_days} days ago`
  const remedy = isOld
    ? '. It lacks the security fixes since: docs/operations says how to move to the Postgres of your system, which gets them'
    : ''
  return `The built-in Postgres is ${version}${age}${remedy}`
}
