/** The number of SQL statements of frequent requests. Each statement is a round trip. */
import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { startTestApp, type TestApp } from '../harness/harness.ts'
import { inOneProcess, STATEMENTS } from '../harness/one-process.ts'
import {
  authorizationUrl,
  authorize,
  exchange,
  makeParty,
  makeVerifier,
  type Party,
  refresh,
  userinfo,
} from './relying-party.ts'

const itCounts = it.skipIf(inOneProcess(STATEMENTS))

let test: TestApp
let party: Party

beforeAll(async () => {
  test = await startTestApp()
  party = await makeParty(test)
  // Every process reads its signing keys once a minute, and notes the use of a secret every ten minutes.
  await exchange(test, party, 'x')
})
afterAll(() => test.close())

/** Work of a process that happens at most once a second, for any number of requests. */
const BACKGROUND = /site_settings/

async function statementsOf<T extends { status: number }>(act: () => Promise<T>): Promise<[T, number]> {
  const query = vi.spyOn(pg.Client.prototype, 'query')
  try {
    const result = await act()
    const texts = query.mock.calls.map(([call]) => String(call))
    return [result, texts.filter((text) => !BACKGROUND.test(text)).length]
  } finally {
    query.mockRestore()
  }
}

itCounts('a remembered authorization takes four: session, application, consent, code', async () => {
  const client = await (await makePerson(test)).signIn()
  await authorize(client, party)
  const [page, count] = await statementsOf(() => client.get(authorizationUrl(party)))
  expect(page.status).toBe(303)
  expect(count).toBe(4)
})

itCounts('a code exchange takes two, a refresh takes two, userinfo takes one', async () => {
  const client = await (await makePerson(test, { groups: ['crew'] })).signIn()
  const { code } = await authorize(client, party)
  const [exchanged, exchangeCount] = await statementsOf(() => exchange(test, party, code))
  expect([exchanged.status, exchangeCount]).toEqual([200, 2])

  const [refreshed, refreshCount] = await statementsOf(() =>
    refresh(test, party, exchanged.body.refresh_token, { scope: 'openid' }),
  )
  expect([refreshed.status, refreshCount]).toEqual([200, 2])

  const [answer, userinfoCount] = await statementsOf(() => userinfo(test, refreshed.body.access_token))
  expect([answer.status, userinfoCount]).toEqual([200, 1])
})

itCounts('an unknown client and a wrong secret cost three statements each', async () => {
  const wrong = { ...party, client_secret: makeVerifier() }
  const [, known] = await statementsOf(() => exchange(test, wrong, 'x'))
  const [, unknown] = await statementsOf(() => exchange(test, { ...wrong, client_id: 'nobody' }, 'x'))
  expect([known, unknown]).toEqual([3, 3])
})
