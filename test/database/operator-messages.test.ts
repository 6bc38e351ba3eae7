/** What an operator reads about a database that refuses a connection. */
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { connectionFault } from '../../src/database/operator-messages.ts'

function refusal(code: string, message: string): Error {
  return Object.assign(new pg.DatabaseError(message, message.length, 'error'), { code })
}

describe('pgbouncer', () => {
  // Its messages in versions 1.18 and newer, for scram-sha-256 and for md5.
  it.each([
    ['SASL authentication failed', /correct name and password, .*auth_file of pgbouncer\)$/],
    ['password authentication failed', /correct name and password, .*auth_file of pgbouncer\)$/],
    ['no such user: tessera', /correct name and password, .*auth_file of pgbouncer\)$/],
    ['password authentication failed for user "tessera"', /Postgres refuses pgbouncer: .*\[databases\]/],
    [
      'server login has been failing, cached error: password authentication failed for user "tessera" (server_login_retry)',
      /Postgres refuses pgbouncer: .*\[databases\]/,
    ],
    [
      'server login has been failing, cached error: connect failed (server_login_retry)',
      /its log says why\)$/,
    ],
    ['server login has been failing, try again later (server_login_retry)', /its log says why\)$/],
    ['no such user', /correct name and password, .*auth_file of pgbouncer\)$/],
    ['no such database: tessera', /add it to \[databases\] of pgbouncer\)$/],
  ])('that says “%s” gets the right cure', (message, cure) => {
    const sentence = connectionFault(refusal('08P01', message))
    expect(sentence).toContain(`DATABASE_URL leads to no database that can be used: ${message} (`)
    expect(sentence).toMatch(cure)
  })
})
