/** Finds the database of a configuration: DATABASE_URL, or the built-in Postgres under DATA_DIR. */
import { type Config, ConfigError } from '../platform/config.ts'

/**
 * A reachable database. `stop` ends it if this process started it. A borrowed database ends with the process that owns it,
 * so a command may use it and a service may not.
 */
export type DatabaseHandle = { url: string; isBorrowed: boolean; stop: () => Promise<void> }

/**
 * Returns the database of DATABASE_URL, or starts or finds the built-in Postgres. Throws ConfigError when that does not
 * start.
 */
export async function provideDatabase(
  config: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>,
): Promise<DatabaseHandle> {
  if (config.DATABASE_URL !== undefined)
    return { url: config.DATABASE_URL, isBorrowed: false, stop: async () => {} }
  // Imported only here, because production installs leave the binaries out.
  const { startEmbedded } = await import('./embedded/embedded.ts')
  const { url, owned, stop } = await startEmbedded({ dataDir: config.DATA_DIR }).catch((error: Error) => {
    throw new ConfigError([
      `DATABASE_URL is not set, and the built-in Postgres does not start: ${error.message}`,
    ])
  })
  return { url, isBorrowed: !owned, stop }
}

/** Runs a command over the configured database and stops what it started. */
export async function withDatabaseUrl<T>(config: Config, command: (url: string) => Promise<T>): Promise<T> {
  const database = await provideDatabase(config)
  try {
    return await command(database.url)
  } finally {
    await database.stop()
  }
}
