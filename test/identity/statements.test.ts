/** The number of SQL statements of frequent requests. Each statement is a round trip. */
import { createHash } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { storeMetadataClient } from '../../src/identity/metadata/clients.ts'
import { makePerson } from '../harness/cast.ts'
import { setSetting, startTestApp, type TestApp } from '../harness/harness.ts'
import { inOneProcess, STATEMENTS } from '../harness/one-process.ts'
import {
  answerOf,
  authorizationUrl,
  authorize,
  exchange,
  makeParty,
  makeVerifier,
  type Party,
  postForm,
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

itCounts('a client that is known by its document takes as many', async () => {
  await setSetting(test, 'client_id_metadata_documents', 'any')
  const person = await makePerson(test)
  const client = await person.signIn()
  const [client_id, redirect_uri] = ['https://agent.example/client.json', 'https://agent.example/callback']
  const now = test.clock.now()
  const document = { client_name: 'Agent', redirect_uris: [redirect_uri], homepage: null }
  const fresh_until = new Date(now.getTime() + 3_600_000)
  const meeting = {
    client_id,
    document,
    fetched_at: now,
    fresh_until,
    user_id: person.id,
    ip: '127.0.0.1',
    now,
  }
  await test.db.transaction().execute((tx) => storeMetadataClient(tx, meeting))
  const agent = { client_id, redirect_uri } as Party
  const code_verifier = makeVerifier()
  const challenge = {
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }
  await authorize(client, agent, challenge)
  const [page, count] = await statementsOf(() => client.get(authorizationUrl(agent, challenge)))
  const { code } = answerOf(page, redirect_uri)
  const [exchanged, exchangeCount] = await statementsOf(() =>
    postForm(test, '/oauth2/token', {
      grant_type: 'authorization_code',
      client_id,
      code,
      redirect_uri,
      code_verifier,
    }),
  )
  const { refresh_token } = exchanged.body as Record<string, string>
  const [refreshed, refreshCount] = await statementsOf(() =>
    postForm(test, '/oauth2/token', { grant_type: 'refresh_token', client_id, refresh_token }),
  )
  const [answer, userinfoCount] = await statementsOf(() => userinfo(test, refreshed.body.access_token))
  expect(answer.status).toBe(200)
  expect([count, exchangeCount, refreshCount, userinfoCount]).toEqual([4, 2, 2, 1])
})

itCounts('an unknown client and a wrong secret cost three statements each', async () => {
  const wrong = { ...party, client_secret: makeVerifier() }
  const [, known] = await statementsOf(() => exchange(test, wrong, 'x'))
  const [, unknown] = await statementsOf(() => exchange(test, { ...wrong, client_id: 'nobody' }, 'x'))
  expect([known, unknown]).toEqual([3, 3])
})
