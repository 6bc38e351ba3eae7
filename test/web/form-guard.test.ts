/** What guards every form: the token of its page, and the site that sends it. spec/accounts 3.3. */
import { describe, expect, it } from 'vitest'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { formToken } from '../../src/web/forms/form-guard.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { switchMandates } from '../harness/mandates.ts'
import { formsOf } from '../harness/reported-acts.ts'
import { withoutWriting } from '../identity/relying-party.ts'

/** After a sign-in in another tab, these lead to the form of the present session. */
const SHOWN_AGAIN = ['/sign-in', '/sign-in/passkey', '/sign-in/again', '/sign-in/second-factor']

const test = await useTestApp()
await switchMandates(test)
const member = await makePerson(test, { is_admin: true })
const client = await member.signIn()
const tokenOf = async (browser = client) => (await browser.get('/account/profile')).form('/language')

it.each<[string, () => Promise<Record<string, string>>, Record<string, string>, string[]]>([
  ['without its token', async () => ({}), {}, []],
  ['with the token of another session', async () => tokenOf(await member.signIn()), {}, SHOWN_AGAIN],
  ['from another site', () => tokenOf(), { 'sec-fetch-site': 'cross-site' }, []],
])('every form is refused %s', async (_, fieldsOf, headers, shownAgain) => {
  const fields = await fieldsOf()
  const forms = formsOf(test.app).map((form) => form.replaceAll(/:[^/]+/g, '1'))
  const answers = await withoutWriting(test, () =>
    Promise.all(forms.map(async (form) => [form, (await client.post(form, fields, headers)).status])),
  )
  expect(answers).toEqual(forms.map((form) => [form, shownAgain.includes(form) ? 303 : 403]))
})

describe('a form of another version', () => {
  it.each([
    ['that adds to the token', (own: string) => `${own}.more.of.it`, {}],
    ['that reads only the tag of ours', (own: string) => own.split('.')[0]!, {}],
  ])('%s is accepted', async (_, tokenFrom) => {
    const { form_token: own = '' } = await tokenOf()
    const form_token = tokenFrom(own)
    expect((await client.post('/account/profile', { form_token, name: 'Typed' })).status).toBe(303)
  })

  it('that makes its token in another way leads to its page, and does nothing', async () => {
    const fields = { form_token: 'v9.another-way', return_to: '/account', name: 'Typed' }
    const forms = formsOf(test.app).map((form) => form.replaceAll(/:[^/]+/g, '1'))
    const answers = await withoutWriting(test, () =>
      Promise.all(forms.map(async (form) => [form, (await client.post(form, fields)).status])),
    )
    expect(answers).toEqual(forms.map((form) => [form, 303]))
  })
})

it('the token of this version stays the same, because the version before reads it', () => {
  const secrets = makeSecrets('a secret of thirty-two characters')
  expect(formToken(secrets, 'cookie', 7n)).toBe(
    'Eq1CLh5oJA_pMTIW7-23mOYRQeFrTimHaQYdNFz_GDs.7.JCvqaB8attPcNmTPQ9a7Hw',
  )
})
