/** The rules of who may use an application, and of which addresses may be registered. spec/registry 1.3. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { User } from '../../src/accounts/people/users.ts'
import { refusalOf } from '../../src/identity/apps/access.ts'
import { redirectUriFault } from '../../src/identity/apps/redirect-uris.ts'
import { makePerson } from '../harness/cast.ts'
import { startTestApp, type TestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { authorizationUrl, authorize, makeParty, withoutWriting } from './relying-party.ts'

const t = messages.en.identity

const NOW = new Date('2026-01-01T00:00:00Z')
const ALICE: User = {
  id: 1n,
  username: 'alice',
  name: null,
  email: null,
  email_verified: false,
  avatar_url: null,
  trust_level: 2,
  is_admin: false,
  is_moderator: false,
  suspended_till: null,
  is_banned: false,
  custom_groups: ['Developers'],
}

describe('the group rule', () => {
  const refusal = (allow_groups: string[], deny_groups: string[], values: Partial<User> = {}) =>
    refusalOf({ ...ALICE, ...values }, { allow_groups, deny_groups }, NOW)

  it('an application without lists is for everyone', () => {
    expect(refusal([], [])).toBeUndefined()
  })

  it('one allowed group is enough', () => {
    expect(refusal(['nobody', 'developers'], [])).toBeUndefined()
    expect(refusal(['nobody'], [])).toEqual({ rule: 'allow', groups: ['nobody'] })
  })

  it('deny wins over allow', () => {
    expect(refusal(['developers'], ['trust_level_2'])).toEqual({ rule: 'deny', group: 'trust_level_2' })
  })

  it('names are compared without case', () => {
    expect(refusal(['DEVELOPERS'], [])).toBeUndefined()
    expect(refusal([], ['Trust_Level_2'])).toEqual({ rule: 'deny', group: 'Trust_Level_2' })
  })

  it('trust levels are cumulative', () => {
    expect(refusal(['trust_level_1'], [])).toBeUndefined()
    expect(refusal(['trust_level_3'], [])).toBeDefined()
    expect(refusal([], ['trust_level_0'])).toBeDefined()
  })

  it('administrators and moderators are groups', () => {
    expect(refusal(['admins'], [], { is_admin: true })).toBeUndefined()
    expect(refusal(['moderators'], [], { is_admin: true })).toBeDefined()
    expect(refusal(['moderators'], [], { is_moderator: true })).toBeUndefined()
  })

  it('the banned and the suspended never pass, whatever the lists say', () => {
    const later = new Date(NOW.getTime() + 1)
    expect(refusal([], [], { is_banned: true })).toEqual({ rule: 'barred' })
    expect(refusal(['banned'], [], { is_banned: true, is_admin: true })).toEqual({ rule: 'barred' })
    expect(refusal(['suspended'], [], { suspended_till: later })).toEqual({ rule: 'barred' })
    expect(refusal([], [], { suspended_till: NOW })).toBeUndefined()
  })
})

describe('addresses that may be registered', () => {
  it.each([
    'https://app.example/callback',
    'https://app.example',
    'https://app.example:8443/a/b?tenant=1&x=%20',
    'https://APP.example:443/callback',
    'https://xn--bcher-kva.example/',
    'http://127.0.0.1/callback',
    'http://127.0.0.1:8080/callback',
    'http://[::1]:8080/callback',
    'http://localhost:3000/callback',
  ])('%s', (uri) => {
    expect(redirectUriFault(uri)).toBeUndefined()
  })

  it.each([
    ['', 'not_absolute'],
    ['callback', 'not_absolute'],
    ['/callback', 'not_absolute'],
    ['//app.example/callback', 'not_absolute'],
    ['https:app.example', 'not_absolute'],
    ['https:///app.example', 'not_absolute'],
    ['https://', 'not_absolute'],
    ['https://app.example:99999/', 'not_absolute'],
    ['javascript://app.example/%0aalert(1)', 'scheme'],
    ['javascript:alert(1)', 'not_absolute'],
    ['data:text/html,x', 'not_absolute'],
    ['file:///etc/passwd', 'not_absolute'],
    ['example://callback', 'scheme'],
    ['Com.example.app:/callback', 'not_absolute'],
    ['com.example.app:callback', 'not_absolute'],
    ['com.example.app:////callback', 'not_absolute'],
    ['com..app:/callback', 'not_absolute'],
    ['com.example.app:/callback?a=1', 'query'],
    ['com.example.app:/callback#a', 'fragment'],
    ['com.example.app://user@callback', 'user_name'],
    ['com.example.app:/*', 'wildcard'],
    ['http://app.example/callback', 'scheme'],
    ['http://localhost.evil.example/', 'scheme'],
    ['http://127.0.0.1.evil.example/', 'scheme'],
    ['https://app.example/#', 'fragment'],
    ['https://app.example/#a', 'fragment'],
    ['https://user@app.example/', 'user_name'],
    ['https://:@app.example/', 'user_name'],
    ['http://localhost@evil.example/', 'user_name'],
    ['https://app%2eexample/', 'host'],
    ['https://2130706433/', 'host'],
    ['http://0x7f.1:8080/', 'host'],
    ['http://[0:0:0:0:0:0:0:1]/', 'host'],
    ['https://app.example:/', 'host'],
    ['https://*.app.example/', 'wildcard'],
    ['https://app.example/*', 'wildcard'],
    ['https://app.example/a b', 'characters'],
    ['https://app.example\\@evil.example/', 'characters'],
    ['https://app.example/\r\nset-cookie:a=b', 'characters'],
    ['https://app.example/\u0000', 'characters'],
    ['https://bücher.example/', 'characters'],
    [`https://app.example/${'x'.repeat(2_000)}`, 'too_long'],
  ])('not %j: %s', (uri, fault) => {
    expect(redirectUriFault(uri)).toBe(fault)
  })
})

describe('at the authorization endpoint', () => {
  let test: TestApp

  beforeAll(async () => {
    test = await startTestApp()
  })
  afterAll(() => test.close())

  const refusedParty = (rules = {}) =>
    makeParty(test, { allow_groups: ['trust_level_3', 'Crew "ö"'], ...rules })

  it('a browser sees the rule, and a link to the application', async () => {
    const party = await refusedParty()
    const client = await (await makePerson(test)).signIn()
    const page = await withoutWriting(test, () => client.get(authorizationUrl(party, { state: 'a&b' })))
    expect(page.status).toBe(403)
    expect(page.body).toContain('trust level 3 and above')
    expect(page.body).toContain('Crew &quot;ö&quot;')
    expect(page.body).toContain(`<dt>${t.refused.yours}</dt><dd>${messages.en.common.trustLevel(2)}</dd>`)
    const link = /class="button primary block big" href="([^"]+)"/
      .exec(page.body)?.[1]
      ?.replaceAll('&amp;', '&')
    expect(Object.fromEntries(new URL(link!).searchParams)).toEqual({
      error: 'access_denied',
      error_description: "Only members of these groups may use this application: trust_level_3, Crew '?'",
      state: 'a&b',
      iss: test.url,
    })
  })

  it('a denied group is named', async () => {
    const party = await refusedParty({ allow_groups: [], deny_groups: ['Newcomers'] })
    const client = await (await makePerson(test, { groups: ['newcomers'] })).signIn()
    const page = await client.get(authorizationUrl(party))
    expect(page.status).toBe(403)
    expect(page.body).toContain(t.group('Newcomers'))
  })

  it('a remembered consent does not help, nor does answering the form', async () => {
    const party = await refusedParty({ allow_groups: ['crew'] })
    const person = await makePerson(test, { groups: ['crew'] })
    const client = await person.signIn()
    const form = await client.get(authorizationUrl(party, { prompt: 'consent' }))
    await authorize(client, party)
    await test.db.deleteFrom('user_groups').where('user_id', '=', person.id).execute()
    expect((await client.get(authorizationUrl(party))).status).toBe(403)
    const answer = await withoutWriting(test, () =>
      client.submit(form, '/oauth2/consent', { decision: 'allow' }),
    )
    expect(answer.status).toBe(403)
  })
})
