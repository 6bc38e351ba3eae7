/** The sign-in that an owner tries on the own application. spec/registry 3.5. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startersFor } from '../../src/identity/apps/starters.ts'
import { makePerson } from '../harness/cast.ts'
import { type Browser, type Page, useTestApp } from '../harness/harness.ts'
import { unescaped } from '../harness/markup.ts'
import { messages } from '../harness/messages.ts'
import { rowsOf } from '../harness/rows.ts'
import { makeOwnedApp, type OwnedApp } from './owned-app.ts'
import {
  authorizationUrl,
  claimsOf,
  exchange,
  makeParty,
  obtainTokens,
  suspendApp,
  userinfo,
} from './relying-party.ts'

const { trial: t } = messages.en.registry
const MINUTE_MS = 60_000

const test = await useTestApp()

/** Begins a trial, and returns the consent page to which it leads. */
async function begin({ client, path }: Pick<OwnedApp, 'client' | 'path'>, scopes = ['profile']) {
  const page = await client.get(`${path}/test`)
  const { form_token = '' } = page.form(`${path}/test`)
  const fields = Object.fromEntries(scopes.map((scope) => [scope, 'on']))
  const started = await client.post(`${path}/test`, { form_token, ...fields })
  expect(started.status).toBe(303)
  return { request: started.location!, consent: await client.get(started.location!) }
}

/** Answers the consent page, and returns the address to which the answer goes. */
async function decide(client: Browser, consent: Page, decision = 'allow'): Promise<string> {
  const { status, location } = await client.submit(consent, '/oauth2/consent', { decision })
  expect(status).toBe(303)
  return location!.replace(test.deps.config.PUBLIC_URL, '')
}

async function tryOut(owned: OwnedApp, scopes?: string[]) {
  const { consent } = await begin(owned, scopes)
  return decide(owned.client, consent)
}

/** The texts of a result, with the JSON values that it shows. */
function resultIn({ body }: Page) {
  const json = [...body.matchAll(/<code id="(claims|userinfo|header)"[^>]*>([^<]*)</g)]
  const values = json.map(([, name, text]) => [name, JSON.parse(unescaped(text!))])
  const learned: { [name in 'claims' | 'userinfo' | 'header']?: Record<string, unknown> } =
    Object.fromEntries(values)
  return { text: unescaped(body), ...learned }
}

describe('a trial', () => {
  it('shows the owner what the program would learn, as the program learns it', async () => {
    const owned = await makeOwnedApp(test, { id_token_signed_response_alg: 'ES256' })
    const { owner, client, party } = owned
    const page = await client.get(await tryOut(owned, ['profile', 'email']))
    expect(page.status).toBe(200)
    const { text, claims, userinfo: learned, header } = resultIn(page)
    expect(text).toContain(t.passed)
    expect(text).toContain(t.done.allowed('openid profile email'))
    const tokens = await obtainTokens(test, client, party, { scope: 'openid profile email' })
    const [head = ''] = tokens.id_token.split('.')
    expect(header).toEqual(JSON.parse(Buffer.from(head, 'base64url').toString()))
    const body = claimsOf(tokens.id_token)
    expect(
      Object.keys(claims!)
        .filter((name) => name !== 'nonce')
        .sort(),
    ).toEqual(
      Object.keys(body)
        .filter((name) => name !== 'at_hash')
        .sort(),
    )
    expect(claims).toMatchObject({ sub: String(owner.id), aud: party.client_id, sid: body.sid })
    const { body: answer } = await userinfo(test, tokens.access_token)
    expect(learned).toEqual(answer)
    // The page shows the member first, and each claim of either answer once.
    expect(text.indexOf(`@${answer.username} · `)).toBeLessThan(text.indexOf('<dl'))
    expect(text).toContain(messages.en.common.trustLevel(answer.trust_level as number))
    const rows = [...text.matchAll(/<dt><code>(\w+)</g)].map(([, name]) => name)
    expect(rows.sort()).toEqual([...new Set([...Object.keys(claims!), ...Object.keys(answer)])].sort())
    expect(text).toContain(`form="trial">${t.again}</button>`)
    // Copy takes no width from the lines.
    expect(page.body).toMatch(/<\/button><\/div><div class="key"><code id="claims"[^>]*>[^<]*<\/code><\/div>/)
  })

  it('issues no token and uses no secret, and its consent is one of the owner', async () => {
    const owned = await makeOwnedApp(test)
    const { client, party, owner } = owned
    const before = await client.get(owned.path)
    await client.get(await tryOut(owned))
    const of = { app_id: party.id }
    for (const table of ['grants', 'logout_deliveries'] as const)
      expect([table, await rowsOf(test, table, of)]).toEqual([table, []])
    expect(await rowsOf(test, 'app_secrets', of)).toMatchObject([{ last_used_at: null }])
    expect(await rowsOf(test, 'consents', of)).toMatchObject([{ user_id: owner.id }])
    const overview = await client.get(owned.path)
    expect(unescaped(overview.body)).toContain(messages.en.registry.signIns.none)
    // The first step is done, and the next one follows.
    expect(before.body).toMatch(/<li class="next"><span class="mark">1</)
    expect(overview.body).toMatch(/<li class="done">[\s\S]*<li class="next"><span class="mark">2</)
  })

  it('uses its code once, within its minute', async () => {
    const owned = await makeOwnedApp(test)
    const { client } = owned
    const used = await tryOut(owned)
    expect(resultIn(await client.get(used)).text).toContain(t.passed)
    expect(resultIn(await client.get(used)).text).toContain(t.faults.code)
    const late = await tryOut(owned)
    test.clock.advance(MINUTE_MS + 1)
    const expired = resultIn(await client.get(late))
    expect(expired.text).toContain(t.faults.code)
    expect(expired.claims).toBeUndefined()
  })

  it('ends ten minutes after its begin', async () => {
    const owned = await makeOwnedApp(test)
    const { consent } = await begin(owned)
    test.clock.advance(10 * MINUTE_MS)
    const answer = await decide(owned.client, consent)
    expect(resultIn(await owned.client.get(answer)).text).toContain(t.faults.state)
    const [{ used_at } = { used_at: undefined }] = await rowsOf(test, 'authorization_codes', {
      app_id: owned.party.id,
    })
    expect(used_at).toBeNull()
  })

  it('says what a program gets when its member refuses', async () => {
    const owned = await makeOwnedApp(test)
    const { consent } = await begin(owned)
    const { text } = resultIn(await owned.client.get(await decide(owned.client, consent, 'deny')))
    expect(text).toContain(t.faults.refused)
    expect(text).toContain('access_denied')
  })

  it('follows the group rules and a suspension', async () => {
    const owned = await makeOwnedApp(test, { allow_groups: ['crew'] })
    const { consent } = await begin(owned)
    expect(consent.status).toBe(403)
    expect(unescaped(consent.body)).toContain(messages.en.identity.refused.allow)
    const { request } = await begin(owned)
    await suspendApp(test, owned.party)
    expect((await owned.client.get(request)).status).toBe(403)
    const page = unescaped((await owned.client.get(`${owned.path}/test`)).body)
    expect(page).toContain(messages.en.registry.suspendedText)
    expect(page).not.toContain(`${t.button}</button>`)
  })

  it('works for a public application', async () => {
    const owned = await makeOwnedApp(test, { token_endpoint_auth_method: 'none' })
    expect(resultIn(await owned.client.get(await tryOut(owned))).text).toContain(t.passed)
  })
})

