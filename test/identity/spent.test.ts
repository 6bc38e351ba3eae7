/** Expired codes and tokens are deleted. Valid ones stay, and so do spent ones that reveal a replay. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { deleteExpiredRows } from '../../src/operations/retention.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { makeParty, obtainTokens, refresh } from './relying-party.ts'

const test = await useTestApp()

const DAY_MS = 86_400_000
const counts = async () => {
  const { rows } = await sql<Record<string, bigint>>`
    select (select count(*) from authorization_codes) as codes, (select count(*) from access_tokens) as access,
      (select count(*) from refresh_tokens) as refresh, (select count(*) from grants) as families`.execute(
    test.db,
  )
  return Object.fromEntries(Object.entries(rows[0]!).map(([name, n]) => [name, Number(n)]))
}

it('codes and access tokens go after a day, families whole', async () => {
  const party = await makeParty(test)
  const client = await (await makePerson(test)).signIn()
  const { refresh_token: first } = await obtainTokens(test, client, party)
  await refresh(test, party, first)
  expect(await counts()).toEqual({ codes: 1, access: 2, refresh: 2, families: 1 })
  await deleteExpiredRows(test.deps)
  expect(await counts()).toEqual({ codes: 1, access: 2, refresh: 2, families: 1 })

  test.clock.advance(DAY_MS + 3_600_001)
  await deleteExpiredRows(test.deps)
  expect(await counts()).toEqual({ codes: 0, access: 0, refresh: 2, families: 1 })
  // The family lives, and recognises a replay.
  expect((await refresh(test, party, first)).body.error).toBe('invalid_grant')
  const { rows } = await sql<{ revoked_at: Date | null }>`select revoked_at from grants`.execute(test.db)
  expect(rows[0]!.revoked_at).not.toBeNull()

  test.clock.advance(30 * DAY_MS)
  await deleteExpiredRows(test.deps)
  expect(await counts()).toEqual({ codes: 0, access: 0, refresh: 0, families: 0 })
})
