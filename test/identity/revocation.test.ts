/** Revocation (RFC 7009) and introspection (RFC 7662) of tokens. spec/sign-in 2.7. */
import { describe, expect, it } from 'vitest'
import { changePerson, makePerson } from '../harness/cast.ts'
import { START, useTestApp } from '../harness/harness.ts'
import { rowsOf } from '../harness/rows.ts'
import {
  type Answer,
  basic,
  makeParty,
  obtainTokens,
  type Party,
  postForm,
  refresh,
  type Tokens,
  userinfo,
  withoutWriting,
} from './relying-party.ts'

const test = await useTestApp()
const party = await makeParty(test)
const other = await makeParty(test)

async function freshTokens(scope = 'openid profile') {
  const person = await makePerson(test)
  return { person, tokens: await obtainTokens(test, await person.signIn(), party, { scope }) }
}

function ask(path: string, app: Party, token: string, more: Record<string, string> = {}): Promise<Answer> {
  const authorization = basic(app.client_id, app.client_secret)
  return postForm(test, path, { token, ...more }, { authorization })
}

const revoke = (app: Party, token: string, more = {}) => ask('/oauth2/revoke', app, token, more)
const introspect = (app: Party, token: string) => ask('/oauth2/introspect', app, token)

async function alive({ access_token, refresh_token }: Tokens) {
  const [access, refreshable] = [await userinfo(test, access_token), await introspect(party, refresh_token)]
  return { access: access.status === 200, refresh: refreshable.body.active }
}

describe('revocation', () => {
  it.each(['refresh_token', 'access_token', 'something_else'])(
    'of an access token ends it alone, with the hint %s',
    async (token_type_hint) => {
      const { tokens } = await freshTokens()
      const answer = await revoke(party, tokens.access_token, { token_type_hint })
      expect(answer).toMatchObject({ status: 200, body: {} })
      expect(await alive(tokens)).toEqual({ access: false, refresh: true })
      expect((await refresh(test, party, tokens.refresh_token)).status).toBe(200)
    },
  )

  it('of a refresh token ends the whole family, on record', async () => {
    const { tokens } = await freshTokens()
    const { body: next } = await refresh(test, party, tokens.refresh_token)
    expect((await revoke(party, next.refresh_token as string)).status).toBe(200)
    for (const one of [tokens, next as Tokens])
      expect(await alive(one)).toEqual({ access: false, refresh: false })
    expect((await refresh(test, party, next.refresh_token)).body.error).toBe('invalid_grant')
    const trail = await rowsOf(test, 'audit_log', { action: 'oauth_grant.revoked' })
    expect(trail.at(-1)!.detail).toMatchObject({ reason: 'revoked by the application' })
  })

  it('of a refresh token that was used ends its family as well', async () => {
    const { tokens } = await freshTokens()
    const { body: next } = await refresh(test, party, tokens.refresh_token)
    await revoke(party, tokens.refresh_token)
    expect((await userinfo(test, next.access_token)).status).toBe(401)
  })

  it('of an unknown or foreign token is answered alike, without effect', async () => {
    const { tokens } = await freshTokens()
    const { access_token, refresh_token } = tokens
    for (const token of ['nothing', access_token, refresh_token]) {
      const answer = await withoutWriting(test, () => revoke(other, token))
      expect(answer).toMatchObject({ status: 200, body: {} })
    }
    expect(await alive(tokens)).toEqual({ access: true, refresh: true })
  })

  it('is answered as JSON that no cache keeps', async () => {
    const { body, headers } = await revoke(party, 'nothing')
    expect(body).toEqual({})
    expect(headers).toMatchObject({ 'cache-control': 'no-store' })
    expect(headers['content-type']).toMatch(/^application\/json/)
  })

  it('twice is no fault', async () => {
    const { tokens } = await freshTokens()
    await revoke(party, tokens.refresh_token)
    const again = await withoutWriting(test, () => revoke(party, tokens.refresh_token))
    expect(again.status).toBe(200)
  })

  it('is open to public applications for what is theirs', async () => {
    const app = await makeParty(test, { token_endpoint_auth_method: 'none' })
    const { client_id } = app
    const { tokens } = await freshTokens()
    const answer = await postForm(test, '/oauth2/revoke', { client_id, token: tokens.refresh_token })
    expect(answer.status).toBe(200)
    expect(await alive(tokens)).toEqual({ access: true, refresh: true })
  })
})

describe('introspection', () => {
  it('tells an application what its access token is worth', async () => {
    const { person, tokens } = await freshTokens('openid email')
    const answer = await introspect(party, tokens.access_token)
    expect(answer.status).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-store')
    const iat = Math.floor(START.getTime() / 1000)
    expect(answer.body).toEqual({
      active: true,
      scope: 'openid email',
      client_id: party.client_id,
      username: person.username,
      sub: String(person.id),
      acr: 'urn:tessera:acr:1fa',
      auth_time: iat,
      token_type: 'Bearer',
      iat,
      exp: iat + 3_600,
      iss: test.url,
    })
  })

  it('and its refresh token, without using it up', async () => {
    const { person, tokens } = await freshTokens()
    const { body } = await introspect(party, tokens.refresh_token)
    expect(body).toMatchObject({ active: true, sub: String(person.id), iat: expect.any(Number) })
    expect(body).not.toHaveProperty('token_type')
    expect((await refresh(test, party, tokens.refresh_token)).status).toBe(200)
    expect((await introspect(party, tokens.refresh_token)).body).toEqual({ active: false })
  })

  it('says no more than “not active” of whatever else', async () => {
    const { person, tokens } = await freshTokens()
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      expect(await introspect(other, token)).toMatchObject({ status: 200, body: { active: false } })
    }
    expect((await introspect(party, 'nothing')).body).toEqual({ active: false })
    await changePerson(test, person, { is_banned: true })
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      expect((await introspect(party, token)).body).toEqual({ active: false })
    }
  })

  it('sees an access token end', async () => {
    const { tokens } = await freshTokens()
    test.clock.advance(3_600_000)
    expect((await introspect(party, tokens.access_token)).body).toEqual({ active: false })
    expect((await introspect(party, tokens.refresh_token)).body.active).toBe(true)
  })

  it('is closed to public applications', async () => {
    const { client_id } = await makeParty(test, { token_endpoint_auth_method: 'none' })
    const answer = await postForm(test, '/oauth2/introspect', { client_id, token: 'x' })
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
  })
})

describe.each(['/oauth2/revoke', '/oauth2/introspect'])('%s', (path) => {
  it('needs a client, before anything else', async () => {
    const refused = await withoutWriting(test, () => ask(path, { ...party, client_secret: 'wrong' }, 'x'))
    expect(refused).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    expect(refused.headers['www-authenticate']).toMatch(/^Basic /)
    const nobody = await postForm(test, path, { token: 'x' })
    expect(nobody).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
  })

  it('takes the credentials in the body too, and one token', async () => {
    const { client_id, client_secret } = party
    expect((await postForm(test, path, { client_id, client_secret, token: 'x' })).status).toBe(200)
    for (const body of ['', 'token=', 'token=a&token=b']) {
      const answer = await postForm(
        test,
        path,
        `client_id=${client_id}&client_secret=${client_secret}&${body}`,
      )
      expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    }
  })
})
