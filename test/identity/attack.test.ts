/** Known attacks on OAuth 2.0 (RFC 6819, RFC 9700), tried against the identity area. */
import { describe, expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { type Browser, useTestApp } from '../harness/harness.ts'
import { statementsOf } from '../harness/statements.ts'
import { forgeries } from './hints.ts'
import {
  type Answer,
  answerOf,
  authorizationUrl,
  authorize,
  basic,
  exchange,
  getJson,
  makeParty,
  makeVerifier,
  obtainTokens,
  pkce,
  postForm,
  query,
  refresh,
  userinfo,
  withoutWriting,
} from './relying-party.ts'

const BYE = 'https://app.example/bye'

const test = await useTestApp()
// The attacker sends requests all day.
await test.db.insertInto('site_settings').values({ name: 'limit_token_failures', value: '0' }).execute()
const party = await makeParty(test, { post_logout_redirect_uris: [BYE] })
const evil = await makeParty(test, { name: 'Evil', redirect_uris: ['https://evil.example/callback'] })

const member = async (): Promise<Browser> => (await makePerson(test)).signIn()

describe('a credential in an address', () => {
  it('is never looked at', async () => {
    const client = await member()
    const { access_token, refresh_token } = await obtainTokens(test, client, party)
    for (const path of ['/oauth2/userinfo', '/api/apps']) {
      const answer = await getJson(test, `${path}?${query({ access_token })}`)
      expect(answer.status).toBe(401)
    }
    const { client_id, client_secret } = party
    const secrets = query({ client_id, client_secret, grant_type: 'refresh_token', refresh_token })
    const answer = await withoutWriting(test, () => postForm(test, `/oauth2/token?${secrets}`, { a: 'b' }))
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    const revoked = await postForm(test, `/oauth2/revoke?${secrets}&${query({ token: access_token })}`, {
      a: 'b',
    })
    expect(revoked.status).toBe(401)
    expect((await userinfo(test, access_token)).status).toBe(200)
  })
})

describe('a forged ID token', () => {
  it('signs nobody out, and is no hint', async () => {
    const client = await member()
    const { id_token } = await obtainTokens(test, client, party)
    for (const [how, forged] of Object.entries(await forgeries(test, id_token))) {
      const leave = query({ id_token_hint: forged, post_logout_redirect_uri: BYE })
      expect([how, (await client.get(`/oauth2/logout?${leave}`)).status]).toEqual([how, 400])
      const asked = authorizationUrl(party, { id_token_hint: forged, prompt: 'none' })
      const answer = await withoutWriting(test, () => client.get(asked))
      expect([how, answerOf(answer).error]).toEqual([how, 'invalid_request'])
    }
    const real = query({ id_token_hint: id_token, post_logout_redirect_uri: BYE })
    expect((await client.get(`/oauth2/logout?${real}`)).location).toBe(BYE)
  })
})

describe('what a failure tells', () => {
  async function expectAlike(acts: Record<string, () => Promise<Answer>>): Promise<void> {
    // The first run is not counted, because it fills caches such as keys.
    await Object.values(acts)[0]!()
    const costs = []
    for (const act of Object.values(acts)) costs.push(await statementsOf(act))
    const [[first, cost], ...others] = costs as [(typeof costs)[0], ...typeof costs]
    for (const [answer, statements] of others) {
      expect(answer.status).toBe(first.status)
      expect(answer.body).toEqual(first.body)
      expect(answer.headers['www-authenticate']).toBe(first.headers['www-authenticate'])
      expect(statements).toHaveLength(cost.length)
    }
  }

  it('of a client is the same whether it exists or not', async () => {
    const code = 'x'
    await expectAlike({
      'a wrong secret': () => exchange(test, { ...party, client_secret: makeVerifier() }, code),
      'an empty secret': () => exchange(test, { ...party, client_secret: '' }, code),
      'an unknown client': () => exchange(test, { ...party, client_id: 'nobody' }, code),
      'the secret of another': () => exchange(test, { ...party, client_secret: evil.client_secret }, code),
    })
    const { client_id } = party
    await expectAlike({
      'a client without its secret': () => postForm(test, '/oauth2/token', { client_id, code }),
      'an unknown client without secret': () =>
        postForm(test, '/oauth2/token', { client_id: 'nobody', code }),
    })
  })

  it('of a code is the same whether it exists or not', async () => {
    const client = await member()
    const fresh = async () => (await authorize(client, party)).code!
    const [other, bound, expired] = [
      (await authorize(client, evil)).code!,
      (await authorize(client, party, pkce(makeVerifier()))).code!,
      await fresh(),
    ]
    test.clock.advance(61_000)
    const [wrongVerifier] = [await fresh()]
    await expectAlike({
      unknown: () => exchange(test, party, makeVerifier()),
      'of another application': () => exchange(test, party, other),
      'without its verifier': () => exchange(test, party, bound),
      expired: () => exchange(test, party, expired),
      'with a verifier too many': () =>
        exchange(test, party, wrongVerifier, { code_verifier: makeVerifier() }),
    })
  })

  it('of a refresh token is the same whether it exists or not', async () => {
    const { refresh_token } = await obtainTokens(test, await member(), evil)
    await expectAlike({
      unknown: () => refresh(test, party, makeVerifier()),
      'of another application': () => refresh(test, party, refresh_token),
    })
  })

  it('of an access token is the same whether it exists or not', async () => {
    const { access_token } = await obtainTokens(test, await member(), party)
    test.clock.advance(3_600_000)
    await expectAlike({
      unknown: () => userinfo(test, makeVerifier()),
      expired: () => userinfo(test, access_token),
    })
  })

  it('of a revocation or an introspection is nothing', async () => {
    const { access_token } = await obtainTokens(test, await member(), evil)
    const authorization = basic(party.client_id, party.client_secret)
    for (const path of ['/oauth2/revoke', '/oauth2/introspect']) {
      await expectAlike({
        unknown: () => postForm(test, path, { token: makeVerifier() }, { authorization }),
        'of another application': () => postForm(test, path, { token: access_token }, { authorization }),
      })
    }
  })
})
