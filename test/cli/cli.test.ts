/** `tessera …` as operators run it, over a database of the service, and once as a process. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/operator.ts'
import { stepAt, totpCode } from '../../src/accounts/security/totp.ts'
import { freezeWallet, unfreezeWallet } from '../../src/admin/points/freezes.ts'
import { progressLine } from '../../src/cli/main.ts'
import { writeNewFile } from '../../src/cli/new-file.ts'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { type AccessKeyCredentials, createAccessKey } from '../../src/payment/access-keys/keys.ts'
import { applyForPaymentApp } from '../../src/payment/apps/apps.ts'
import { createTestApp } from '../../src/payment/apps/test-apps.ts'
import { askMandateRight } from '../../src/payment/mandates/right.ts'
import { VERSION } from '../../src/platform/version.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson, type Person, signIn } from '../harness/cast.ts'
import { freePort } from '../harness/free-port.ts'
import { browser, createDatabase, startTestApp, useTestApp } from '../harness/harness.ts'
import { makeLink } from '../harness/links.ts'
import { makeMandate, switchMandates } from '../harness/mandates.ts'
import { type Merchant, makeMerchant } from '../harness/merchant.ts'
import { startNotifyWorld } from '../harness/notify-world.ts'
import { environmentOf, type Outcome, tesseraAt, toldAt } from '../harness/operator.ts'
import { payOrder, placeOrder } from '../harness/orders.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'
import { makeParty } from '../identity/relying-party.ts'

const MAIN = join(import.meta.dirname, '../../src/cli/tessera.js')

/** The username of an administrator. */

const test = await useTestApp()
const folder = await mkdtemp(join(tmpdir(), 'tessera-cli-'))
const root = (await makePerson(test, { is_admin: true })).username
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

const environment = () => environmentOf(test)
const tessera = (...words: string[]) => tesseraAt(environment(), ...words)
const told = (...words: string[]) => toldAt(environment(), ...words)

/** Starts the program itself. */
function start(...words: string[]) {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  return spawn(process.execPath, [MAIN, ...words], {
    env: { PATH, NODE_COMPILE_CACHE, ...environment() },
    cwd: folder,
  })
}

const audited = (action: string) =>
  test.db.selectFrom('audit_log').where('action', '=', action).select(['subject', 'actor_id']).execute()

type Listed = { username: string; is_admin: boolean }

/** Runs an act while the audit log refuses an entry of this action. */
async function withoutAudit(action: string, act: () => Promise<void>): Promise<void> {
  await sql`alter table audit_log add constraint cut check (action <> ${sql.lit(action)}) not valid`.execute(
    test.db,
  )
  try {
    await act()
  } finally {
    await sql`alter table audit_log drop constraint cut`.execute(test.db)
  }
}

/** The files of the folder whose names begin with `name`. */
const filesLike = async (name: string) => (await readdir(folder)).filter((each) => each.startsWith(name))

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
    // The same rule as for registration: no name that looks like another one.
    for (const name of ['ab', 'ad\u202emin', '\u3164\u3164\u3164', 'c\u0430rla', 'carla~7', 'x'.repeat(31)])
      expect(await tessera('user', 'create', name)).toMatchObject({
        code: 2,
        err: expect.stringContaining('3 to 30 letters (a to z)'),
      })
    expect(await tessera('user', 'create', 'carl', '--name', 'nobody\u200bx')).toMatchObject({
      code: 2,
      err: expect.stringContaining('invisible'),
    })
    const again = await tessera('user', 'create', 'Carla')
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('taken') })
  })

  it('are exported as one document, and anonymised when nothing blocks it', async () => {
    const person = await makePerson(test, { username: 'leaver', points: 7n })
    const { profile, wallet_entries } = await told('user', 'export', person.username)
    expect(profile).toMatchObject({ id: Number(person.id), username: person.username })
    const path = join(folder, 'member.json')
    await told('user', 'export', person.username, '--file', path)
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ profile, wallet_entries })
    const written = await readFile(path)
    expect(await tessera('user', 'export', person.username, '--file', path)).toEqual({
      code: 1,
      out: '',
      err: `${path} exists already, and is not replaced\n`,
    })
    expect(await readFile(path)).toEqual(written)
    expect(await audited('account.exported')).toHaveLength(2)
    const other = join(folder, 'other.json')
    await withoutAudit('account.exported', async () => {
      expect((await tessera('user', 'export', person.username, '--file', other)).code).toBe(1)
      expect(await filesLike('other.json')).toEqual([])
    })

    const words = ['user', 'anonymise', person.username]
    expect(await tessera(...words)).toMatchObject({ code: 2 })
    const because = [...words, '--reason', 'Asked by letter']
    const { id: actor_id } = await makePerson(test, { is_admin: true })
    const freeze = { reason: 'x', actor_id, ip: '203.0.113.9' }
    await freezeWallet(test.deps, person.id, freeze)
    const [frozen, holds] = [
      'Their wallet is frozen: an administrator has to end that first',
      'Their wallet holds 7 points, to be spent first, or given up with --give-up-points 7',
    ]
    for (const [give_up, obstacles] of [
      [[], [holds, frozen]],
      [
        ['--give-up-points', '6'],
        [holds, frozen],
      ],
      [['--give-up-points', '7'], [frozen]],
    ] as const)
      expect(await tessera(...because, ...give_up)).toEqual({
        code: 1,
        out: '',
        err: `${[`${person.username} cannot be anonymised yet:`, ...obstacles].join('\n  - ')}\n`,
      })
    await unfreezeWallet(test.deps, person.id, freeze)
    expect(await tessera(...because, '--give-up-points', 'all')).toMatchObject({ code: 2 })
    expect(await told(...because, '--give-up-points', '7')).toEqual({ user_id: Number(person.id) })
    expect(await balanceOf(test.db, person.id)).toBe(0n)
    expect(await tessera('user', 'export', `deleted-${person.id}`)).toMatchObject({ code: 1 })
    expect(await audited('account.anonymised')).toEqual([{ subject: `user:${person.id}`, actor_id: null }])
  })

  it('become administrators and cease to be', async () => {
    const person = await makePerson(test)
    // The answer has the name as it is stored, however it was typed.
    const granted = await told('user', 'grant-admin', person.username.toUpperCase())
    expect(granted).toEqual({ username: person.username, is_admin: true })
    const isAdmin = async () =>
      (await test.db.selectFrom('users').where('id', '=', person.id).select('is_admin').executeTakeFirst())
        ?.is_admin
    expect(await isAdmin()).toBe(true)
    await told('user', 'revoke-admin', person.username)
    expect(await isAdmin()).toBe(false)
  })

  it('stop being administrators, except the last who can sign in', async () => {
    const own = await startTestApp()
    const pair = [await makePerson(own, { is_admin: true }), await makePerson(own, { is_admin: true })]
    // Neither of them can do anything.
    const late = new Date(Date.now() + 86_400_000)
    for (const barred of [{ is_banned: true }, { suspended_till: late }]) {
      const { id } = await makePerson(own, { is_admin: true })
      await own.db.updateTable('users').set(barred).where('id', '=', id).execute()
    }
    const { DATABASE_URL = '', APP_SECRET = '' } = own.deps.config
    const revoke = (username: string) =>
      tesseraAt({ DATABASE_URL, APP_SECRET }, 'user', 'revoke-admin', username)
    const revoked = await own.db.transaction().execute(async (tx) => {
      await tx.selectFrom('users').where('id', '=', pair[0]!.id).select('id').forUpdate().execute()
      const both = pair.map(({ username }) => revoke(username))
      await untilBlocked(tx, 2)
      return both
    })
    const outcomes = await Promise.all(revoked)
    const left = pair[outcomes.findIndex(({ code }) => code === 1)]!
    expect(outcomes).toContainEqual(expect.objectContaining({ code: 0 }))
    expect(outcomes).toContainEqual({
      code: 1,
      out: '',
      err: `Without ${left.username} no administrator could sign in: make somebody else one first, by \`tessera user grant-admin\`\n`,
    })
    const acting = own.db.selectFrom('users').where('is_admin', '=', true).where('is_banned', '=', false)
    expect(await acting.where('suspended_till', 'is', null).select('id').execute()).toEqual([{ id: left.id }])
    await own.close()
  })

  it('get a new one-time password, which ends their sessions', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    await told('user', 'reset-password', person.username)
    expect((await client.get('/account')).headers.location).toMatch(/^\/sign-in/)
  })

  it('of the forum have no password to reset', async () => {
    const person = await makePerson(test)
    await setRows(test, 'users', { id: person.id }, { forum_id: 77n, password_hash: null })
    const refused = await tessera('user', 'reset-password', person.username)
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('forum') })
  })
})

