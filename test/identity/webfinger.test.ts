/** WebFinger (RFC 7033): a client finds the issuer by an account or by the address of the site. */
import { expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { query } from './relying-party.ts'

const ISSUER = 'https://id.example.org'
const REL = 'http://openid.net/specs/connect/1.0/issuer'

const test = await useTestApp({ PUBLIC_URL: ISSUER })

const find = (parameters: string) => test.app.inject(`/.well-known/webfinger?${parameters}`)

it('tells the issuer for itself and for accounts, to pages of any origin', async () => {
  for (const resource of [ISSUER, `${ISSUER}/`, 'acct:alice@id.example.org', 'acct:alice@ID.Example.org']) {
    const answer = await find(query({ resource, rel: REL }))
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toMatch(/^application\/jrd\+json(;|$)/)
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    expect(JSON.parse(answer.body)).toEqual({ subject: resource, links: [{ rel: REL, href: ISSUER }] })
  }
  expect(JSON.parse((await find(query({ resource: ISSUER }))).body).links).toHaveLength(1)
})

it('answers alike for a member and for a name that nobody has', async () => {
  const { username } = await makePerson(test)
  const answers = await Promise.all(
    [username, 'no-one-here'].map(async (name) => {
      const { statusCode, headers, body } = await find(query({ resource: `acct:${name}@id.example.org` }))
      return [statusCode, Object.keys(headers), body.replace(name, 'NAME')]
    }),
  )
  expect(answers[0]).toEqual(answers[1])
})

it('leaves out the link where another relation is asked for', async () => {
  const other = query({ resource: ISSUER, rel: 'http://webfinger.net/rel/avatar' })
  expect(JSON.parse((await find(other)).body).links).toEqual([])
  expect(JSON.parse((await find(`${other}&${query({ rel: REL })}`)).body).links).toHaveLength(1)
})

it('knows no resource of another site, and needs one', async () => {
  for (const resource of [
    'acct:alice@evil.example',
    'acct:alice@evil.example@id.example.org',
    'https://evil.example',
    'alice@id.example.org',
    `${ISSUER}.evil.example`,
  ]) {
    expect([resource, (await find(query({ resource }))).statusCode]).toEqual([resource, 404])
  }
  for (const faulty of ['', query({ rel: REL }), 'resource=a&resource=b'])
    expect((await find(faulty)).statusCode).toBe(400)
})