describe('the address of a trial', () => {
  it('is refused for every other member and for every other application', async () => {
    const owned = await makeOwnedApp(test)
    const { request } = await begin(owned)
    const stranger = await (await makePerson(test, { is_admin: true })).signIn()
    const refused = await stranger.get(request)
    expect(refused.status).toBe(400)
    expect(unescaped(refused.body)).toContain(messages.en.identity.errors.title.invalid_redirect_uri)
    const redirect_uri = new URLSearchParams(request.split('?')[1]).get('redirect_uri')!
    const other = await makeParty(test, {}, owned.owner)
    const mixed = await owned.client.get(authorizationUrl({ ...other, redirect_uri }))
    expect(mixed.status).toBe(400)
  })

  it('takes no answer of another session, member or application', async () => {
    const owned = await makeOwnedApp(test)
    const answer = await tryOut(owned)
    const again = await owned.owner.signIn()
    expect(resultIn(await again.get(answer)).text).toContain(t.faults.state)
    const mallory = await (await makePerson(test)).signIn()
    expect((await mallory.get(answer)).status).toBe(404)
    const other = await makeParty(test, {}, owned.owner)
    const moved = answer.replace(owned.party.client_id, other.client_id)
    expect(resultIn(await owned.client.get(moved)).text).toContain(t.faults.state)
    for (const broken of [
      '',
      '?code=x',
      '?state=x&code=y&iss=z',
      '?state=a&state=b',
      `?state=${'x'.repeat(3000)}`,
    ])
      expect((await owned.client.get(`${owned.path}/test/answer${broken}`)).status).toBe(200)
    expect(resultIn(await owned.client.get(answer)).text).toContain(t.passed)
  })

  it('gives codes that the token endpoint refuses, with the secret and the verifier', async () => {
    const owned = await makeOwnedApp(test)
    const { request, consent } = await begin(owned)
    const answer = await decide(owned.client, consent)
    const code = new URLSearchParams(answer.split('?')[1]).get('code')!
    const redirect_uri = new URLSearchParams(request.split('?')[1]).get('redirect_uri')!
    const codes = async () => (await exchange(test, owned.party, code, { redirect_uri })).body.error
    expect(await codes()).toBe('invalid_redirect_uri')
    const without = await exchange(test, owned.party, code, { redirect_uri: undefined })
    expect(without.body.error).toBe('invalid_grant')
    expect(await rowsOf(test, 'grants', { app_id: owned.party.id })).toEqual([])
  })
})

describe('the lines for a program', () => {
  it.each(['en', 'zh-CN'])('are those of the recipes in %s, which the tests run', (language) => {
    const guide = readFileSync(`docs/${language}/sign-in-clients.md`, 'utf8')
    const of = {
      client_id: 'YOUR-CLIENT-ID',
      redirect_uris: ['https://app.example/callback'],
    }
    const site = { PUBLIC_URL: 'https://YOUR-TESSERA' }
    for (const token_endpoint_auth_method of ['client_secret_basic', 'none'])
      for (const { name, code } of startersFor({ ...of, token_endpoint_auth_method }, site).slice(1)) {
        const lines = code.split('\n')
        const missing = lines.filter((line) => !guide.includes(line))
        expect([name, missing]).toEqual([name, []])
      }
  })
})