describe('a sign-in link', () => {
  it('signs in once, by its button, not by being opened', async () => {
    const person = await makePerson(test)
    // The command uses the real clock, and the application that of the tests.
    test.clock.advance(Date.now() - test.clock.now().getTime())
    const { url } = await told('user', 'sign-in-link', person.username)
    const path = String(url).replace(test.url, '')
    const client = browser(test)
    await client.get(path)
    const page = await client.get(path)
    expect(page.body).toContain(person.username)
    expect((await client.submit(page, '/sign-in/link')).status).toBe(303)
    expect((await client.get('/account')).status).toBe(200)
    const sessions = test.db.selectFrom('sessions').where('user_id', '=', person.id)
    expect(await sessions.select('amr').execute()).toEqual([{ amr: [] }])
    expect((await browser(test).get(path)).status).toBe(410)
    expect((await client.submit(page, '/sign-in/link')).status).toBeGreaterThanOrEqual(400)
    expect(await audited('account.sign_in.link_used')).toHaveLength(1)
  })

  it('lets a member with a one-time password set a new one', async () => {
    const person = await makePerson(test)
    await told('user', 'reset-password', person.username)
    const { url } = await told('user', 'sign-in-link', person.username)
    const client = browser(test)
    const page = await client.get(String(url).replace(test.url, ''))
    const { location } = await client.submit(page, '/sign-in/link')
    const form = await client.get((await client.get(location!)).location!)
    const changed = await client.submit(form, '/account/password', { new_password: 'my own password' })
    expect(changed).toMatchObject({ status: 303, location: '/' })
    expect(await signIn(test, person.username, 'my own password')).toBeDefined()
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
    const refused = await tessera('user', 'sign-in-link', person.username)
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('suspended or banned') })
  })

  it('replaces the password alone: a second factor is still asked', async () => {
    const person = await makePerson(test)
    test.clock.advance(Date.now() - test.clock.now().getTime())
    const client = await person.signIn()
    const setUp = await client.get('/account/second-factor')
    const secret = /<code>([A-Z2-7 ]+)</.exec(setUp.body)![1]!.replaceAll(' ', '')
    const codeNow = () => totpCode(secret, stepAt(test.clock.now()))
    await client.submit(setUp, '/account/second-factor', { code: codeNow() })
    const { url } = await told('user', 'sign-in-link', person.username)
    const visitor = browser(test)
    const page = await visitor.get(String(url).replace(test.url, ''))
    const asked = await visitor.submit(page, '/sign-in/link')
    expect(asked).toMatchObject({ status: 303, location: '/sign-in/second-factor' })
    expect((await visitor.get('/account')).status).toBe(303)

    test.clock.advance(30_000)
    const step = await visitor.get('/sign-in/second-factor')
    expect((await visitor.submit(step, '/sign-in/second-factor', { code: codeNow() })).location).toBe('/')
    const sessions = test.db.selectFrom('sessions').where('user_id', '=', person.id).orderBy('id')
    expect((await sessions.select('amr').execute()).at(-1)).toEqual({ amr: ['otp'] })

    // The phone and the recovery codes are lost, and there is no administrator.
    await told('user', 'reset-second-factor', person.username, '--reason', 'Lost the phone')
    const again = await told('user', 'sign-in-link', person.username)
    const helped = browser(test)
    const link = await helped.get(String(again.url).replace(test.url, ''))
    expect((await helped.submit(link, '/sign-in/link')).location).toBe('/')
    expect(await tessera('user', 'reset-second-factor', person.username)).toMatchObject({ code: 1 })
    expect(await audited('account.second_factor.reset')).toMatchObject([{ actor_id: null }])
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
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('no administrator') })
    await told('payment-app', 'suspend', merchant.payment_id, '--reason', 'x', '--by', root)
    const row = await test.db
      .selectFrom('payment_apps')
      .where('payment_id', '=', merchant.payment_id)
      .select('status')
      .executeTakeFirst()
    expect(row?.status).toBe('suspended')
  })

  it('have an access key revoked that somebody found', async () => {
    const { payment_id, owner } = await makeMerchant(test)
    const made = await createAccessKey(
      test.deps,
      payment_id,
      { name: 'Found', scopes: ['orders:read'], days: 1, allowed_addresses: [] },
      { user_id: owner.id, ip: '203.0.113.9' },
    )
    const { client_id } = made as AccessKeyCredentials
    expect(await told('keys', 'access', 'revoke', client_id)).toEqual({ client_id, payment_id })
    expect(await rowOf(test, 'access_keys', { public_id: client_id })).toMatchObject({
      revoked_at: expect.any(Date),
    })
    expect(await tessera('keys', 'access', 'revoke', client_id)).toMatchObject({ code: 1 })
    expect(await audited('payment_app.revoke_access_key')).toMatchObject([
      { actor_id: null, subject: payment_id },
    ])
  })

  it('have a link stopped, and allowed again', async () => {
    const { slug } = await makeLink(test, await makeMerchant(test))
    const state = async () => (await rowOf(test, 'links', { slug })).state
    await told('links', 'stop', slug, '--reason', 'A copy of another shop', '--by', root)
    expect(await state()).toBe('stopped')
    expect(await tessera('links', 'stop', slug, '--reason', 'Again', '--by', root)).toMatchObject({ code: 1 })
    await told('links', 'allow', slug, '--by', root)
    expect(await state()).toBe('paused')
    expect(await tessera('links', 'stop', 'nowhere000', '--reason', 'x', '--by', root)).toMatchObject({
      code: 1,
    })
  })

  it('get the right to mandates, lose it, and have mandates ended', async () => {
    const merchant = await makeMerchant(test)
    const { payment_id } = merchant
    const by = ['--by', root]
    await switchMandates(test)
    const actor = { user_id: merchant.owner.id, ip: '203.0.113.7' }
    await askMandateRight(test.deps, payment_id, 'Subscriptions of a test', actor)
    const right = async () => {
      const listed = (await told('mandate', 'rights')) as unknown as { payment_id: string; right: string }[]
      return listed.find((app) => app.payment_id === payment_id)?.right
    }
    expect(await right()).toBe('asked')
    for (const max of ['0', '1.5', 'all'])
      expect(await tessera('mandate', 'grant', payment_id, '--daily-max', max, ...by)).toMatchObject({
        code: 2,
        err: expect.stringContaining('--daily-max'),
      })
    await told('mandate', 'refuse', payment_id, '--reason', 'Not yet', ...by)
    expect(await right()).toBe('refused')
    expect(await tessera('mandate', 'grant', payment_id, '--daily-max', '900', ...by)).toMatchObject({
      code: 1,
    })
    await askMandateRight(test.deps, payment_id, 'Subscriptions of a test', actor)
    await told('mandate', 'grant', payment_id, '--daily-max', '900', ...by)
    expect(await right()).toBe('granted')
    const mandate_id = await makeMandate(test, merchant, await makePerson(test))
    expect(await told('mandate', 'end', mandate_id, '--reason', 'Fraud', ...by)).toEqual({
      mandate_id,
      status: 'ended',
    })
    await told('mandate', 'withdraw', payment_id, '--reason', 'Complaints', ...by)
    expect(await right()).toBe('withdrawn')
    expect(await tessera('mandate', 'end', 'nope', '--reason', 'x', ...by)).toMatchObject({ code: 1 })
  })

  it('are approved as they are at that moment, waiting or changed since', async () => {
    const merchant = await makeMerchant(test, { approved: false })
    for (const name of ['Renamed while it waited', 'Renamed in use']) {
      await setRows(
        test,
        'payment_apps',
        { payment_id: merchant.payment_id },
        { name, updated_at: test.clock.now() },
      )
      const { out } = await tessera('payment-app', 'list')
      const state = name.includes('waited') ? 'pending' : 'changed'
      expect(out.match(new RegExp(`^${merchant.payment_id}.*$`, 'gm'))).toEqual([
        expect.stringMatching(`  ${state}    ${name} `),
      ])
      await told('payment-app', 'approve', merchant.payment_id, '--by', root)
      const row = await test.db
        .selectFrom('payment_apps')
        .where('payment_id', '=', merchant.payment_id)
        .select(['name', 'status', 'unreviewed_change_at'])
        .executeTakeFirst()
      expect(row).toEqual({ name, status: 'approved', unreviewed_change_at: null })
    }
  })

  it('get a new client secret, told once', async () => {
    const party = await makeParty(test)
    const { client_secret } = await told('app', 'reset-secret', party.client_id, '--by', root)
    expect(client_secret).toMatch(/^[A-Za-z0-9]{48}$/)
    expect(await tessera('app', 'reset-secret', 'nobody', '--by', root)).toMatchObject({ code: 1 })
  })
})

