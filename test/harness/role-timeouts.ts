/** Timeouts of the database that a slow machine does not reach. */
import { WAIT_MS_MAX } from './waiting.ts'

const NAMES = ['idle_in_transaction_session_timeout', 'lock_timeout', 'statement_timeout']

/** Statements that give the role long timeouts in this database. A service that starts on it keeps them. */
export function longTimeouts(database: string): string[] {
  return NAMES.map((name) => `alter role current_user in database ${database} set ${name} = ${WAIT_MS_MAX}`)
}
