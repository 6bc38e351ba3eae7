/** prompt=none never shows a page, and a deleted application is unknown, even in the middle of a flow. */
import { expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { times } from '../harness/thoroughness.ts'
import { answerOf, authorizationUrl, authorize, makeParty } from './relying-party.ts'

const test = await useTestApp()

it.each(['none', 'none ', ' none', '  none  '])(
  'a group refusal with prompt %j returns to the application at once',
  async (prompt) => {
    const party = await makeParty(test, { allow_groups: ['admins'] })
    const client = await (await makePerson(test)).signIn()
    expect(answerOf(await client.get(authorizationUrl(party, { prompt })))).toMatchObject({
      error: 'access_denied',
    })
  },
)

it('an application deleted on the way is unknown, not a fault', async () => {
  const client = await (await makePerson(test)).signIn()
  const seen = new Set<number>()
  for (let round = 0; round < times(25, 5); round += 1) {
    const party = await makeParty(test)
    await authorize(client, party)
    const [pages] = await Promise.all([
      Promise.all(Array.from({ length: 6 }, () => client.get(authorizationUrl(party)))),
      test.db.deleteFrom('oauth_apps').where('id', '=', party.id).execute(),
    ])
    for (const page of pages) seen.add(page.status)
  }
  expect([...seen].filter((status) => ![200, 303, 401].includes(status))).toEqual([])
})

it('a posted request too long to repeat is refused, not cut', async () => {
  for (const url of ['/oauth2/auth', '/oauth2/logout']) {
    const fields = ['a', 'b', 'c', 'd'].map((name): [string, string] => [name, name.repeat(8_000)])
    const payload = new URLSearchParams(fields).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
    const answer = await test.app.inject({ method: 'POST', url, headers, payload })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ error: 'invalid_request' })
  }
})
