/** Signing keys over their whole life, seen by verifiers, with several processes and caches. spec/sign-in 3.4. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  ensureSigningKeys,
  replaceSigningKeys,
  rotateDueSigningKeys,
  rotateSigningKeys,
} from '../../src/identity/keys/rotation.ts'
import { readHint } from '../../src/identity/oauth/id-token.ts'
import { ConfigError } from '../../src/platform/config.ts'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { makePerson } from '../harness/cast.ts'
import { anotherProcess, startTestApp, type TestApp } from '../harness/harness.ts'
import { rowOf, rowsOf } from '../harness/rows.ts'
import { getJson, makeParty, obtainTokens, type Party, refresh } from './relying-party.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 1_440 * MINUTE
const MAX_AGE = 300 * SECOND

let test: TestApp
let other: TestApp

beforeEach(async () => {
  test = await startTestApp()
  other = await anotherProcess(test)
})
afterEach(async () => {
  await other.close()
  await test.close()
})

const currentOf = async (process: TestApp, alg?: 'RS256' | 'ES256') =>
  (await process.deps.signingKeys.current(alg)).kid
const keySet = async (process: TestApp) =>
  (await getJson(process, '/oauth2/jwks')).body as unknown as JSONWebKeySet
const kidsOf = async (process: TestApp) => (await keySet(process)).keys.map((key) => key.kid)
const kidsIn = (keys: { kid: string }[]) => keys.map((key) => key.kid)

function verified(id_token: string, keys: JSONWebKeySet) {
  return jwtVerify(id_token, createLocalJWKSet(keys), { currentDate: test.clock.now() })
}

/** A member with a refresh token, who uses it at one process and then at the other. */
async function makeMember(): Promise<{ party: Party; renew(at: TestApp): Promise<string> }> {
  const party = await makeParty(test)
  const person = await makePerson(test)
  let { refresh_token } = await obtainTokens(test, await person.signIn(), party)
  return {
    party,
    async renew(at) {
      const { status, body } = await refresh(at, party, refresh_token)
      expect(status).toBe(200)
      refresh_token = body.refresh_token as string
      return body.id_token as string
    },
  }
}

it('both algorithms sign from the start, and several starts make one each', async () => {
  await test.db.deleteFrom('signing_keys').execute()
  await Promise.all([test, other, test, other].map((process) => ensureSigningKeys(process.deps)))
  expect(await kidsOf(test)).toHaveLength(2)
  for (const alg of ['RS256', 'ES256'] as const)
    expect(await currentOf(test, alg)).toBe(await currentOf(other, alg))
  expect(await currentOf(test)).toBe(await currentOf(test, 'RS256'))
})

it('a key lives: published, signing, published still, and then only found', async () => {
  const first = await currentOf(test)
  const rotateEverywhere = () => Promise.all([test, other].map(({ deps }) => rotateDueSigningKeys(deps)))
  test.clock.advance(89 * DAY)
  await rotateEverywhere()
  expect(await kidsOf(test)).toEqual(await kidsOf(other))
  expect(await kidsOf(test)).toHaveLength(2)

  test.clock.advance(DAY - 15 * MINUTE)
  const member = await makeMember()
  let fetched = { keys: await keySet(other), at: test.clock.now().getTime() }
  let lastOfFirst = ''
  let published: number | undefined
  for (let step = 0; (await currentOf(test)) === first; step += 1) {
    expect(step).toBeLessThan(60)
    await rotateEverywhere()
    if ((await kidsOf(test)).length > 2) published ??= test.clock.now().getTime()
    // The verifier fetches the keys as rarely as it may, and both processes serve members.
    const now = test.clock.now().getTime()
    if (now - fetched.at >= MAX_AGE) fetched = { keys: await keySet(other), at: now }
    lastOfFirst = await member.renew(step % 2 === 0 ? test : other)
    await verified(lastOfFirst, fetched.keys)
    test.clock.advance(20 * SECOND)
  }
  expect(test.clock.now().getTime() - published!).toBeGreaterThanOrEqual(MAX_AGE + MINUTE)
  const second = await currentOf(other)
  expect(second).not.toBe(first)
  expect(decodeProtectedHeader(lastOfFirst).kid).toBe(first)
  const firstOfSecond = await member.renew(other)
  expect(decodeProtectedHeader(firstOfSecond).kid).toBe(second)
  await verified(firstOfSecond, fetched.keys)

  // In its last second, the last token of the first key verifies with a set fetched at that moment.
  test.clock.advance(3_579 * SECOND)
  await rotateEverywhere()
  await verified(lastOfFirst, await keySet(other))
  test.clock.advance(10 * MINUTE)
  await rotateEverywhere()
  for (const process of [test, other]) {
    expect(await kidsOf(process)).not.toContain(first)
    expect(await kidsOf(process)).toContain(second)
    expect(await process.deps.signingKeys.find(first)).toMatchObject({ kid: first, alg: 'RS256' })
  }
  expect((await rowOf(test, 'signing_keys', { kid: first })).private_encrypted).toBeNull()
})

