/** `acr`, the wish for one by `acr_values`, and the language of the pages by `ui_locales`. */
import { describe, expect, it } from 'vitest'
import type { Session } from '../../src/accounts/session/session.ts'
import { acrOf, shouldStepUp } from '../../src/identity/oauth/acr.ts'
import { changePerson, makePerson } from '../harness/cast.ts'
import { browser, useTestApp } from '../harness/harness.ts'
import { answerOf, authorizationUrl, authorize, claimsOf, makeParty, redeem } from './relying-party.ts'

const test = await useTestApp()
const party = await makeParty(test)

describe('acr', () => {
  it.each([
    [['pwd'], 'urn:tessera:acr:1fa'],
    [['forum'], 'urn:tessera:acr:1fa'],
    [['pwd', 'otp'], 'urn:tessera:acr:2fa'],
    [['swk', 'user', 'mfa'], 'phr'],
    [['pwd', 'hwk', 'user', 'mfa'], 'phr'],
    [['forum', 'swk', 'user', 'mfa'], 'phr'],
  ])('of %j is %s', (amr, acr) => {
    expect(acrOf(amr)).toBe(acr)
  })
})

describe('acr_values', () => {
  const session = (amr: string[], has_second_factor: boolean, has_passkey = false) =>
    ({ amr, user: { has_second_factor, has_passkey } }) as Session
  const TWO = 'urn:tessera:acr:2fa'

  it('demands a stronger sign-in of a member who can', () => {
    expect(shouldStepUp([TWO], session(['pwd'], true))).toBe(true)
    expect(shouldStepUp(['unknown', TWO], session(['pwd'], true))).toBe(true)
    expect(shouldStepUp(['phr'], session(['pwd', 'otp'], true, true))).toBe(true)
    expect(shouldStepUp([TWO], session(['forum'], false, true))).toBe(true)
  })

  it.each<[string, string[], string[], boolean]>([
    ['nothing is asked', [], ['pwd'], true],
    ['nothing known is asked', ['gold', 'toString'], ['pwd'], true],
    ['the first known one is met', ['urn:tessera:acr:1fa', TWO], ['pwd'], true],
    ['it is met', [TWO], ['pwd', 'otp'], true],
    ['the member cannot', [TWO], ['pwd'], false],
    ['the member has no passkey', ['phr'], ['pwd', 'otp'], true],
  ])('demands nothing when %s', (_, wishes, amr, hasSecondFactor) => {
    expect(shouldStepUp(wishes, session(amr, hasSecondFactor))).toBe(false)
  })

  it('asks a member with a second factor to sign in again, once, and never silently', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    await authorize(client, party)
    // The session began before the second factor was switched on.
    await test.db
      .insertInto('second_factors')
      .values({ user_id: person.id, secret_encrypted: Buffer.from('x'), last_step: 0n })
      .execute()
    const wish = { acr_values: TWO }
    const silent = await client.get(authorizationUrl(party, { ...wish, prompt: 'none' }))
    expect(answerOf(silent).code).toBeTruthy()
    const page = await client.get(authorizationUrl(party, wish))
    expect(page.location).toMatch(/^\/sign-in\?return_to=/)
    // The address that the sign-in returns to has the mark.
    expect(page.location).toContain('signed_in_since')
    const other = await client.get(authorizationUrl(party, { acr_values: 'gold silver' }))
    expect(answerOf(other).code).toBeTruthy()
  })

  it('says what there is to a member without', async () => {
    const client = await (await makePerson(test)).signIn()
    const { code } = await authorize(client, party, { acr_values: `phr ${TWO}` })
    const { redirect_uri } = party
    const { body } = await redeem(test, party, { grant_type: 'authorization_code', code, redirect_uri })
    const payload = claimsOf(body.id_token)
    expect(payload.acr).toBe('urn:tessera:acr:1fa')
  })
})

describe('ui_locales', () => {
  const langOf = ({ body }: { body: string }) => /<html lang="([^"]*)"/.exec(body)?.[1]

  it('is the language of the sign-in page and of the consent page', async () => {
    const person = await makePerson(test)
    const client = browser(test)
    const there = await client.get(authorizationUrl(party, { ui_locales: 'fr zh-Hans-CN en' }))
    const signIn = await client.get(there.location!)
    expect(langOf(signIn)).toBe('zh-CN')
    const wrong = await client.submit(signIn, '/sign-in', { username: person.username, password: 'wrong' })
    expect(langOf(wrong)).toBe('zh-CN')
    const { username, password } = person
    const back = await client.submit(wrong, '/sign-in', { username, password })
    expect(langOf(await client.get(back.location!))).toBe('zh-CN')
    // It is of this request alone.
    expect(langOf(await client.get('/account/profile'))).toBe('en')
  })

  it('yields to a choice, and unknown ones to the browser', async () => {
    const client = browser(test)
    const url = `/sign-in?return_to=${encodeURIComponent(authorizationUrl(party, { ui_locales: 'zh' }))}`
    const unknown = url.replace('zh', 'xx')
    expect(langOf(await client.get(unknown, { 'accept-language': 'zh-TW' }))).toBe('zh-CN')
    expect(langOf(await client.get(url, { cookie: 'language=en' }))).toBe('en')

    const person = await makePerson(test)
    const member = await person.signIn()
    const consent = authorizationUrl(party, { ui_locales: 'zh' })
    expect(langOf(await member.get(consent))).toBe('zh-CN')
    await changePerson(test, person, { language: 'en', language_chosen: true })
    expect(langOf(await member.get(consent))).toBe('en')
  })

  it('holds at sign-out, and is never an error', async () => {
    const client = browser(test)
    const page = await client.get('/oauth2/logout?client_id=nobody&post_logout_redirect_uri=x&ui_locales=zh')
    expect(langOf(page)).toBe('zh-CN')
    for (const ui_locales of ['', ' ', 'x'.repeat(500), '%', 'en_US']) {
      expect((await client.get(authorizationUrl(party, { ui_locales }))).status).toBe(303)
    }
  })
})
