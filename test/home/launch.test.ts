/** /launch: which member sees which application and shop. spec/registry 3.3. */
import { expect, it } from 'vitest'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { linkApps } from '../../src/shops/links.ts'
import { makePerson } from '../harness/cast.ts'
import { browser, useTestApp } from '../harness/harness.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, setRows } from '../harness/rows.ts'
import { makeTipper, switchTips, tip } from '../harness/tips.ts'
import { makeOwnedApp } from '../identity/owned-app.ts'
import { changeApp, makeParty, obtainTokens, type Party } from '../identity/relying-party.ts'

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

/** A shop that the staff has approved. */
async function makeShop(name: string, values: { homepage?: string; description?: string } = {}) {
  const merchant = await makeMerchant(test)
  await setRows(test, 'payment_apps', { id: merchant.id }, { name, ...values })
  return merchant
}

it('shows what is used, the last used first, then shops and apps by name', async () => {
  const [zoo, atlas] = [await makeListed('Zoo'), await makeListed('Atlas')]
  await makeListed('Museum')
  await makeListed('Garden')
  await makeShop('Tea House', { homepage: 'https://tea.example/' })
  const client = await (await makePerson(test)).signIn()
  await obtainTokens(test, client, zoo)
  test.clock.advance(60_000)
  await obtainTokens(test, client, atlas)
  const { status, body } = await client.get('/launch')
  expect(status).toBe(200)
  const places = [t.used, 'Atlas', 'Zoo', t.shops, 'Tea House', t.apps, 'Garden', 'Museum'].map((text) =>
    body.indexOf(`>${text}<`),
  )
  expect(places.every((place) => place > 0)).toBe(true)
  expect(places).toEqual([...places].sort((a, b) => a - b))
  expect(body).toContain('href="https://museum.example/" target="_blank" rel="noopener noreferrer nofollow"')
  const { builders } = messages.en.front
  expect(body.indexOf(`>${builders}<`)).toBeGreaterThan(places.at(-1)!)
  expect((await client.get('/launch?q=zoo')).body).not.toContain(builders)
  expect((await browser(test).get('/launch')).location).toBe('/sign-in?return_to=%2Flaunch')
})

it('shows what is used without a homepage too, and says why it cannot be opened', async () => {
  const app = await makeListed('Hermit', { homepage: null })
  const shop = await makeShop('Cave')
  const alice = await makePerson(test, { points: 50n })
  const client = await alice.signIn()
  expect((await client.get('/launch')).body).not.toMatch(/>Hermit<|>Cave</)
  await obtainTokens(test, client, app)
  const { body: order } = await shop.process({ amount: '5', description: 'A lamp', order_id: 'cave-1' })
  const transaction_id = String(order.transaction_id)
  await makePayOrder(test.deps)({ transaction_id, payer_id: alice.id, expected_amount: 5n })
  const { body } = await client.get('/launch')
  const [, mine = ''] = body.split(`>${t.used}<`)
  for (const name of ['Hermit', 'Cave']) expect(mine).toContain(`>${name}<`)
  expect(mine.split(t.noHomepage).length).toBe(3)
})

it('shows a linked application and shop once, with the homepage of either', async () => {
  const shop = await makeShop('Fair')
  const app = await makeParty(test, { name: 'Fair' }, shop.owner)
  await changeApp(test, app, { homepage: 'https://fair.example/' })
  const actor = { user_id: shop.owner.id, ip: '127.0.0.1' }
  const { client_id } = app
  await linkApps(test.deps, { client_id, payment_id: shop.payment_id, named_by: 'sign_in', actor })
  const client = await (await makePerson(test)).signIn()
  const cards = async () => (await client.get('/launch')).body.split('>Fair<').slice(1)
  expect((await cards()).length).toBe(1)
  const reviewed = { is_listed: true, reviewed_at: test.clock.now(), reviewed_by: staff }
  await changeApp(test, app, reviewed)
  expect((await cards()).length).toBe(1)
  await obtainTokens(test, client, app)
  expect((await cards()).length).toBe(1)
  expect((await client.get('/launch')).body).toContain('href="https://fair.example/"')
})

it('begins with what the member owns, and asks only owners whether one is missing', async () => {
  const shop = await makeShop('Kiosk', { homepage: 'https://kiosk.example/' })
  const twin = await makeListed('Kiosk')
  const [owner, other] = [await shop.owner.signIn(), await (await makePerson(test)).signIn()]
  await obtainTokens(test, owner, twin)
  const { body } = await owner.get('/launch?q=kiosk')
  const [mine = ''] = body.split(`>${t.used}<`)[1]!.split('</section>')
  expect(mine).toMatch(
    new RegExp(`href="/payment/applications/${shop.payment_id}"[^]*${t.own}[^]*@${twin.owner}`),
  )
  expect(body.split('>Kiosk<').length).toBe(3)
  expect(body).toContain(t.missing)
  const seen = (await other.get('/launch?q=kiosk')).body
  expect(seen).toContain('href="https://kiosk.example/"')
  for (const text of [t.missing, t.own]) expect(seen).not.toContain(text)
  const home = (await owner.get('/')).body
  expect(home).toMatch(
    new RegExp(`href="/payment/applications/${shop.payment_id}"[^]*>${messages.en.front.own}<`),
  )
  expect(home).toContain(`>@${twin.owner}<`)
  expect(home).toContain(messages.en.front.ownShops)
  expect(home).not.toContain(messages.en.front.bySelling)
})

