/** Logos that owners upload for applications of both kinds. spec/limits 1.3. */
import { describe, expect, it } from 'vitest'
import { deleteExpiredRows } from '../../src/operations/retention.ts'
import { makePerson } from '../harness/cast.ts'
import { type Browser, useTestApp } from '../harness/harness.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'
import { picture, upload } from '../harness/uploads.ts'
import { makeOwnedApp, TYPED, trailOf } from '../identity/owned-app.ts'

const test = await useTestApp()
const { appLogo: t, forms } = messages.en
const DAY_MS = 86_400_000

/** One application of a kind, its owner's browser, and how its row and pages are found. */
const KINDS = {
  'sign-in application': async () => {
    const { client, party, path, settings } = await makeOwnedApp(test)
    const stored = () => rowOf(test, 'oauth_apps', { id: party.id })
    return { client, page: settings, url: `${path}/logo`, edit: settings, stored, fields: TYPED }
  },
  'payment application': async () => {
    const merchant = await makeMerchant(test)
    const path = `/payment/applications/${merchant.payment_id}`
    const stored = () => rowOf(test, 'payment_apps', { id: merchant.id })
    const client = await merchant.owner.signIn()
    return { client, page: `${path}/settings`, url: `${path}/logo`, edit: `${path}/edit`, stored, fields: {} }
  },
}

const send = (client: Browser, { page, url }: { page: string; url: string }, file = picture(48, 48)) =>
  upload(test, client, { page, url, file })

/** The row of the application, all stored pictures, and the length of the audit log. */
const stateOf = async ({ stored }: { stored(): Promise<unknown> }) => ({
  app: await stored(),
  pictures: await rowsOf(test, 'app_logos', {}, ['name']),
  acts: (await rowsOf(test, 'audit_log', {}, ['id'])).length,
})

describe.each(Object.entries(KINDS))('the logo of a %s', (_kind, open) => {
  it('is uploaded, shown, and served like the logo of the site', async () => {
    const app = await open()
    expect((await send(app.client, app)).statusCode).toBe(303)
    const { logo_url } = await app.stored()
    expect(logo_url).toMatch(/^\/brand\/app\.[0-9a-f]{32}\.png$/)
    expect((await app.client.get(app.page)).body).toContain(`src="${logo_url}"`)
    const answer = await test.app.inject(logo_url!)
    expect(answer.headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    })
    expect(answer.rawPayload.includes('where I live')).toBe(false)
  })

  it('stays while other fields change, and goes by its own button', async () => {
    const app = await open()
    await send(app.client, app)
    const { logo_url } = await app.stored()
    const page = await app.client.get(app.page)
    const { logo_url: _, ...fields } = { ...page.form(app.edit), ...app.fields } as Record<string, string>
    expect(page.body).not.toContain('name="logo_url"')
    await app.client.submit(page, app.edit, { ...fields, description: 'Changed' })
    expect((await app.stored()).logo_url).toBe(logo_url)
    expect(await app.client.submit(page, app.url, { remove: 'yes' })).toMatchObject({ status: 303 })
    expect((await app.stored()).logo_url).toBeNull()
    expect((await app.client.get(app.page)).body).toContain('name="logo_url"')
  })

  it('is refused unless it is a small PNG, and nothing is stored', async () => {
    const app = await open()
    const before = await stateOf(app)
    for (const file of [Buffer.from('<svg/>'), picture(513, 1), Buffer.alloc(0)]) {
      const answer = await send(app.client, app, file)
      expect(answer.statusCode).toBe(400)
      expect(answer.body).toContain(forms.logoRefused)
    }
    expect(await stateOf(app)).toEqual(before)
  })

  it('is changed by its owner only, with the form token', async () => {
    const app = await open()
    await send(app.client, app)
    const before = await stateOf(app)
    const mallory = await (await makePerson(test)).signIn()
    const own = { page: '/apps', form: '/apps', url: app.url }
    expect((await upload(test, mallory, { ...own, file: picture(8, 8, 77) })).statusCode).toBe(404)
    const { form_token } = (await mallory.get('/apps')).form('/apps')
    expect((await mallory.post(app.url, { form_token: form_token!, remove: 'yes' })).status).toBe(404)
    const forged = await upload(test, app.client, { ...app, file: picture(8, 8), isForged: true })
    expect(forged.statusCode).toBe(403)
    expect(await stateOf(app)).toEqual(before)
  })
})

