/** What guards the pages of administrators, at every address that the application has. spec/pages 3.5. */
import { expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { type Browser, browser, useTestApp } from '../harness/harness.ts'
import { routesOf } from '../harness/routes.ts'
import { withoutWriting } from '../identity/relying-party.ts'

/** These only check, mark, or send again. */
const TAKE_AN_OLD_SIGN_IN = [
  '/admin/payment-applications/1/check',
  '/admin/apps/1/review',
  '/admin/abuse/looked',
  '/admin/abuse/reopen',
  '/admin/notifications/redeliver-failed',
  '/admin/notifications/1/redeliver',
  '/admin/books',
]

const test = await useTestApp()
const addressesOf = (method: 'GET' | 'POST') =>
  routesOf(test.app)
    .filter(({ path, methods }) => /^\/admin(\/|$)/.test(path) && methods.includes(method))
    .map(({ path }) => path.replace(/:\w+/g, '1'))
const pages = addressesOf('GET')
const forms = addressesOf('POST')

const tokenOf = async (client: Browser) => (await client.get('/account/profile')).form('/language')
const statusesOf = (addresses: string[], send: (address: string) => Promise<{ status: number }>) =>
  Promise.all(addresses.map(async (address) => [address, (await send(address)).status]))
const all = (addresses: string[], status: number) => addresses.map((address) => [address, status])

it('they are for administrators alone', async () => {
  const member = await (await makePerson(test)).signIn()
  const form = await tokenOf(member)
  await withoutWriting(test, async () => {
    expect(await statusesOf(pages, (page) => member.get(page))).toEqual(all(pages, 403))
    expect(await statusesOf(pages, (page) => browser(test).get(page))).toEqual(all(pages, 303))
    expect(await statusesOf(forms, (action) => member.post(action, form))).toEqual(all(forms, 403))
  })
})

it('acts take a recent sign-in', async () => {
  const stale = await (await makePerson(test, { is_admin: true })).signIn()
  const form = await tokenOf(stale)
  test.clock.advance(10 * 60_000 + 1)
  const answers = await withoutWriting(test, () => statusesOf(forms, (action) => stale.post(action, form)))
  const carriedOut = answers.filter(([, status]) => status !== 409).map(([action]) => action)
  expect(carriedOut).toEqual(TAKE_AN_OLD_SIGN_IN)
})
