/**
 * What becomes of a typed form whose session has ended: only its member finds it again, after the next sign-in.
 * spec/pages 3.2.
 */
import { beforeEach, describe, expect, it } from 'vitest'
import { makePerson, type Person } from '../harness/cast.ts'
import { type Browser, browser, type Page, useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { messages } from '../harness/messages.ts'

const PROFILE = '/account/profile'
const TYPED = 'Typed for a long time'
const SESSION = 'tessera_session'
const { errors, forms } = messages.en

let client: Browser
let page: Page

const test = await useTestApp()
const alice = await makePerson(test)
beforeEach(async () => {
  await test.db.deleteFrom('kept_forms').execute()
  client = await alice.signIn()
  page = await client.get(PROFILE)
})

const endSessions = () => test.db.deleteFrom('sessions').where('user_id', '=', alice.id).execute()
const keptForms = () => test.db.selectFrom('kept_forms').selectAll().execute()
const nameOf = async ({ id }: Person) =>
  (await test.db.selectFrom('users').where('id', '=', id).select('name').executeTakeFirstOrThrow()).name

/** Signs in as the page about the late form offers. Returns the page of the form. */
async function signInFrom(late: Page, { username, password }: Person): Promise<Page> {
  const link = /href="(\/sign-in\?[^"]+)"/.exec(late.body)![1]!.replaceAll('&amp;', '&')
  const { location } = await client.submit(await client.get(link), '/sign-in', { username, password })
  return client.get(location!)
}

describe('a form whose session has ended', () => {
  it.each([
    ['elsewhere', () => endSessions()],
    ['with its cookie', () => client.cookies.delete(SESSION)],
  ])('%s is on its page again after the sign-in, once, and nothing was done', async (_, end) => {
    const before = await nameOf(alice)
    await end()
    const late = await client.submit(page, PROFILE, { name: TYPED })
    expect(late.status).toBe(403)
    expect(late.body).not.toContain(TYPED)
    expect(textOf(late)).toContain(`${errors.title.sign_in_required} ${errors.advice.sign_in_required}`)
    expect(textOf(late)).toContain(errors.late.kept)
    const again = await signInFrom(late, alice)
    expect(again.body).toContain(forms.kept)
    expect(again.body).toContain(`value="${TYPED}"`)
    expect(await nameOf(alice)).toBe(before)
    expect(await keptForms()).toEqual([])
    expect((await client.get(PROFILE)).body).not.toContain(TYPED)
    expect((await client.submit(again, PROFILE, { name: TYPED })).status).toBe(303)
    expect(await nameOf(alice)).toBe(TYPED)
    await test.db.updateTable('users').set({ name: before }).where('id', '=', alice.id).execute()
  })

  it('and whose member has signed in again elsewhere in the browser is on its page again', async () => {
    await endSessions()
    const { username, password } = alice
    await client.submit(await client.get('/sign-in'), '/sign-in', { username, password })
    const late = await client.submit(page, PROFILE, { name: TYPED })
    expect(textOf(late)).toContain(errors.title.form_expired)
    expect(late.body).toContain(`<a class="button primary" href="${PROFILE}">`)
    expect((await client.get(PROFILE)).body).toContain(`value="${TYPED}"`)
  })

  it('is shown to no other member, who signs in after it or before', async () => {
    const bob = await makePerson(test)
    await endSessions()
    const late = await client.submit(page, PROFILE, { name: TYPED })
    const after = await signInFrom(late, bob)
    expect(after.body).toContain(`@${bob.username}`)
    expect(after.body).not.toContain(TYPED)
    expect(after.body).not.toContain(forms.kept)
    await test.db.deleteFrom('kept_forms').execute()
    const before = await client.submit(page, PROFILE, { name: TYPED })
    expect(textOf(before)).toContain(errors.late.lost)
    expect(await keptForms()).toEqual([])
  })

  it('is kept without passwords', async () => {
    const typed = { current_password: 'the old secret', new_password: 'the new secret', password: 'a secret' }
    await endSessions()
    await client.submit(page, PROFILE, { ...typed, name: TYPED, code: '123456' })
    const [{ form: kept } = { form: Buffer.alloc(0) }] = await keptForms()
    expect(JSON.parse(test.deps.secrets.decrypt('kept form', kept))).toEqual({
      path: PROFILE,
      typed: { name: TYPED },
    })
  })

  it('is not taken from another site, nor with a token that was not made for the member', async () => {
    const { form_token: own = '' } = page.form(PROFILE)
    const [tag, id, proof] = own.split('.')
    const { form_token: visitors = '' } = (await browser(test).get('/sign-in')).form('/sign-in')
    await endSessions()
    const forged = ['', 'x'.repeat(43), `${tag}`, `${tag}.${Number(id) + 1}.${proof}`, visitors]
    const answers = [
      await client.post(PROFILE, { form_token: own, name: TYPED }, { 'sec-fetch-site': 'cross-site' }),
      await client.post(PROFILE, { form_token: own, name: TYPED }, { 'sec-fetch-site': 'same-site' }),
    ]
    for (const form_token of forged) answers.push(await client.post(PROFILE, { form_token, name: TYPED }))
    for (const answer of answers) {
      expect(answer.status).toBe(403)
      expect(textOf(answer)).toContain(errors.late.lost)
    }
    expect(await keptForms()).toEqual([])
    expect(client.cookies.has('kept_form')).toBe(false)
  })

  it('is shown to nobody who signs in if another version made it', async () => {
    await endSessions()
    const late = await client.post(PROFILE, { form_token: 'v9.another-way', name: TYPED })
    expect(late).toMatchObject({ status: 303, location: PROFILE })
    const { location } = await client.get(PROFILE)
    const { username, password } = alice
    await client.submit(await client.get(location!), '/sign-in', { username, password })
    expect((await client.get(PROFILE)).body).not.toContain(TYPED)
  })

  it('says nothing about what was typed where nothing can be', async () => {
    await endSessions()
    const late = await client.submit(page, '/sign-out')
    const switched = await client.submit(page, '/language', { language: 'en' })
    for (const page of [late, switched])
      for (const text of Object.values(errors.late)) expect(textOf(page)).not.toContain(text)
    expect(await keptForms()).toEqual([])
  })
})