it('leaves none of four cards alone in its row', async () => {
  for (const name of ['Quartet A', 'Quartet B', 'Quartet C']) await makeListed(name)
  const [fourth] = [await makeListed('Quartet D'), await makeListed('Quartet D E')]
  const client = await (await makePerson(test)).signIn()
  const columns = async (q: string) =>
    /class="tiles (\w+)"/.exec((await client.get(`/launch?q=${encodeURIComponent(q)}`)).body)![1]
  expect(await columns('quartet')).toBe('three')
  await changeApp(test, fourth, { is_listed: false })
  expect(await columns('quartet')).toBe('tops')
  expect(await columns('quartet d')).toBe('three')
})

it('is searched by name, description and owner', async () => {
  const shop = await makeShop('Lantern', {
    homepage: 'https://lantern.example/',
    description: 'Paper lights',
  })
  await makeListed('Lighthouse')
  const client = await (await makePerson(test)).signIn()
  const found = async (q: string) => (await client.get(`/launch?q=${encodeURIComponent(q)}`)).body
  for (const q of ['lanTERN', 'paper', `@${shop.owner.username}`]) {
    expect(await found(q)).toContain('>Lantern<')
    expect(await found(q)).not.toContain('>Lighthouse<')
  }
  expect(await found('nowhere at all')).toContain(t.nothingFound)
})

it('shows eighteen cards of a kind, and finds the others', async () => {
  for (let i = 0; i < 19; i++)
    await makeListed(`Stall ${String(i).padStart(2, '0')}`, { description: '市'.repeat(500) })
  const client = await (await makePerson(test)).signIn()
  const page = async (q = 'stall') => (await client.get(`/launch?q=${q}`)).body
  const shown = await page()
  expect(shown).toContain(t.more)
  expect(shown).not.toContain('>Stall 18<')
  expect(await page('stall%2018')).toContain('>Stall 18<')
  expect(await page('st_ll%25')).toContain(t.nothingFound)
})

it('an application without a homepage tells its owner why members miss it', async () => {
  const { client, party: app, path } = await makeOwnedApp(test)
  const { shopLink } = messages.en
  expect((await client.get(path)).body).toContain(shopLink.noHomepage.sign_in)
  await changeApp(test, app, { homepage: 'https://own.example/' })
  expect((await client.get(path)).body).not.toContain(shopLink.noHomepage.sign_in)
  const shop = await makeShop('Hidden')
  const settings = `/payment/applications/${shop.payment_id}/settings`
  const owner = await shop.owner.signIn()
  expect((await owner.get(settings)).body).toContain(shopLink.noHomepage.payment)
  await setRows(test, 'payment_apps', { id: shop.id }, { homepage: 'https://hidden.example/' })
  expect((await owner.get(settings)).body).not.toContain(shopLink.noHomepage.payment)
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
  const { client, party: app, path, settings } = await makeOwnedApp(test)
  await changeApp(test, app, { reviewed_at: test.clock.now(), reviewed_by: staff })
  const fields = {
    name: 'Own',
    redirect_uris: 'https://app.example/callback',
    homepage: 'https://own.example/',
  }
  await client.submit(await client.get(settings), settings, { ...fields, is_listed: 'true' })
  const page = await client.get(settings)
  expect(page.body).toMatch(/name="is_listed" value="true"[^>]* checked/)
  expect((await client.get(`${path}/history`)).body).toContain(messages.en.registry.fields.is_listed)
  expect(await rowOf(test, 'oauth_apps', { id: app.id })).toMatchObject({
    is_listed: true,
    reviewed_at: null,
  })
})

it('leaves out the application of tips, for its owner and givers too', async () => {
  const app = await switchTips(test)
  await setRows(test, 'payment_apps', { id: app.id }, { name: 'Jar', homepage: 'https://jar.example/' })
  const [giver, author] = [await makeTipper(test), await makeTipper(test)]
  expect(await tip(test.deps, giver, author)).toMatchObject({ transaction_id: expect.any(String) })
  for (const member of [app.owner, giver, author])
    for (const path of ['/', '/launch'])
      expect((await (await member.signIn()).get(path)).body).not.toContain('>Jar<')
})
