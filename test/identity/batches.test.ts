/** Concurrent requests of the token endpoint: they share statements, and each gets its own outcome. */
import { expect, it } from 'vitest'
import { makeExchangeCode } from '../../src/identity/grants/codes.ts'
import { makeRotateRefreshToken } from '../../src/identity/grants/refresh.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { inOneProcess, ONE_QUEUE } from '../harness/one-process.ts'
import {
  authorize,
  claimsOf,
  exchange,
  makeParty,
  obtainTokens,
  REDIRECT_URI,
  refresh,
  userinfo,
} from './relying-party.ts'

const itFills = it.skipIf(inOneProcess(ONE_QUEUE))

const test = await useTestApp()
const party = await makeParty(test)

const membersAndTheirs = async (count: number) => {
  const people = []
  for (let n = 0; n < count; n += 1) {
    const person = await makePerson(test)
    const client = await person.signIn()
    const { code } = await authorize(client, party)
    const tokens = await obtainTokens(test, client, party)
    people.push({ person, code, tokens })
  }
  return people
}

it('every caller gets their own result, whatever happens beside it', async () => {
  const people = await membersAndTheirs(6)
  const mallory = await makeParty(test)
  const [first] = people
  const answers = await Promise.all([
    exchange(test, party, 'x'),
    ...people.map(({ code }) => exchange(test, party, code)),
    exchange(test, mallory, first!.code),
    ...people.map(({ tokens }) => refresh(test, party, tokens.refresh_token)),
    refresh(test, party, first!.tokens.refresh_token, { scope: 'openid profile apps' }),
    exchange(test, { ...party, client_secret: 'wrong' }, first!.code),
    ...people.map(({ tokens }) => userinfo(test, tokens.access_token)),
    userinfo(test, 'nobody'),
  ])
  const subjects = people.map(({ person }) => String(person.id))
  const told = answers.map(
    ({ status, body }) => body.error ?? body.sub ?? (status === 200 && subjectOf(body)),
  )
  expect(told).toEqual([
    'invalid_grant',
    ...subjects,
    'invalid_grant',
    ...subjects,
    // The token is used by then, or the request asks for too much.
    expect.stringMatching(/^invalid_(grant|scope)$/),
    'invalid_client',
    ...subjects,
    'invalid_token',
  ])
})

function subjectOf({ id_token }: Record<string, unknown>): unknown {
  return claimsOf(id_token).sub
}

it('a claim with an unheard commit succeeds next time, with its tokens', async () => {
  const [one] = await membersAndTheirs(1)
  const client = { ...party, redirect_uris: [REDIRECT_URI], allow_groups: [], deny_groups: [] }
  const standard = {
    client: {
      ...client,
      id_token_signed_response_alg: 'RS256' as const,
      token_endpoint_auth_method: 'client_secret_basic',
    },
    address: '::1',
    now: test.clock.now(),
  }
  // Commits, and then reports a broken connection once.
  let broken = 0
  const db = new Proxy(test.db, {
    get(target, name) {
      const member = Reflect.get(target, name)
      if (name !== 'selectFrom' || broken > 0)
        return typeof member === 'function' ? member.bind(target) : member
      return (...args: Parameters<typeof target.selectFrom>) => breakAfter(target.selectFrom(...args))
    },
  })
  const breakAfter = <T extends object>(query: T): T =>
    new Proxy(query, {
      get(target, name) {
        const member = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          const result = Reflect.apply(member, target, args)
          if (name !== 'execute') return breakAfter(result)
          return (result as Promise<unknown>).then(() => {
            broken += 1
            throw new Error('Connection terminated unexpectedly')
          })
        }
      },
    })
  const issued = await makeExchangeCode(db)({
    ...standard,
    code: one!.code!,
    redirect_uri: REDIRECT_URI,
    code_verifier: undefined,
  })
  expect(broken).toBe(1)
  expect((await userinfo(test, issued.access_token)).body.sub).toBe(String(one!.person.id))

  broken = 0
  const { refresh_token } = issued
  const rotated = await makeRotateRefreshToken({ ...test.deps, db })({
    ...standard,
    refresh_token,
    scopes: ['openid'],
  })
  expect(broken).toBe(1)
  expect(rotated.scopes).toEqual(['openid'])
  expect((await userinfo(test, rotated.access_token)).status).toBe(200)
  expect((await refresh(test, party, rotated.refresh_token)).status).toBe(200)
})

itFills('more than can wait are sent back, and spend nothing', async () => {
  const [one] = await membersAndTheirs(1)
  const crowd = Array.from({ length: 1_200 }, () => exchange(test, party, 'x'))
  const answers = await Promise.all(crowd)
  const refused = answers.filter(({ status }) => status === 503)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused[0]).toMatchObject({
    body: { error: 'temporarily_unavailable' },
    headers: { 'retry-after': '1' },
  })
  test.clock.advance(61_000)
  expect((await refresh(test, party, one!.tokens.refresh_token)).status).toBe(200)
})