describe('points', () => {
  it('are granted once a key, which then stands for nothing else', async () => {
    const person = await makePerson(test)
    const words = (amount: string, reason = 'prize') =>
      ['points', 'grant', person.username, amount, '--by', root, '--reason', reason, '--key', 'a'] as const
    expect((await told(...words('70'))).is_moved).toBe(true)
    expect((await told(...words('70'))).is_moved).toBe(false)
    const stranger = await makePerson(test)
    const toOther = words('70').map((word) => (word === person.username ? stranger.username : word))
    for (const other of [words('71'), words('70', 'another prize'), toOther])
      expect(await tessera(...other)).toMatchObject({
        code: 1,
        err: expect.stringContaining('something else'),
      })
    expect([await balanceOf(test.db, person.id), await balanceOf(test.db, stranger.id)]).toEqual([70n, 0n])
    expect((await tessera('points', 'grant', person.username, '-1', '--by', root)).code).toBe(2)
  })

  it('are not granted without their entry in the audit log', async () => {
    const person = await makePerson(test)
    const grant = () => tessera('points', 'grant', person.username, '70', '--by', root, '--reason', 'prize')
    await withoutAudit('points.post', async () => expect((await grant()).code).toBe(1))
    expect(await balanceOf(test.db, person.id)).toBe(0n)
    expect((await grant()).code).toBe(0)
    expect((await audited('points.post')).length).toBeGreaterThan(0)
  })

  const file = async (text: string) => {
    await writeFile(join(folder, 'points.csv'), text)
    return join(folder, 'points.csv')
  }
  const imported = async (text: string, ...options: string[]) =>
    tessera('points', 'import', await file(text), ...options)
  const spring = () => ['--by', root, '--reason', 'spring']
  const answer = ({ out }: Outcome) => JSON.parse(out) as Record<string, unknown>

  it('are imported all or not at all, once', async () => {
    const [one, two] = [await makePerson(test), await makePerson(test)]
    const bad = await imported(`\n${one.username},5\r\n\nwhoever,1\n`, '--dry-run')
    expect(bad).toMatchObject({ code: 3, out: expect.stringContaining('line 4: there is no such member') })
    const poor = await imported(`${one.username},5\n\n${two.username},-1\n`, ...spring())
    expect(poor).toMatchObject({
      code: 1,
      err: expect.stringMatching(`^Line 3: ${two.username},-1: .*have that many`),
    })
    expect(await balanceOf(test.db, one.id)).toBe(0n)

    const lines = `${one.username},5\n${two.username},6\n`
    expect(answer(await imported(lines, '--dry-run', '--json'))).toMatchObject({ given: 11, is_moved: false })
    expect(await balanceOf(test.db, one.id)).toBe(0n)
    const entries = (await audited('points.post')).length
    expect(answer(await imported(lines, ...spring(), '--json'))).toMatchObject({ is_moved: true })
    const again = await imported(lines, ...spring())
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining('Nothing moved') })
    expect(answer(await imported(lines, ...spring(), '--json'))).toMatchObject({ is_moved: false })
    const rehearsed = await imported(lines, ...spring(), '--dry-run')
    expect(rehearsed.out).toContain('posted before')
    expect([await balanceOf(test.db, one.id), await balanceOf(test.db, two.id)]).toEqual([5n, 6n])
    expect(await audited('points.post')).toHaveLength(entries + 1)
    // Another reason makes another act, as the help says.
    expect((await imported(lines, '--by', root, '--reason', 'autumn')).out).toContain('Done')
    expect(await balanceOf(test.db, two.id)).toBe(12n)
  })

  it('are imported once under a key, which then stands for nothing else', async () => {
    const [one, two] = [await makePerson(test), await makePerson(test)]
    const [first, second, third] = [`${one.username},5`, `${two.username},6`, `${two.username},7`]
    const keyed = (lines: string[], reason = 'spring', ...options: string[]) =>
      imported(lines.join('\n'), '--by', root, '--reason', reason, '--key', 'spring', ...options)
    expect((await keyed([first, second])).out).toContain('Done')
    expect((await keyed([first, '', second])).out).toContain('Nothing moved')
    for (const other of [[first], [first, second, third], [second, first], [first, third]])
      for (const options of [[], ['--dry-run']])
        expect(await keyed(other, 'spring', ...options)).toMatchObject({
          code: 1,
          err: expect.stringContaining('something else'),
        })
    expect((await keyed([first, second], 'autumn')).code).toBe(1)
    expect([await balanceOf(test.db, one.id), await balanceOf(test.db, two.id)]).toEqual([5n, 6n])
  })

  it('are refused as an empty file, too much, or without a key', async () => {
    for (const text of ['', ' \n\r\n', 'x\n'.repeat(10_001)])
      for (const options of [['--dry-run'], spring()]) expect((await imported(text, ...options)).code).toBe(2)
    expect((await imported('a,1', ...spring(), '--key', ' ')).code).toBe(2)
  })

  it('are judged by a dry run as the import would', async () => {
    const [poor, rich] = [await makePerson(test), await makePerson(test, { points: 10n })]
    const most = '999999999999999'
    const rehearse = async (...lines: string[]) => {
      const { code, out } = await imported(lines.join('\n'), '--dry-run', '--json')
      const { faults } = JSON.parse(out) as { faults: { line: number; fault: string }[] }
      expect(code).toBe(faults.length > 0 ? 3 : 0)
      return faults.map(({ line, fault }) => `${line} ${fault}`)
    }
    // Grants count first, at any line. Then the first line that takes too many points is the fault.
    expect(await rehearse(`${poor.username},-3`, `${poor.username},5`)).toEqual([])
    const lines = [
      `${rich.username},-8`,
      '',
      `${poor.username},-1`,
      `${rich.username},-5`,
      `${rich.username},2`,
    ]
    expect(await rehearse(...lines)).toEqual(['3 insufficient', '4 insufficient'])
    expect((await imported(lines.join('\n'), ...spring())).err).toMatch(/^Line 3: .*\(and so 1 more\)/)
    expect(await rehearse(...Array(10).fill(`${rich.username},${most}`))).toEqual(['10 tooMany'])
    const people = await Promise.all(Array.from({ length: 10 }, () => makePerson(test)))
    expect(await rehearse(...people.map(({ username }) => `${username},${most}`))).toEqual(['10 tooMany'])
    expect(await balanceOf(test.db, rich.id)).toBe(10n)

    // A frozen wallet is adjusted like any other.
    await sql`
      update ledger_accounts set frozen_at = now(), frozen_by = ${rich.id}, frozen_reason = 'x'
      where user_id = ${rich.id}`.execute(test.db)
    const fair = [`${rich.username},-12`, `${poor.username},-3`, `${poor.username},5`, `${rich.username},2`]
    expect(await rehearse(...fair)).toEqual([])
    expect((await imported(fair.join('\n'), ...spring())).out).toContain('Done')
    expect([await balanceOf(test.db, poor.id), await balanceOf(test.db, rich.id)]).toEqual([2n, 0n])
    await expectSoundBooks(test.db)
  })
})