it('an upload takes the staff’s mark away, and says so', async () => {
  const { client, party, path, settings } = await makeOwnedApp(test)
  const admin = await makePerson(test, { is_admin: true })
  await setRows(
    test,
    'oauth_apps',
    { id: party.id },
    { reviewed_at: test.clock.now(), reviewed_by: admin.id },
  )
  await send(client, { page: settings, url: `${path}/logo` })
  expect((await rowOf(test, 'oauth_apps', { id: party.id })).reviewed_at).toBeNull()
  expect((await trailOf(test, party)).map(({ action }) => action)).toEqual([
    'oauth_app.updated',
    'oauth_app.review_withdrawn',
  ])

  const merchant = await makeMerchant(test)
  const base = `/payment/applications/${merchant.payment_id}`
  const owner = await merchant.owner.signIn()
  await send(owner, { page: `${base}/settings`, url: `${base}/logo` })
  expect((await owner.get(`${base}/settings`)).body).toContain(t.waits)
  expect((await rowOf(test, 'payment_apps', { id: merchant.id })).unreviewed_change_at).not.toBeNull()
})

it('a suspended payment application keeps its logo', async () => {
  const merchant = await makeMerchant(test)
  const base = `/payment/applications/${merchant.payment_id}`
  const owner = await merchant.owner.signIn()
  await send(owner, { page: `${base}/settings`, url: `${base}/logo` })
  const page = await owner.get(`${base}/settings`)
  await setRows(test, 'payment_apps', { id: merchant.id }, { status: 'suspended' })
  const before = await rowOf(test, 'payment_apps', { id: merchant.id })
  expect((await owner.submit(page, `${base}/logo`, { remove: 'yes' })).status).toBe(409)
  expect(before.logo_url).not.toBeNull()
  expect(await rowOf(test, 'payment_apps', { id: merchant.id })).toEqual(before)
})

it('a logo that no application shows is deleted after a day', async () => {
  const [shown, former] = [await makeOwnedApp(test), await makeOwnedApp(test)]
  const merchant = await makeMerchant(test)
  const base = `/payment/applications/${merchant.payment_id}`
  await send(shown.client, { page: shown.settings, url: `${shown.path}/logo` }, picture(20, 20))
  await send(
    await merchant.owner.signIn(),
    { page: `${base}/settings`, url: `${base}/logo` },
    picture(21, 21),
  )
  await send(former.client, { page: former.settings, url: `${former.path}/logo` }, picture(22, 22))
  const addresses = await Promise.all([
    rowOf(test, 'oauth_apps', { id: shown.party.id }),
    rowOf(test, 'payment_apps', { id: merchant.id }),
    rowOf(test, 'oauth_apps', { id: former.party.id }),
  ])
  await former.client.submit(await former.client.get(former.settings), `${former.path}/logo`, {
    remove: 'yes',
  })
  const served = async () =>
    Promise.all(addresses.map(async ({ logo_url }) => (await test.app.inject(logo_url!)).statusCode))
  await deleteExpiredRows(test.deps)
  expect(await served()).toEqual([200, 200, 200])
  test.clock.advance(DAY_MS + 1)
  await deleteExpiredRows(test.deps)
  expect(await served()).toEqual([200, 200, 404])
})

it('a member uploads at most twenty logos an hour', async () => {
  const { client, path, settings } = await makeOwnedApp(test)
  const statuses = []
  for (let i = 0; i < 21; i++)
    statuses.push((await send(client, { page: settings, url: `${path}/logo` }, picture(9, 9, i))).statusCode)
  expect(statuses).toEqual([...Array(20).fill(303), 429])
})
