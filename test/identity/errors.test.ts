/** Faults of the service, and requests that are too large to read. spec/sign-in 6.1. */
import { expect, it } from 'vitest'
import { browser, useTestApp } from '../harness/harness.ts'
import { authorizationUrl, getJson, makeParty, redeem, withoutWriting } from './relying-party.ts'

const test = await useTestApp()
const party = await makeParty(test)

it('too many parameters are an invalid_request', async () => {
  const many = Array.from({ length: 101 }, (_, n) => `p${n}=x`).join('&')
  const answer = await withoutWriting(test, () => getJson(test, `${authorizationUrl(party)}&${many}`))
  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
})

it('a fault of ours is answered without detail, in the shape of the place', async () => {
  await test.deps.signingKeys.current()
  await test.db.schema.alterTable('oauth_apps').renameTo('gone').execute()
  const answers = [
    await redeem(test, party, { grant_type: 'authorization_code', code: 'x' }),
    await getJson(test, authorizationUrl(party), { accept: 'application/json' }),
  ]
  for (const { status, body } of answers) {
    expect(status).toBe(500)
    expect(body).toEqual({ error: 'server_error', error_description: 'Something went wrong on our side' })
  }
  const page = await browser(test).get(authorizationUrl(party))
  expect(page.status).toBe(500)
  expect(page.headers['content-type']).toMatch(/^text\/html/)
  expect(page.body).not.toContain('oauth_apps')
})