describe('refunds and freezes', () => {
  it('give back a part, then all that is left, once a key', async () => {
    const merchant = await makeMerchant(test)
    const payer = await makePerson(test, { points: 100n })
    const order = await placeOrder(merchant, { amount: '60' })
    await payOrder(test, order, payer)
    const { transaction_id } = order
    // The merchant bears the fee of the second part.
    await told('points', 'grant', merchant.owner.username, '5', '--by', root, '--reason', 'Fee')
    const because = [transaction_id, '--by', root, '--reason', 'Broken']
    const refund = (...more: string[]) => told('refund', ...because, ...more)
    expect(await refund('--amount', '10', '--key', 'a')).toEqual({
      transaction_id,
      amount: 10,
      is_moved: true,
    })
    expect(await refund('--amount', '10', '--key', 'a')).toMatchObject({ is_moved: false })
    const { out } = await tessera('refund', ...because, '--amount', '1', '--key', 'one')
    expect(out).toBe(`The payer of ${transaction_id} has 1 point back.\n`)
    expect(await refund('--keep-fee', '--key', 'b')).toMatchObject({ amount: 49, is_moved: true })
    expect(await refund('--keep-fee', '--key', 'b')).toMatchObject({ amount: 0, is_moved: false })
    const why = 'The whole order was refunded before\n'
    for (const key of [[], ['--key', 'c']])
      expect(await tessera('refund', ...because, ...key)).toEqual({ code: 1, out: '', err: why })
    expect(await balanceOf(test.db, payer.id)).toBe(100n)
    const actors = (await audited('order.refund')).map(({ subject, actor_id }) => [
      subject,
      actor_id !== null,
    ])
    expect(actors).toEqual(Array.from({ length: 3 }, () => [transaction_id, true]))
    await expectSoundBooks(test.db)
  })

  it('stop a wallet and an order, and let them go', async () => {
    const merchant = await makeMerchant(test)
    const payer = await makePerson(test, { points: 5n })
    const { transaction_id } = await placeOrder(merchant)
    const because = ['--by', root, '--reason', 'Looked into']
    const isFrozen = async () => [
      await rowOf(test, 'ledger_accounts', { user_id: payer.id }, ['frozen_reason']),
      await rowOf(test, 'orders', { transaction_id }, ['frozen_reason']),
    ]
    for (const [act, frozen_reason] of [
      ['freeze', 'Looked into'],
      ['unfreeze', null],
    ] as const) {
      await told(act, 'wallet', payer.username, ...because)
      await told(act, 'order', transaction_id, ...because)
      expect(await tessera(act, 'order', transaction_id, ...because)).toMatchObject({ code: 1 })
      expect(await isFrozen()).toEqual([{ frozen_reason }, { frozen_reason }])
      expect(await told('user', 'show', payer.username)).toMatchObject({ frozen_reason })
    }
  })
})

