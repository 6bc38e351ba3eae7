/**
 * What a first start makes when nothing is configured: APP_SECRET, the signing key, an administrator. With a
 * PUBLIC_URL that is not loopback nothing is invented; what is missing stops the start.
 */
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createUser } from '../accounts/people/users.ts'
import { hashPassword } from '../accounts/security/password.ts'
import type { Db } from '../database/connection.ts'
import { type Config, ConfigError } from '../platform/config.ts'
import { appSecretFault } from '../platform/environment.ts'
import { AppError } from '../platform/errors.ts'
import { ALNUM, makeSecrets, randomText, type Secrets } from '../platform/secrets.ts'
import { type Ask, askOf, proveSecrets, samplesOf } from './secret-proof.ts'

const SECRET_LENGTH = 64
const PASSWORD_LENGTH = 16

const secretPath = (config: Config) => join(config.DATA_DIR, 'app-secret')

/** APP_SECRET as configured, or the one kept in DATA_DIR, if there is one. Throws ConfigError for one that is too short. */
export async function findAppSecret(config: Config): Promise<string | undefined> {
  if (config.APP_SECRET !== undefined) return config.APP_SECRET
  try {
    return await readAppSecret(secretPath(config))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}

async function readAppSecret(path: string): Promise<string> {
  const text = (await readFile(path, 'utf8')).trim()
  const fault = appSecretFault(text)
  if (fault === undefined) return text
  throw new ConfigError([
    `${path} ${fault}: put back the one that was there, or delete the file if the database has never been used`,
  ])
}

/** APP_SECRET as configured, or the one kept in DATA_DIR (made now, mode 0600, when there is none). */
async function provideAppSecret(config: Config): Promise<string> {
  if (config.APP_SECRET !== undefined) return config.APP_SECRET
  const made = await mkdir(config.DATA_DIR, { recursive: true })
  const path = secretPath(config)
  const draft = `${path}.${randomText(8, ALNUM)}`
  try {
    // Written aside and then given its name, which fails if there is one: a start that is killed leaves no half
    // secret, and of two that come together one wins and both read the same. On the disk before it has its name, and the
    // name before anything is encrypted: a power cut takes neither away from what it opens.
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(randomText(SECRET_LENGTH, ALNUM))
      await file.sync()
    } finally {
      await file.close()
    }
    await link(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
  await syncFolders(resolve(config.DATA_DIR), resolve(made === undefined ? config.DATA_DIR : dirname(made)))
  return readAppSecret(path)
}

/** Flushes the names within a folder, and within those above it up to another. */
async function syncFolders(folder: string, last: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
  if (folder !== last) await syncFolders(dirname(folder), last)
}

/**
 * What the service and its commands use APP_SECRET for, and the other one while it is being changed. Proven against the
 * database, and made only for one that holds nothing encrypted yet. Throws ConfigError.
 */
export async function openSecrets(config: Config, db: Db): Promise<Secrets> {
  const proven = await provenSecrets(config, askOf(db), 'this database')
  return proven ?? makeSecrets(await provideAppSecret(config), config.APP_SECRET_OTHER)
}

/** The secrets under which what `source` names was encrypted; undefined when nothing is in it. Throws ConfigError. */
export async function provenSecrets(config: Config, ask: Ask, source: string): Promise<Secrets | undefined> {
  const samples = await samplesOf(ask)
  if (samples.length === 0) return undefined
  const path = secretPath(config)
  const appSecret = await findAppSecret(config)
  if (appSecret === undefined)
    throw new ConfigError([
      `APP_SECRET is not set, ${path} is not there, and ${source} is encrypted under one: set APP_SECRET, or DATA_DIR to the folder in which its first start has kept it`,
    ])
  const secrets = makeSecrets(appSecret, config.APP_SECRET_OTHER)
  proveSecrets(samples, secrets, { secret: config.APP_SECRET === undefined ? path : 'APP_SECRET', source })
  return secrets
}

/** A new administrator's sign-in, to be printed once; without a password, the member who has the name instead. */
export type FirstAdministrator = { username: string; password?: string }

/**
 * Creates an administrator when there is none. With ADMIN_PASSWORD that is the password; otherwise a one-time
 * password is made, which must be changed at the first sign-in. Throws ConfigError in production without one. Whoever has
 * the name already is not made one: it may be anybody.
 */
export async function ensureAdministrator(db: Db, config: Config): Promise<FirstAdministrator | undefined> {
  if (await hasAdministrator(db)) return undefined
  if (config.production && config.ADMIN_PASSWORD === undefined) {
    throw new ConfigError(['ADMIN_PASSWORD is required for the first start: there is no administrator yet'])
  }
  const username = config.ADMIN_USERNAME
  const password = config.ADMIN_PASSWORD ?? randomText(PASSWORD_LENGTH, ALNUM)
  const must_change_password = config.ADMIN_PASSWORD === undefined
  try {
    const password_hash = await hashPassword(password)
    await createUser(db, { username, password_hash, must_change_password, is_admin: true, trust_level: 4 })
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error
    // Unless another process that started at the same time was faster.
    return (await hasAdministrator(db)) ? undefined : { username }
  }
  return must_change_password ? { username, password } : undefined
}

async function hasAdministrator(db: Db): Promise<boolean> {
  const found = await db
    .selectFrom('users')
    .where('is_admin', '=', true)
    .select('id')
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