it('tokens from during a rotation verify with the sets around it', async () => {
  const members = await Promise.all(Array.from({ length: 6 }, makeMember))
  const before = await keySet(test)
  const tokens: string[] = []
  const renewals = members.map(async ({ renew }, i) => {
    for (let round = 0; round < 8; round += 1) tokens.push(await renew((i + round) % 2 ? test : other))
  })
  await Promise.all([...renewals, rotateSigningKeys(test.deps), rotateSigningKeys(other.deps)])
  test.clock.advance(MINUTE)
  const after = await keySet(other)
  expect(after.keys.length).toBe(4)
  expect(tokens).toHaveLength(48)
  for (const id_token of tokens) {
    await verified(id_token, before)
    await verified(id_token, after)
  }

  // At the change of keys, half of the requests come just before the new key's time and half just after it.
  test.clock.advance(9 * MINUTE + 59 * SECOND)
  const kids = new Set<string>()
  for (const step of [0, SECOND]) {
    test.clock.advance(step)
    const issued = await Promise.all(members.map(({ renew }, i) => renew(i % 2 ? test : other)))
    for (const id_token of issued) {
      kids.add(decodeProtectedHeader(id_token).kid!)
      await verified(id_token, after)
    }
  }
  expect(kids.size).toBe(2)
})

it('a rotation begun twice is one, and a waiting one waits', async () => {
  const [once, again] = await Promise.all([rotateSigningKeys(test.deps), rotateSigningKeys(other.deps)])
  expect(again).toEqual(once)
  expect(await rotateSigningKeys(test.deps)).toEqual(once)
  const rows = await test.db.selectFrom('signing_keys').selectAll().execute()
  expect(rows).toHaveLength(4)
  expect(rows.filter((row) => row.published_until === null)).toHaveLength(2)
})

it('a key of another process is found, a foreign name never', async () => {
  await currentOf(other)
  const [next] = (await rotateSigningKeys(test.deps)).next
  expect(await other.deps.signingKeys.find(next!.kid)).toMatchObject({ kid: next!.kid, alg: 'RS256' })
  expect(await other.deps.signingKeys.find('A'.repeat(43))).toBeUndefined()
  expect(await other.deps.signingKeys.find("' or true --")).toBeUndefined()
})

it('in an emergency every key is withdrawn, and others sign at once', async () => {
  const member = await makeMember()
  const before = await member.renew(test)
  // A key that waits is treated like a key that signs.
  const { next: waiting } = await rotateSigningKeys(test.deps)
  const old = new Set([...(await kidsOf(other)), ...kidsIn(waiting)])
  expect(await readHint(before, other.deps)).toBeDefined()

  const { made, withdrawn } = await replaceSigningKeys(test.deps)
  expect(new Set(withdrawn)).toEqual(old)
  expect(old.size).toBe(4)
  // A process uses cached keys for a minute.
  test.clock.advance(MINUTE)
  for (const process of [test, other]) {
    expect(new Set(await kidsOf(process))).toEqual(new Set(kidsIn(made)))
    expect(await readHint(before, process.deps)).toBeUndefined()
    for (const kid of withdrawn) expect(await process.deps.signingKeys.find(kid)).toBeUndefined()
    const after = await member.renew(process)
    expect(kidsIn(made)).toContain(decodeProtectedHeader(after).kid)
    await verified(after, await keySet(other))
    await expect(verified(before, await keySet(process))).rejects.toThrow('no applicable key')
  }
  const rows = await test.db.selectFrom('signing_keys').where('kid', 'in', withdrawn).selectAll().execute()
  expect(rows.map((row) => row.private_encrypted)).toEqual(withdrawn.map(() => null))
  expect(await rowsOf(test, 'audit_log', { action: 'signing_keys.replaced' })).toMatchObject([
    { detail: { withdrawn, made: kidsIn(made) }, actor_id: null },
  ])

  // The next keys come after these, and no schedule brings withdrawn keys back.
  await Promise.all([test, other].map(({ deps }) => rotateDueSigningKeys(deps)))
  const { next } = await rotateSigningKeys(other.deps)
  test.clock.advance(MINUTE)
  expect(new Set(await kidsOf(test))).toEqual(new Set([...kidsIn(made), ...kidsIn(next)]))
})