describe('notifications', () => {
  it('that failed are listed without their signed addresses, and begin anew', async () => {
    const world = await startNotifyWorld()
    const { DATABASE_URL = '', APP_SECRET = '' } = world.test.deps.config
    const there = { DATABASE_URL, APP_SECRET }
    const admin = await makePerson(world.test, { is_admin: true })
    world.receiver.answer = (_request, response) => void response.writeHead(500).end()
    const one = await world.payOne(`${world.receiver.url}/gone`)
    await world.told([one])
    await setRows(world.test, 'notifications', {}, { status: 'failed', next_attempt_at: null })

    const listed = await tesseraAt(there, 'notifications', 'list', '--status', 'failed', '--json')
    expect(JSON.parse(listed.out)).toMatchObject([{ transaction_id: one, log: [{ response_status: 500 }] }])
    expect(listed.out).not.toContain('sign=')
    await setRows(
      world.test,
      'notification_attempts',
      {},
      { detail: '\u001b[31mPaid\u0007\ntxn_false  delivered' },
    )
    const shown = await tesseraAt(there, 'notifications', 'list', '--status', 'failed')
    expect(shown.out.trimEnd().split('\n')).toHaveLength(1)
    expect(shown.out).toContain(String.raw`\u001b[31mPaid\u0007\u000atxn_false`)
    expect((await tesseraAt(there, 'notifications', 'list', '--status', 'lost')).code).toBe(2)

    const by = ['--by', admin.username, '--json']
    const since = '2025-01-01T00:00:00Z'
    const again = await tesseraAt(there, 'notifications', 'redeliver-failed', since, ...by)
    expect(JSON.parse(again.out)).toEqual({ count: 1 })
    expect((await tesseraAt(there, 'notifications', 'redeliver', one, ...by)).code).toBe(0)
    expect((await tesseraAt(there, 'notifications', 'redeliver', 'txn_none', ...by)).code).toBe(1)
    expect((await tesseraAt(there, 'notifications', 'redeliver-failed', 'yesterday', ...by)).code).toBe(2)
    const status = await world.test.db.selectFrom('notifications').select('status').execute()
    expect(status).toEqual([{ status: 'due' }])
    await world.close()
  })
})

