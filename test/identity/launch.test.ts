/** /launch: which member sees which application. spec/registry 3.3. */
import { expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { browser, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, setRows } from '../harness/rows.ts'
import { makeOwnedApp } from './owned-app.ts'
import { changeApp, makeParty, obtainTokens, type Party } from './relying-party.ts'

const { launch: t } = messages.en

const test = await useTestApp()
const staff = (await makePerson(test, { is_admin: true })).id

type Values = Record<string, unknown>

/** A reviewed application that its owner lists. */
async function makeListed(name: string, values: Values = {}): Promise<Party> {
  const app = await makeParty(test, { name })
  const homepage = `https://${name.toLowerCase().replaceAll(' ', '-')}.example/`
  const listed = { homepage, is_listed: true, reviewed_at: test.clock.now(), reviewed_by: staff }
  await changeApp(test, app, { ...listed, ...values })
  return app
}

it('shows what is used, the last used first, then what is listed, by name', async () => {
  const [zoo, atlas] = [await makeListed('Zoo'), await makeListed('Atlas')]
  await makeListed('Museum')
  await makeListed('Garden')
  const client = await (await makePerson(test)).signIn()
  await obtainTokens(test, client, zoo)
  test.clock.advance(60_000)
  await obtainTokens(test, client, atlas)
  const { status, body } = await client.get('/launch')
  expect(status).toBe(200)
  const places = [t.used, 'Atlas', 'Zoo', t.listed, 'Garden', 'Museum'].map((text) =>
    body.indexOf(`>${text}<`),
  )
  expect(places.every((place) => place > 0)).toBe(true)
  expect(places).toEqual([...places].sort((a, b) => a - b))
  expect(body).toContain('href="https://museum.example/" rel="noopener noreferrer"')
  expect(body).toContain(`@${atlas.owner}`)
  expect((await browser(test).get('/launch')).location).toBe('/sign-in?return_to=%2Flaunch')
})

it('leaves out what is unreviewed, unlisted, suspended, unconfirmed, of an excluded owner, or has no homepage', async () => {
  const suspended = { suspended_at: test.clock.now(), suspended_by: staff, suspended_reason: 'x' }
  const hidden: [string, Values][] = [
    ['Unreviewed', { reviewed_at: null, reviewed_by: null }],
    ['Unlisted', { is_listed: false }],
    ['Suspended', suspended],
    ['Unconfirmed', { confirmed_at: null }],
    ['Homeless', { homepage: null }],
  ]
  for (const [name, values] of hidden) await makeListed(name, values)
  for (const [name, values] of [
    ['Banned', { is_banned: true }],
    ['Barred', { suspended_till: new Date(test.clock.now().getTime() + 86_400_000) }],
  ] as const) {
    const { id } = await makeListed(name)
    const { owner_id } = await rowOf(test, 'oauth_apps', { id })
    await setRows(test, 'users', { id: owner_id! }, values)
  }
  await makeListed('Shown')
  const client = await (await makePerson(test)).signIn()
  const { body } = await client.get('/launch')
  expect(body).toContain('>Shown<')
  for (const name of [...hidden.map(([name]) => name), 'Banned', 'Barred'])
    expect(body).not.toContain(`>${name}<`)
})

it('judges the group rules of now, also for what the member uses', async () => {
  const club = await makeListed('Club')
  await makeListed('Founders Only', { allow_groups: ['founders'] })
  const [member, founder] = [await makePerson(test), await makePerson(test, { groups: ['founders'] })]
  const [client, other] = [await member.signIn(), await founder.signIn()]
  await obtainTokens(test, client, club)
  expect((await client.get('/launch')).body).toContain('>Club<')
  expect((await client.get('/launch')).body).not.toContain('Founders Only')
  expect((await other.get('/launch')).body).toContain('Founders Only')
  await changeApp(test, club, { deny_groups: ['trust_level_0'] })
  expect((await client.get('/launch')).body).not.toContain('>Club<')
})

it('is a box on the page of the application, which takes the staff’s mark away', async () => {
  const { client, party: app, path } = await makeOwnedApp(test)
  await changeApp(test, app, { reviewed_at: test.clock.now(), reviewed_by: staff })
  const fields = {
    name: 'Own',
    redirect_uris: 'https://app.example/callback',
    homepage: 'https://own.example/',
  }
  await client.submit(await client.get(path), path, { ...fields, is_listed: 'true' })
  const page = await client.get(path)
  expect(page.body).toMatch(/name="is_listed" value="true"[^>]* checked/)
  expect(page.body).toContain(messages.en.registry.fields.is_listed)
  expect(await rowOf(test, 'oauth_apps', { id: app.id })).toMatchObject({
    is_listed: true,
    reviewed_at: null,
  })
})