describe('a key that was made under another APP_SECRET', () => {
  const STRANGE = makeSecrets('a secret of somebody who stood in another folder')

  /** Makes keys as a process with another APP_SECRET would, which replace ours in `days`. */
  async function makeForeign(days: number): Promise<string[]> {
    const before = (await kidsOf(test)) as string[]
    const databaseTime = async () => new Date(test.clock.now().getTime() + days * DAY)
    await rotateDueSigningKeys({ ...test.deps, secrets: STRANGE, databaseTime })
    return kidsIn(await rowsOf(test, 'signing_keys')).filter((kid) => !before.includes(kid))
  }

  it('never signs or ends ours, and the next rotation withdraws it', async () => {
    const [ours, es256] = [await currentOf(test), await currentOf(test, 'ES256')]
    const foreign = await makeForeign(90)
    expect(foreign).toHaveLength(2)
    // By now the keys of this service would have been replaced, unpublished and retired.
    test.clock.advance(91 * DAY)
    await Promise.all([test, other].map(({ deps }) => rotateDueSigningKeys(deps)))
    await ensureSigningKeys(test.deps)
    const member = await makeMember()
    for (const process of [test, other]) {
      expect(await currentOf(process)).toBe(ours)
      expect(await kidsOf(process)).toEqual(expect.arrayContaining([ours, es256]))
      expect(new Set(await process.deps.signingKeys.unreadable())).toEqual(new Set(foreign))
      await verified(await member.renew(process), await keySet(other))
      expect((await process.app.inject('/readyz')).statusCode).toBe(200)
    }

    const { next, withdrawn } = await rotateSigningKeys(test.deps)
    expect(new Set(withdrawn)).toEqual(new Set(foreign))
    expect(next.map(({ signs_from }) => signs_from > test.clock.now())).toEqual([true, true])
    test.clock.advance(MINUTE)
    expect(await other.deps.signingKeys.unreadable()).toEqual([])
    expect(new Set(await kidsOf(other))).toEqual(new Set([ours, es256, ...kidsIn(next)]))
    expect(await currentOf(other)).toBe(ours)
    test.clock.advance(15 * MINUTE)
    expect(await currentOf(other)).toBe(next[0]!.kid)
    expect(await rotateSigningKeys(other.deps)).toMatchObject({ withdrawn: [] })
    const audit = await rowsOf(test, 'audit_log', { action: 'signing_keys.replaced' })
    expect(audit.map(({ detail }) => detail)).toEqual([{ withdrawn, made: [] }])
  })

  it('alone signs nothing: the start says what helps, and that works', async () => {
    await test.db.deleteFrom('signing_keys').execute()
    await ensureSigningKeys({ ...test.deps, secrets: STRANGE })
    const start = ensureSigningKeys(test.deps)
    await expect(start).rejects.toThrow(ConfigError)
    await expect(start).rejects.toThrow('tessera keys rotate')
    const { next, withdrawn } = await rotateSigningKeys(test.deps)
    expect(withdrawn).toHaveLength(2)
    await ensureSigningKeys(test.deps)
    expect(await currentOf(test)).toBe(next[0]!.kid)
  })
})

async function command(...words: string[]): Promise<string> {
  const main = join(import.meta.dirname, '../../src/cli/tessera.js')
  const { DATABASE_URL, APP_SECRET } = test.deps.config
  const env = { ...process.env, DATABASE_URL, APP_SECRET }
  return (await promisify(execFile)(process.execPath, [main, ...words], { env })).stdout
}

it('is rotated by command without restart, in an emergency at once', async () => {
  const before = await currentOf(test)
  const stdout = await command('keys', 'rotate')
  expect(stdout).toMatch(/^RS256 {2}[\w-]{43} signs from .*Z\nES256 {2}[\w-]{43} signs from .*Z\n$/)
  expect(stdout).not.toContain(before)
  expect(await test.db.selectFrom('signing_keys').select('id').execute()).toHaveLength(4)

  const emergency = await command('keys', 'rotate', '--now')
  expect(emergency).toContain(`${before} is withdrawn`)
  expect(emergency).toMatch(/refused from now on.*\n.*Members stay signed in/s)
  test.clock.advance(MINUTE)
  expect(await other.deps.signingKeys.find(before)).toBeUndefined()
})
