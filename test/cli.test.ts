/** `tessera …` as operators run it, over a database of the service; once as the process that it is. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tessera as run } from '../src/cli/main.ts'
import { balanceOf } from '../src/ledger/wallet.ts'
import { makePerson } from './cast.ts'
import { browser, startTestApp, type TestApp } from './harness.ts'
import { makeParty } from './identity/relying-party.ts'
import { makeMerchant } from './merchant.ts'

const MAIN = join(import.meta.dirname, '../src/cli/main.ts')

let test: TestApp
let folder: string
/** An administrator's name. */
let root: string

beforeAll(async () => {
  test = await startTestApp()
  folder = await mkdtemp(join(tmpdir(), 'tessera-cli-'))
  root = (await makePerson(test, { is_admin: true })).username
})
afterAll(async () => {
  await test.close()
  await rm(folder, { recursive: true, force: true })
})

type Outcome = { code: number; out: string; err: string }

const environment = () => ({
  DATABASE_URL: test.deps.config.DATABASE_URL!,
  APP_SECRET: test.deps.config.APP_SECRET!,
})

async function tessera(...words: string[]): Promise<Outcome> {
  const said = { out: '', err: '' }
  const output = {
    out: (text: string) => {
      said.out += text
    },
    err: (text: string) => {
      said.err += text
    },
  }
  return { code: await run(words, output, environment()), ...said }
}

async function told(...args: string[]): Promise<Record<string, unknown>> {
  const { out, err, code } = await tessera(...args, '--json')
  if (code !== 0) throw new Error(`${code}: ${err}`)
  return JSON.parse(out)
}

const audited = (action: string) =>
  test.db.selectFrom('audit_log').where('action', '=', action).select(['subject', 'actor_id']).execute()

describe('accounts', () => {
  it('are created with a one-time password that must be changed', async () => {
    const { one_time_password, id } = await told('user', 'create', 'carla', '--trust-level', '3', '--admin')
    const client = browser(test)
    const page = await client.submit(await client.get('/sign-in'), '/sign-in', {
      username: 'carla',
      password: String(one_time_password),
    })
    expect(page.status).toBe(303)
    expect((await client.get('/account')).headers.location).toMatch(/^\/account\/password/)
    const row = await test.db
      .selectFrom('users')
      .where('username', '=', 'carla')
      .selectAll()
      .executeTakeFirst()
    expect(row).toMatchObject({ id: BigInt(Number(id)), trust_level: 3, is_admin: true })
    expect(await audited('account.created')).toEqual([{ subject: `user:${id}`, actor_id: null }])
    const again = await tessera('user', 'create', 'Carla')
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('taken') })
  })

  it('become administrators and cease to be', async () => {
    const person = await makePerson(test)
    await told('user', 'grant-admin', person.username)
    const isAdmin = async () =>
      (await test.db.selectFrom('users').where('id', '=', person.id).select('is_admin').executeTakeFirst())
        ?.is_admin
    expect(await isAdmin()).toBe(true)
    await told('user', 'revoke-admin', person.username)
    expect(await isAdmin()).toBe(false)
    expect(await tessera('user', 'grant-admin', 'nobody')).toMatchObject({ code: 1 })
  })

  it('get a new one-time password, which ends their sessions', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    await told('user', 'reset-password', person.username)
    expect((await client.get('/account')).headers.location).toMatch(/^\/sign-in/)
  })

  it('of the forum have no password to reset', async () => {
    const person = await makePerson(test)
    await test.db
      .updateTable('users')
      .set({ forum_id: 77n, password_hash: null })
      .where('id', '=', person.id)
      .execute()
    const refused = await tessera('user', 'reset-password', person.username)
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('forum') })
  })
})

describe('a sign-in link', () => {
  it('signs in once, by its button, not by being opened', async () => {
    const person = await makePerson(test)
    // The command lives by the real clock, the application by the tests'.
    test.clock.advance(Date.now() - test.clock.now().getTime())
    const { url } = await told('user', 'sign-in-link', person.username)
    const path = String(url).replace(test.url, '')
    const client = browser(test)
    await client.get(path)
    const page = await client.get(path)
    expect(page.body).toContain(person.username)
    expect((await client.submit(page, '/sign-in/link')).status).toBe(303)
    expect((await client.get('/account')).status).toBe(200)
    expect((await browser(test).get(path)).status).toBe(410)
    expect((await client.submit(page, '/sign-in/link')).status).toBeGreaterThanOrEqual(400)
    expect(await audited('account.sign_in.link_used')).toHaveLength(1)
  })

  it('ends the one before it, and helps nobody who is barred', async () => {
    const person = await makePerson(test)
    const [first, second] = [
      await told('user', 'sign-in-link', person.username),
      await told('user', 'sign-in-link', person.username),
    ].map(({ url }) => String(url).replace(test.url, ''))
    expect((await browser(test).get(first!)).status).toBe(410)
    await test.db.updateTable('users').set({ is_banned: true }).where('id', '=', person.id).execute()
    const client = browser(test)
    const page = await client.submit(await client.get(second!), '/sign-in/link')
    expect(page.status).toBe(410)
  })
})

