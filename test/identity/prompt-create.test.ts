/** prompt=create (Initiating User Registration 1.0): an application sends a visitor to make an account. */
import { expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { type Browser, browser, setSetting, useTestApp } from '../harness/harness.ts'
import { answerOf, authorizationUrl, exchange, makeParty } from './relying-party.ts'

const test = await useTestApp()
const party = await makeParty(test)
const url = authorizationUrl(party, { prompt: 'create' })

/** Follows a new member past the page that asks for ways back in. */
async function goOn(client: Browser, registered: { location: string | undefined }) {
  const { location } = await client.get(registered.location!)
  return client.get(location!)
}

const NEW = { username: 'Nova.1', password: 'correct horse battery' }

it('goes back as an error where nobody may register', async () => {
  expect(answerOf(await browser(test).get(url)).error).toBe('invalid_request')
  const member = await (await makePerson(test)).signIn()
  expect(answerOf(await member.get(url)).error).toBe('invalid_request')
})

it('leads a visitor to registration, and the new member on to the application', async () => {
  await setSetting(test, 'registration', 'open')
  const client = browser(test)
  const { location } = await client.get(url)
  expect(location).toMatch(/^\/register\?return_to=/)
  const registered = await client.submit(await client.get(location!), '/register', NEW)
  const consent = await goOn(client, registered)
  expect(consent.status).toBe(200)
  const { code } = answerOf(await client.submit(consent, '/oauth2/consent', { decision: 'allow' }))
  expect((await exchange(test, party, code)).status).toBe(200)
})

it('brings a state of 8 KiB back after a refused form and a switch of the language', async () => {
  await setSetting(test, 'registration', 'open')
  const client = browser(test)
  const state = '态'.repeat(2_730)
  const { location } = await client.get(authorizationUrl(party, { prompt: 'create', state }))
  const refused = await client.submit(await client.get(location!), '/register', { ...NEW, username: '-' })
  expect(refused.status).toBe(400)
  const switched = await client.submit(refused, '/language', { language: 'zh-CN' })
  expect(switched.status).toBe(303)
  const page = await client.get(switched.location!)
  expect(page.body).toContain('value="-"')
  const registered = await client.submit(page, '/register', { ...NEW, username: 'Nova.2' })
  const consent = await goOn(client, registered)
  const answer = answerOf(await client.submit(consent, '/oauth2/consent', { decision: 'allow' }))
  expect(answer.state === state).toBe(true)
})

it('asks a member who is signed in too, who may sign in again instead', async () => {
  await setSetting(test, 'registration', 'open')
  const person = await makePerson(test)
  const client = await person.signIn()
  const { location } = await client.get(url)
  const page = await client.get(location!)
  const signIn = /href="(\/sign-in[^"]*)"/.exec(page.body)![1]!.replaceAll('&amp;', '&')
  const { username, password } = person
  const back = await client.submit(await client.get(signIn), '/sign-in', { username, password })
  expect((await client.get(back.location!)).status).toBe(200)
})
