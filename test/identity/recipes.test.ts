/** The recipes in both languages: which versions they name, and that each has a test that runs it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { guideIn } from '../../src/docs/guides/guides.ts'
import { makePerson } from '../harness/cast.ts'
import { startTestApp, type TestApp } from '../harness/harness.ts'
import { recipesIn } from './recipes/recipes.ts'
import { authorizationUrl, makeParty } from './relying-party.ts'

const FOLDER = join(import.meta.dirname, 'recipes')
const english = recipesIn('en')

it('the recipes of both languages have the same versions, code and settings', () => {
  const facts = (language: 'en' | 'zh-CN') =>
    recipesIn(language).map(({ name, versions, code, text }) => ({
      name,
      versions,
      code,
      settings: [...text.matchAll(/`[^`\n]+`/g)].map(([setting]) => setting).sort(),
    }))
  expect(facts('zh-CN')).toEqual(facts('en'))
  expect(english.length).toBeGreaterThan(10)
})

it('every recipe names a version, and a test compares it with the one that it runs', () => {
  const tests = [
    join(import.meta.dirname, 'real-clients.test.ts'),
    ...readdirSync(FOLDER)
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join(FOLDER, name)),
  ].map((path) => readFileSync(path, 'utf8'))
  for (const { name, versions } of english) {
    expect(versions, name).not.toEqual([])
    const proofs = tests.filter((text) => text.includes(`recipe('${name}')`) || text.includes(`'${name}'`))
    expect(
      proofs.some((text) => text.includes('versions')),
      name,
    ).toBe(true)
  }
})

it('the headings of the guides are the recipes, and no other client seems to be tried', () => {
  for (const language of ['en', 'zh-CN'] as const) {
    const headings = guideIn(language, 'sign-in-clients').headings.filter(({ level }) => level === 3)
    expect(headings.map(({ text }) => text)).toEqual(recipesIn(language).map(({ name }) => name))
  }
})

describe('clients that could not be run', () => {
  let test: TestApp
  beforeAll(async () => {
    test = await startTestApp()
  })
  afterAll(() => test.close())

  /** The address and parameters of ASP.NET Core 8, as its middleware sends them with these settings. */
  const SIGN_IN = 'https://app.example/signin-oidc'
  const aspNet = (response_type: string) => ({
    response_type,
    scope: 'openid profile',
    response_mode: 'form_post',
    nonce: '638000000000000000.NGYwYzQ3',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    state: 'CfDJ8',
    'x-client-SKU': 'ID_NET8_0',
    'x-client-ver': '7.1.2.0',
  })

  it('ASP.NET Core gets the code in a form, and no id_token in place of it', async () => {
    const party = await makeParty(test, { redirect_uris: [SIGN_IN] })
    const client = await (await makePerson(test)).signIn()
    const asked = await client.get(authorizationUrl(party, aspNet('code')))
    const answer = await client.submit(asked, '/oauth2/consent', { decision: 'allow' })
    expect(answer.status).toBe(200)
    expect(answer.body).toContain(`action="${SIGN_IN}"`)
    expect(answer.body).toContain('name="code"')
    const refused = await client.get(authorizationUrl(party, aspNet('id_token')))
    expect(refused.body).toContain('unsupported_response_type')
  })

  it('WordPress comes back to an address with its query', async () => {
    const address = 'https://blog.example/wp-admin/admin-ajax.php?action=openid-connect-authorize'
    const party = await makeParty(test, { redirect_uris: [address] })
    const client = await (await makePerson(test)).signIn()
    const asked = await client.get(authorizationUrl(party))
    const answer = await client.submit(asked, '/oauth2/consent', { decision: 'allow' })
    expect(answer.location).toMatch(/\?action=openid-connect-authorize&code=/)
  })
})
