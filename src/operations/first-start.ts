/**
 * Creates APP_SECRET and an administrator at the first start, and opens APP_SECRET at every later one. In production the
 * operator must configure the administrator's password.
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

/** APP_SECRET of the configuration, or else of DATA_DIR, if there is one. Throws ConfigError for a short one. */
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

/** APP_SECRET of the configuration, or else of DATA_DIR, where a first start creates it with mode 0600. */
async function provideAppSecret(config: Config): Promise<string> {
  if (config.APP_SECRET !== undefined) return config.APP_SECRET
  const made = await mkdir(config.DATA_DIR, { recursive: true })
  const path = secretPath(config)
  const draft = `${path}.${randomText(8, ALNUM)}`
  try {
    // The draft gets its name by a link, which fails if the name exists. A killed start leaves no half secret, and two
    // starts at once read the same secret. Both syncs come before anything is encrypted, so a power cut loses no secret.
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

/** Syncs a folder, and each folder above it up to `last`. */
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
 * The secrets of APP_SECRET, and of APP_SECRET_OTHER while APP_SECRET is being changed. They must open what the database
 * holds. Only a database without encrypted rows gets a new APP_SECRET. Throws ConfigError.
 */
export async function openSecrets(config: Config, db: Db): Promise<Secrets> {
  const proven = await provenSecrets(config, askOf(db), 'this database')
  return proven ?? makeSecrets(await provideAppSecret(config), config.APP_SECRET_OTHER)
}

/**
 * The secrets that encrypted the rows of `source`. Undefined when it has no encrypted rows. Throws ConfigError for a
 * missing APP_SECRET and for one that opens no row.
 * @param source names the database or archive in errors.
 */
export async function provenSecrets(config: Config, ask: Ask, source: string): Promise<Secrets | undefined> {
  const samples = await samplesOf(ask)
  if (samples.length === 0) return undefined
  const path = secretPath(config)
  const appSecret = await findAppSecret(config)
  if (appSecret === undefined)
    throw new ConfigError([
      `${source} is encrypted, but APP_SECRET is not set and ${path} is not there: set APP_SECRET, or set DATA_DIR to the folder in which the first start kept it`,
    ])
  const secrets = makeSecrets(appSecret, config.APP_SECRET_OTHER)
  proveSecrets(samples, secrets, { secret: config.APP_SECRET === undefined ? path : 'APP_SECRET', source })
  return secrets
}

/** The sign-in of a new administrator. Without a password, a member already has the username. */
export type FirstAdministrator = { username: string; password?: string }

/**
 * Creates an administrator when there is none. The password is ADMIN_PASSWORD, or else a one-time password, which must
 * be changed at the first sign-in. Throws ConfigError in production without ADMIN_PASSWORD. A member who already has
 * the username stays a member, because the operator may not know that member.
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
    // Another process that started at the same time may have created the administrator.
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
