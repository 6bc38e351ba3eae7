/** Faults of the service, and requests that are too large to read. spec/sign-in 6.1. */
import { describe, expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { browser, useTestApp } from '../harness/harness.ts'
import { unescaped } from '../harness/markup.ts'
import { messages } from '../harness/messages.ts'
import { makeOwnedApp } from './owned-app.ts'
import { authorizationUrl, getJson, makeParty, redeem, withoutWriting } from './relying-party.ts'

const test = await useTestApp()
const party = await makeParty(test)

it('too many parameters are an invalid_request', async () => {
  const many = Array.from({ length: 101 }, (_, n) => `p${n}=x`).join('&')
  const answer = await withoutWriting(test, () => getJson(test, `${authorizationUrl(party)}&${many}`))
  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
})

describe('a redirect URI that is not registered', () => {
  const { errors } = messages.en.identity
  const redirect_uri = 'https://elsewhere.example/<b>'

  it('leads its owner to the settings, with the address that was sent', async () => {
    const { client, party, settings } = await makeOwnedApp(test)
    const page = await client.get(authorizationUrl({ ...party, redirect_uri }))
    expect(page.status).toBe(400)
    const text = unescaped(page.body)
    expect(text).toContain(errors.own)
    expect(page.body).toContain(`href="${settings}"`)
    expect(page.body).toContain('https://elsewhere.example/&lt;b&gt;')
    expect(page.body).not.toContain('href="https://elsewhere')
  })

  it('tells others whom to ask, and a script nothing more than before', async () => {
    const { party, owner } = await makeOwnedApp(test)
    const member = await (await makePerson(test)).signIn()
    const page = await member.get(authorizationUrl({ ...party, redirect_uri }))
    expect(unescaped(page.body)).toContain(errors.forNamed(owner.username))
    expect(page.body).not.toContain(`/apps/${party.client_id}`)
    const { status, body } = await getJson(test, authorizationUrl({ ...party, redirect_uri }), {
      accept: 'application/json',
    })
    expect(status).toBe(400)
    expect(Object.keys(body).sort()).toEqual(['error', 'error_description'])
    const unknown = await member.get(authorizationUrl({ ...party, client_id: 'nobody' }))
    expect(unescaped(unknown.body)).toContain(errors.forSite)
  })
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
