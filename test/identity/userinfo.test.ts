/** GET and POST /oauth2/userinfo: the required token, and the claims. spec/sign-in 3.1. */
import { describe, expect, it } from 'vitest'
import { changePerson, joinGroup, makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { getJson, makeParty, obtainTokens, postForm, userinfo } from './relying-party.ts'

const test = await useTestApp()
const party = await makeParty(test)

async function freshToken(values = {}, scope = 'openid profile') {
  const person = await makePerson(test, values)
  const { access_token } = await obtainTokens(test, await person.signIn(), party, { scope })
  return { person, access_token }
}

describe('the answer', () => {
  it('has everything that is known', async () => {
    const values = { name: 'Alice', email: 'a@example.org', groups: ['crew'], is_admin: true }
    const { person, access_token } = await freshToken(values)
    await changePerson(test, person, {
      avatar_url: 'https://forum.example/a.png',
      email_verified: true,
      is_moderator: true,
    })
    const answer = await userinfo(test, access_token)
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.body).toEqual({
      sub: String(person.id),
      id: Number(person.id),
      username: person.username,
      preferred_username: person.username,
      email: 'a@example.org',
      email_verified: true,
      groups: ['trust_level_0', 'trust_level_1', 'trust_level_2', 'admins', 'moderators', 'crew'],
      name: 'Alice',
      picture: 'https://forum.example/a.png',
      avatar_url: 'https://forum.example/a.png',
      trust_level: 2,
      active: true,
      silenced: false,
    })
  })

  it('leaves out what is unknown or empty', async () => {
    const { person, access_token } = await freshToken({ name: '', trust_level: 0 }, 'email')
    expect((await userinfo(test, access_token)).body).toEqual({
      sub: String(person.id),
      id: Number(person.id),
      username: person.username,
      preferred_username: person.username,
      name: person.username,
      groups: ['trust_level_0'],
      trust_level: 0,
      active: true,
      silenced: false,
    })
  })

  it('is about this moment', async () => {
    const { person, access_token } = await freshToken()
    await changePerson(test, person, { username: 'renamed' })
    await joinGroup(test, person.id, 'late')
    const { body } = await userinfo(test, access_token)
    expect(body).toMatchObject({ sub: String(person.id), username: 'renamed' })
    expect(body.groups).toContain('late')
  })

  it.each(['/oauth2/userinfo', '/oauth-provider/userinfo'])(
    'is the same by every way to %s',
    async (path) => {
      const { access_token } = await freshToken()
      const { body } = await getJson(test, path, { authorization: `Bearer ${access_token}` })
      expect(body.sub).toBeTruthy()
      const ways = [
        getJson(test, path, { authorization: `bearer  ${access_token}` }),
        postForm(test, path, {}, { authorization: `BEARER ${access_token}` }),
      ]
      for (const answer of await Promise.all(ways)) expect(answer).toMatchObject({ status: 200, body })
    },
  )
})

describe('a POST', () => {
  const post = (headers: Record<string, string>, payload: string) =>
    test.app.inject({ method: 'POST', url: '/oauth2/userinfo', headers, payload })

  it.each([
    ['application/json', '{'],
    ['application/json', ''],
    ['multipart/form-data', 'x'],
    ['text/plain', 'x'],
    ['a/b', 'x'],
    ['application/x-www-form-urlencoded', 'access_token=x&access_token=y'],
  ])('with a body of %s is answered by its header: %s', async (type, body) => {
    const { person, access_token } = await freshToken()
    const headers = { authorization: `Bearer ${access_token}`, 'content-type': type }
    const answer = await post(headers, body)
    expect([answer.statusCode, answer.json().sub]).toEqual([200, String(person.id)])
  })

  it('with the token in its body has no token', async () => {
    const { access_token } = await freshToken()
    const answer = await postForm(test, '/oauth2/userinfo', { access_token })
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
  })

  it('with a body beyond the limit is 413', async () => {
    const { access_token } = await freshToken()
    const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'a/b' }
    expect((await post(headers, 'x'.repeat(2 ** 21))).statusCode).toBe(413)
  })
})

describe('refused', () => {
  it('without a token, the challenge names no error', async () => {
    for (const headers of [{}, { authorization: 'Basic YTpi' }]) {
      const answer = await getJson(test, '/oauth2/userinfo', headers)
      expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm="Tessera", resource_metadata=/)
    }
  })

  it('after an hour', async () => {
    const { access_token } = await freshToken()
    test.clock.advance(3_600_000 - 1)
    expect((await userinfo(test, access_token)).status).toBe(200)
    test.clock.advance(1)
    expect((await userinfo(test, access_token)).body.error).toBe('invalid_token')
  })

  it('for a barred member, until that ends', async () => {
    const { person, access_token } = await freshToken()
    const bar = (values: object) => changePerson(test, person, values)
    await bar({ is_banned: true })
    expect((await userinfo(test, access_token)).body.error).toBe('invalid_token')
    await bar({ is_banned: false, suspended_till: new Date(test.clock.now().getTime() + 1_000) })
    expect((await userinfo(test, access_token)).body.error).toBe('invalid_token')
    test.clock.advance(1_000)
    expect((await userinfo(test, access_token)).status).toBe(200)
  })

  it('with a session cookie only', async () => {
    const client = await (await makePerson(test)).signIn()
    expect((await client.get('/oauth2/userinfo')).status).toBe(401)
  })

  it.each(['Bearer', 'Bearer ', 'bearer  '])('with %o alone', async (authorization) => {
    const answer = await getJson(test, '/oauth2/userinfo', { authorization })
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
    expect(answer.headers['www-authenticate']).not.toContain('error=')
  })

  it('as malformed', async () => {
    for (const authorization of ['Bearer a b', 'Bearer "x"', 'Bearer é']) {
      const answer = await getJson(test, '/oauth2/userinfo', { authorization })
      expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
      expect(answer.headers['www-authenticate']).toContain('error="invalid_request"')
    }
  })
})