describe('applications', () => {
  it('are listed and reviewed in the name of an administrator', async () => {
    const merchant = await makeMerchant(test)
    const listed = (await told('payment-app', 'list')) as unknown as { payment_id: string; status: string }[]
    expect(listed.find(({ payment_id }) => payment_id === merchant.payment_id)?.status).toBe('approved')
    const withoutReason = await tessera('payment-app', 'suspend', merchant.payment_id, '--by', root)
    expect(withoutReason).toMatchObject({ code: 2, err: expect.stringContaining('--reason') })
    const byNobody = await tessera('payment-app', 'suspend', merchant.payment_id, '--reason', 'x')
    expect(byNobody.code).toBe(2)
    const byMember = await makePerson(test)
    const refused = await tessera(
      'payment-app',
      'suspend',
      merchant.payment_id,
      '--reason',
      'x',
      '--by',
      byMember.username,
    )
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('no administrator') })
    await told('payment-app', 'suspend', merchant.payment_id, '--reason', 'x', '--by', root)
    const row = await test.db
      .selectFrom('payment_apps')
      .where('payment_id', '=', merchant.payment_id)
      .select('status')
      .executeTakeFirst()
    expect(row?.status).toBe('suspended')
  })

  it('get a new client secret, told once', async () => {
    const party = await makeParty(test)
    const { client_secret } = await told('app', 'reset-secret', party.client_id, '--by', root)
    expect(client_secret).toMatch(/^[A-Za-z0-9]{48}$/)
    expect(await tessera('app', 'reset-secret', 'nobody', '--by', root)).toMatchObject({ code: 1 })
  })
})

describe('points', () => {
  it('are granted once a key', async () => {
    const person = await makePerson(test)
    const grant = () =>
      told('points', 'grant', person.username, '70', '--by', root, '--reason', 'prize', '--key', 'a')
    expect((await grant()).is_moved).toBe(true)
    expect((await grant()).is_moved).toBe(false)
    expect(await balanceOf(test.db, person.id)).toBe(70n)
    expect((await tessera('points', 'grant', person.username, '-1', '--by', root)).code).toBe(2)
  })

  it('are imported all or not at all, once', async () => {
    const [one, two] = [await makePerson(test), await makePerson(test)]
    const file = async (text: string) => {
      await writeFile(join(folder, 'points.csv'), text)
      return join(folder, 'points.csv')
    }
    const bad = await tessera('points', 'import', await file(`${one.username},5\nwhoever,1\n`), '--dry-run')
    expect(bad).toMatchObject({ code: 3, out: expect.stringContaining('line 2') })
    const by = ['--by', root, '--reason', 'spring']
    const poor = await tessera(
      'points',
      'import',
      await file(`${one.username},5\n${two.username},-1\n`),
      ...by,
    )
    expect(poor).toMatchObject({ code: 1, err: expect.stringContaining(`${two.username},-1`) })
    expect(await balanceOf(test.db, one.id)).toBe(0n)
    const path = await file(`${one.username},5\n${two.username},6\n`)
    expect(await told('points', 'import', path, '--dry-run')).toMatchObject({ given: 11, is_moved: false })
    expect(await balanceOf(test.db, one.id)).toBe(0n)
    await told('points', 'import', path, ...by)
    await told('points', 'import', path, ...by)
    expect([await balanceOf(test.db, one.id), await balanceOf(test.db, two.id)]).toEqual([5n, 6n])
  })
})

describe('the rest', () => {
  it('rotates keys, and finds that the address is not served', async () => {
    expect(await told('keys', 'rotate')).toHaveLength(2)
    const { code, out } = await tessera('doctor', '--json')
    const findings = JSON.parse(out) as { check: string; is_good: boolean; fault?: string }[]
    expect(code).toBe(3)
    expect(findings.filter(({ is_good }) => !is_good).map(({ check }) => check)).toEqual([
      // The cluster of the tests does without fsync.
      'database',
      'public address',
      'payment address',
      'issuer',
    ])
  })

  it('is a program, whose exit code says how it went', () => {
    const start = (...words: string[]) =>
      new Promise<Outcome>((resolve) => {
        const env = { PATH: process.env.PATH, ...environment() }
        execFile(process.execPath, [MAIN, ...words], { env, cwd: folder }, (error, out, err) =>
          resolve({ code: error === null ? 0 : Number(error.code), out, err }),
        )
      })
    return Promise.all([
      expect(start('payment-app', 'list', '--json')).resolves.toMatchObject({ code: 0, err: '' }),
      expect(start('nonsense')).resolves.toMatchObject({ code: 2, out: '' }),
    ])
  })

  it('explains itself, and what was typed wrong', async () => {
    expect((await tessera('--help')).out).toContain('points import')
    for (const words of [['nonsense'], ['user', 'create'], ['user', 'create', 'x', '--nonsense']])
      expect((await tessera(...words)).code).toBe(2)
    const asJson = await tessera('nonsense', '--json')
    expect(JSON.parse(asJson.err)).toEqual({ error: expect.stringContaining('no such command') })
  })
})