describe('an archive', () => {
  let merchant: Merchant
  let testing: Merchant
  let friend: Person
  let path: string
  let written: Record<string, unknown>
  beforeAll(async () => {
    merchant = await makeMerchant(test)
    testing = await makeMerchant(test, { twinOf: merchant })
    friend = await makePerson(test)
    const { body } = await merchant.process({ amount: '120', description: 'A thing', order_id: 'one' })
    const client = await (await makePerson(test, { points: 500n })).signIn()
    const payPath = `/payment/pay/${body.transaction_id}`
    expect((await client.submit(await client.get(payPath), payPath)).status).toBe(303)
    // Some programs take these characters for the end of a line.
    await test.db.updateTable('users').set({ name: 'A\u2028B\rC' }).where('id', '=', friend.id).execute()
    path = join(folder, 'all.gz')
    const left = 'of a command that was killed'
    await writeFile(`${path}.part`, left.repeat(10_000), { mode: 0o644 })
    written = await told('export', path)
  })

  it('fills a new database with everything, which the books then prove', async () => {
    expect(await filesLike('all.gz')).toEqual(['all.gz'])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    const bytes = await readFile(path)
    expect(await tessera('export', path)).toEqual({
      code: 1,
      out: '',
      err: `${path} exists already, and is not replaced\n`,
    })
    expect(await readFile(path)).toEqual(bytes)

    const fresh = await createDatabase()
    const there = { ...environment(), DATABASE_URL: fresh.url }
    expect(await told('import', path).catch(String)).toContain('not empty')
    const read = await tesseraAt(there, 'import', path, '--json')
    expect(read).toMatchObject({ code: 0 })
    expect(JSON.parse(read.out).tables).toEqual(written.tables)

    const other = openDatabase(fresh.url, { max: 2, onBroken: () => {} })
    try {
      const rowsOf = async (db: Db, table: string) =>
        (
          await sql<{ row: string }>`select t::text as row from ${sql.table(table)} as t order by 1`.execute(
            db,
          )
        ).rows
      const names = (written.tables as { name: string }[]).map(({ name }) => name)
      // The process writes its counts a second later, and the sealing starts its search again.
      for (const name of names.filter((each) => each !== 'limit_counters' && each !== 'journal_sealing'))
        expect(await rowsOf(other, name), name).toEqual(await rowsOf(test.db, name))
      await expectSoundBooks(other)
      const { seen_before } = await other.selectFrom('journal_sealing').selectAll().executeTakeFirstOrThrow()
      expect(seen_before).toBeNull()
      // IDs and pids continue after the old ones.
      const deps = { ...test.deps, db: other }
      const { id: applicant_id } = await createAccount(deps, { username: 'newcomer', trust_level: 1 })
      expect(applicant_id).toBeGreaterThan(friend.id)
      const made = { applicant_id, name: 'New', description: '', callback_url: merchant.callbackUrl }
      expect((await applyForPaymentApp(deps, made)).pid).toBe(merchant.pid + 1n)
      expect((await createTestApp(deps, { ...made, ip: '127.0.0.1' })).pid).toBe(testing.pid + 1n)
    } finally {
      await other.destroy()
      await fresh.drop()
    }
  })

  it('has its name only when whole: a failed one leaves nothing', async () => {
    const path = join(folder, 'half.gz')
    await test.db.transaction().execute(async (tx) => {
      await sql`lock table users in access exclusive mode`.execute(tx)
      const failing = tessera('export', path)
      await untilBlocked(tx)
      expect(await filesLike('half.gz')).toEqual(['half.gz.part'])
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where pg_backend_pid() = any (pg_blocking_pids(pid))`.execute(tx)
      expect(await failing).toEqual({
        code: 1,
        out: '',
        err: expect.stringMatching(/^terminating [^\n]*\n$/),
      })
      expect(await filesLike('half.gz')).toEqual([])

      const child = start('export', path)
      const ended = once(child, 'exit')
      await untilBlocked(tx)
      expect(await filesLike('half.gz')).toEqual(['half.gz.part'])
      child.kill('SIGINT')
      expect(await ended).toEqual([null, 'SIGINT'])
      expect(await filesLike('half.gz')).toEqual([])
    })
  })

  it('and every such file is written once, despite other writers', async () => {
    const path = join(folder, 'once')
    const write = (text: string, meanwhile = async () => {}) =>
      writeNewFile(path, async (file) => {
        await file.writeFile(text)
        await meanwhile()
      })
    const refused = (message: string) => ({ code: 'conflict', message: expect.stringContaining(message) })
    await expect(write('one', () => write('two'))).rejects.toMatchObject(
      refused('Another command has started'),
    )
    expect(await readFile(path, 'utf8')).toBe('two')
    await rm(path)
    await expect(write('one', () => writeFile(path, 'another’s'))).rejects.toMatchObject(refused('exists'))
    expect(await readFile(path, 'utf8')).toBe('another’s')
    expect(await filesLike('once')).toEqual(['once'])
  })

  describe('that is refused changes nothing', () => {
    let whole: Buffer
    let lines: string[]
    /** `empty` has no tables. `migrated` has the tables without rows. */
    let empty: Awaited<ReturnType<typeof createDatabase>>
    let migrated: typeof empty
    beforeAll(async () => {
      whole = await readFile(path)
      lines = gunzipSync(whole).toString().split('\n')
      empty = await createDatabase('template1')
      migrated = await createDatabase()
    })
    afterAll(async () => {
      await empty.drop()
      await migrated.drop()
    })

    /** Its tables, and the rows of those that every installation fills first. */
    async function contentsOf(url: string) {
      const db = openDatabase(url, { max: 1, onBroken: () => {} })
      const tables = (await db.introspection.getTables()).map(({ name }) => name)
      const counts: unknown[] = []
      for (const name of ['users', 'signing_keys'].filter((each) => tables.includes(each)))
        counts.push((await sql`select count(*) from ${sql.table(name)}`.execute(db)).rows)
      await db.destroy()
      return { tables, counts }
    }

    async function expectRefused(
      url: string,
      bytes: Buffer | string,
      { code = 1, err }: { code?: number; err: string },
      env: Record<string, string> = environment(),
    ) {
      const path = join(folder, 'bad.gz')
      await writeFile(path, bytes)
      const before = await contentsOf(url)
      const outcome = await tesseraAt({ ...env, DATABASE_URL: url }, 'import', path)
      expect(outcome).toEqual({ code, out: '', err: expect.stringContaining(err) })
      // The error is a sentence without a stack.
      expect(outcome.err).not.toContain('    at ')
      expect(await contentsOf(url)).toEqual(before)
    }

    it('when it is none or newer, before the database is read', async () => {
      const none = 'no archive of Tessera'
      await expectRefused(empty.url, 'no gzip', { err: none })
      for (const text of ['', 'nonsense', '{}', lines[0]!.replace('"migrations"', '"migrated"')])
        await expectRefused(empty.url, gzipSync(text), { err: `This file is ${none}` })
      const withHeader = (header: string) => gzipSync([header, ...lines.slice(1)].join('\n'))
      const first = '"010-accounts.sql",'
      const newer = lines[0]!.replace(first, `${first}"999-x.sql",`)
      await expectRefused(empty.url, withHeader(newer), {
        err: 'of a newer version: it has the migration 999-x.sql',
      })
      const nowhere = await tesseraAt({ ...environment(), DATABASE_URL: empty.url }, 'import', 'nowhere.gz')
      expect(nowhere).toMatchObject({ code: 1, err: expect.stringMatching(/^ENOENT[^\n]*\n$/) })
    })

    it('when it was cut short, or changed on the way', async () => {
      await expectRefused(migrated.url, whole.subarray(0, -20), { err: 'cut short: unexpected end of file' })
      const shorter = gzipSync(lines.slice(0, -2).join('\n'))
      await expectRefused(migrated.url, shorter, { err: 'The archive is not whole' })
      // A changed entry makes its journal unbalanced.
      const changed = lines.map((line) =>
        line.startsWith('entries\t') ? line.replace('"amount": -120', '"amount": -121') : line,
      )
      await expectRefused(migrated.url, gzipSync(changed.join('\n')), { err: 'sum' })
    })

    it('when the database is not new: other tables, or rows', async () => {
      const occupied = (why: string) => ({
        err: `The database is not empty: ${why}. Import into a new one\n`,
      })
      await expectRefused(test.deps.config.DATABASE_URL!, whole, occupied('users has rows'))
      for (const { url } of [empty, migrated]) {
        const db = openDatabase(url, { max: 1, onBroken: () => {} })
        await sql`create table invoices (number text)`.execute(db)
        await expectRefused(
          url,
          whole,
          occupied('it holds a table invoices, which does not belong to Tessera'),
        )
        await sql`drop table invoices`.execute(db)
        await db.destroy()
      }
      // Its tables may be of a newer version than the archive.
      const { migrations } = JSON.parse(lines[0]!) as { migrations: string[] }
      const older = [lines[0]!.replace(`,"${migrations.at(-1)}"`, ''), ...lines.slice(1)].join('\n')
      await expectRefused(migrated.url, gzipSync(older), {
        err: `of an older version: it lacks ${migrations.at(-1)}, which this database has`,
      })
      // Another program may have tables with the same names.
      const db = openDatabase(empty.url, { max: 1, onBroken: () => {} })
      await sql`create table schema_migrations (version text)`.execute(db)
      await expectRefused(
        empty.url,
        whole,
        occupied('it holds a table schema_migrations, which does not belong to Tessera'),
      )
      await sql`drop table schema_migrations`.execute(db)
      await db.destroy()
    })

    it('when APP_SECRET is not that of its origin, or there is none', async () => {
      const another = { APP_SECRET: 'another secret of the tests, which guards nothing' }
      const err =
        'APP_SECRET is not the one under which this archive was encrypted: set APP_SECRET to that one'
      await expectRefused(empty.url, whole, { code: 2, err }, another)
      const DATA_DIR = join(folder, 'nothing')
      const unset = {
        code: 2,
        err: 'this archive is encrypted, but APP_SECRET is not set and',
      }
      await expectRefused(migrated.url, whole, unset, { DATA_DIR })
      expect(existsSync(DATA_DIR)).toBe(false)
    })

    it('and the same database takes the right one', async () => {
      for (const { url } of [empty, migrated])
        expect(await tesseraAt({ ...environment(), DATABASE_URL: url }, 'import', path)).toMatchObject({
          code: 0,
          err: '',
        })
    })
  })
})

describe('the rest', () => {
  it('sets a setting alone, also one for two administrators, and logs it', async () => {
    const set = (value: string) => told('setting', 'set', 'second_approver', value)
    expect(await set('on')).toEqual({ name: 'second_approver', value: 'on' })
    await set('off')
    const { value, updated_by } = await rowOf(test, 'site_settings', { name: 'second_approver' }, [
      'value',
      'updated_by',
    ])
    expect([value, updated_by]).toEqual(['off', null])
    const trail = await rowsOf(test, 'audit_log', { subject: 'second_approver' }, [
      'actor_id',
      'detail',
      'ip',
    ])
    expect(trail.at(-1)).toEqual({
      actor_id: null,
      detail: { before: 'on', after: 'off' },
      ip: 'command line',
    })
    for (const words of [
      ['second_approver', 'maybe'],
      ['no_such', 'on'],
    ])
      expect(await tessera('setting', 'set', ...words)).toMatchObject({ code: 2 })
  })

  it('lists settings, and prints one', async () => {
    const { code, out } = await tessera('setting', 'list')
    expect(code).toBe(0)
    expect(out.split('\n')).toContain('  order_expiry_minutes = 30')
    await told('setting', 'set', 'order_expiry_minutes', '45')
    expect((await tessera('setting', 'list')).out.split('\n')).toContain('* order_expiry_minutes = 45')
    expect(await tessera('setting', 'get', 'order_expiry_minutes')).toEqual({ code: 0, out: '45\n', err: '' })
    expect(await told('setting', 'get', 'order_expiry_minutes')).toMatchObject({
      default: '30',
      is_default: false,
    })
    await told('setting', 'set', 'order_expiry_minutes', '30')
    expect(await tessera('setting', 'get', 'no_such')).toMatchObject({ code: 2 })
  })

  it('lists and shows members, and the acts of the audit log', async () => {
    const { username } = await makePerson(test, { points: 12n })
    const found = await tessera('user', 'list', '--search', username.slice(1))
    expect(found.out).toMatch(new RegExp(`^${username} `, 'm'))
    const admins = JSON.parse((await tessera('user', 'list', '--status', 'admins', '--json')).out) as Listed[]
    expect(admins.map((each) => each.username)).toContain(root)
    expect(admins.every(({ is_admin }) => is_admin)).toBe(true)
    expect(await told('user', 'show', username)).toMatchObject({ username, balance: 12, is_admin: false })
    const shown = (await tessera('user', 'show', root)).out
    for (const line of [/^is_admin +yes$/m, /^is_suspended_or_banned +no$/m]) expect(shown).toMatch(line)

    await told('points', 'grant', username, '1', '--by', root, '--reason', 'Welcome', '--key', 'shown')
    const acts = await tessera('audit', '--action', 'points', '--actor', `@${root}`, '--limit', '1')
    expect(acts.out).toMatch(new RegExp(`  ${root}  points\\.post  command line:shown  .*Welcome`))
    expect(acts.out.trimEnd().split('\n')).toHaveLength(1)
    expect(await tessera('audit', '--until', '2020-01-01T00:00:00Z')).toEqual({ code: 0, out: '\n', err: '' })
    for (const words of [
      ['audit', '--since', 'yesterday'],
      ['audit', '--limit', '0'],
      ['user', 'list', '--status', 'banned'],
    ])
      expect(await tessera(...words), words.join(' ')).toMatchObject({ code: 2 })
  })

  it('rotates keys, and finds that the address is not served', async () => {
    expect((await told('keys', 'rotate')).next).toHaveLength(2)
    const nowhere = async () => `http://127.0.0.1:${await freePort()}`
    const silent = { PUBLIC_URL: await nowhere(), OTEL_EXPORTER_OTLP_ENDPOINT: await nowhere() }
    const { code, out } = await tesseraAt({ ...environment(), ...silent }, 'doctor', '--json')
    const findings = JSON.parse(out) as { check: string; fault?: string }[]
    expect(code).toBe(3)
    expect(findings.filter(({ fault }) => fault !== undefined).map(({ check }) => check)).toEqual([
      // The Postgres of the tests runs without fsync.
      'database writes',
      'public address',
      'payment address',
      'traces',
    ])
  })

  it('refuses another APP_SECRET than the database’s, and makes no new one', async () => {
    const kids = () =>
      test.db.selectFrom('signing_keys').orderBy('id').select(['kid', 'published_until']).execute()
    const before = await kids()
    const DATA_DIR = join(folder, 'elsewhere')
    const { DATABASE_URL } = environment()
    for (const words of [
      ['keys', 'rotate'],
      ['keys', 'rotate', '--now'],
      ['user', 'create', 'stray'],
    ]) {
      const wrong = { DATABASE_URL, APP_SECRET: 'another secret of the tests, which guards nothing' }
      expect(await tesseraAt(wrong, ...words)).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining(
          'APP_SECRET is not the one under which this database was encrypted: set',
        ),
      })
      const none = await tesseraAt({ DATABASE_URL, DATA_DIR }, ...words)
      expect(none).toMatchObject({ code: 2, err: expect.stringContaining('APP_SECRET is not set') })
    }
    expect(existsSync(DATA_DIR)).toBe(false)
    // The secret of another service.
    await mkdir(DATA_DIR)
    await writeFile(join(DATA_DIR, 'app-secret'), 'another secret of the tests, which guards nothing')
    const kept = await tesseraAt({ DATABASE_URL, DATA_DIR }, 'keys', 'rotate')
    expect(kept).toMatchObject({
      code: 2,
      err: expect.stringContaining('app-secret is not the one under which'),
    })
    expect(await kids()).toEqual(before)
    const stray = test.db.selectFrom('users').where('username', '=', 'stray').select('id')
    expect(await stray.execute()).toEqual([])
  })

  it('says what an upgrade would apply, applies it, and then nothing more', async () => {
    const { url, drop } = await createDatabase('template1')
    const migrate = async (...flags: string[]) => {
      const { code, out } = await tesseraAt(
        { ...environment(), DATABASE_URL: url },
        'migrate',
        '--json',
        ...flags,
      )
      expect(code).toBe(0)
      return JSON.parse(out)
    }
    const { migrations } = await migrate('--dry-run')
    expect(migrations[0]).toBe('010-accounts.sql')
    expect(await migrate('--dry-run')).toEqual({ migrations, is_applied: false })
    expect(await migrate()).toEqual({ migrations, is_applied: true })
    expect(await migrate('--dry-run')).toEqual({ migrations: [], is_applied: false })
    await drop()
  })

  it('finds that the books did not pass', async () => {
    const proof = { started_at: new Date(), finished_at: new Date(), is_sound: false, proof: '{}' }
    await test.db.insertInto('books_proofs').values(proof).execute()
    const { out } = await tessera('doctor', '--json')
    await test.db.deleteFrom('books_proofs').execute()
    const findings = JSON.parse(out) as { check: string; fault?: string }[]
    expect(findings.find(({ check }) => check === 'books')?.fault).toMatch(/^The books did not pass at/)
  })

  it('draws how far it is, or counts where nobody knows', () => {
    expect(progressLine(300, 1_000)).toBe(`[${'='.repeat(9)}${'-'.repeat(21)}]  30 %  300 of 1000`)
    expect(progressLine(1, 1)).toBe(`[${'='.repeat(30)}] 100 %  1 of 1`)
    expect(progressLine(7, 0)).toBe('7')
  })

  it('is a program, whose exit code says how it went', async () => {
    await writeFile(join(folder, 'unknown.csv'), 'nobody,1')
    const words = ['points', 'import', 'unknown.csv', '--dry-run', '--json']
    const child = start(...words)
    const [[code], out, err] = await Promise.all([
      once(child, 'exit'),
      text(child.stdout),
      text(child.stderr),
    ])
    expect({ code, err }).toEqual({ code: 3, err: '' })
    expect(JSON.parse(out)).toMatchObject({ faults: [{ line: 1 }] })
  })

  it('exits with 1 for what does not exist, in every command', async () => {
    const by = ['--by', root]
    const reason = ['--reason', 'x']
    const member = 'There is no member nope'
    const refusals: [words: string[], why: string][] = [
      [['user', 'grant-admin', 'nope'], member],
      [['user', 'reset-password', 'nope'], member],
      [['user', 'sign-in-link', 'nope'], member],
      [['user', 'export', 'nope'], member],
      [['user', 'anonymise', 'nope', ...reason], member],
      [['points', 'grant', 'nope', '1', ...by, ...reason], member],
      [['user', 'show', 'nope'], member],
      [['freeze', 'wallet', 'nope', ...by, ...reason], member],
      [['refund', 'nope', ...by, ...reason], 'There is no order nope'],
      [['payment-app', 'approve', 'nope', '--by', 'nope'], member],
      [['payment-app', 'approve', 'nope', ...by], 'There is no application nope'],
    ]
    for (const [words, why] of refusals)
      expect(await tessera(...words), words.join(' ')).toEqual({ code: 1, out: '', err: `${why}\n` })
  })

  it('says which Node it needs, before an older one reads TypeScript', async () => {
    // Stands for an older Node: the version is all that the check reads.
    const older = 'Object.defineProperty(process, "versions", { value: { node: "20.11.1" } })'
    for (const program of ['src/start.js', 'src/cli/tessera.js']) {
      const words = ['--import', `data:text/javascript,${encodeURIComponent(older)}`, program]
      const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
      expect({ status, stdout, stderr }).toEqual({
        status: 2,
        stdout: '',
        stderr: 'Tessera needs Node 24.7 or newer. This is Node 20.11.1.\n',
      })
    }
  })

  it('tells its version without a configuration', async () => {
    for (const env of [environment(), { PORT: 'x' }])
      expect(await tesseraAt(env, '--version')).toEqual({ code: 0, out: `${VERSION}\n`, err: '' })
    expect((await tessera('--help')).out).toContain('tessera --version')
  })

  it('explains itself, and what was typed wrong', async () => {
    const help = (await tessera('--help')).out
    expect(help).toContain('On 1 and 2, {"error": "…"} goes to stderr')
    expect(help).toContain('points grant <username> <amount> --by … --reason … [--key …]')
    expect(help).toContain('payment-app approve <payment_id> --by … [--reason …]')
    expect(help).toContain('payment-app reject <payment_id> --by … --reason …')
    expect(await tessera('payment-app', 'reject', 'pay_x', '--by', root)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--reason is required'),
    })
    for (const words of [['nonsense'], ['user', 'create'], ['user', 'create', 'x', '--nonsense']])
      expect((await tessera(...words)).code).toBe(2)
    const asJson = await tessera('nonsense', '--json')
    expect(JSON.parse(asJson.err)).toEqual({ error: expect.stringContaining('no such command') })
  })
})
