/**
 * The operators' command changes APP_SECRET beside running processes. It is killed in the middle and run again.
 * Afterwards the new secret alone opens everything, and the old seals still hold.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { mailContext } from '../../src/accounts/people/email.ts'
import { factorContext } from '../../src/accounts/security/second-factor.ts'
import { proveBooks } from '../../src/ledger/books.ts'
import { ENCRYPTED } from '../../src/operations/secret-rotation.ts'
import { addCodes, takeBackCodes } from '../../src/payment/links/codes.ts'
import { currentKey } from '../../src/payment/signing/keys.ts'
import { refusedContext, refusedRequests } from '../../src/payment/signing/refused-requests.ts'
import { loadConfig } from '../../src/platform/config.ts'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { serve } from '../../src/serve.ts'
import { sealAll } from '../harness/books.ts'
import { makePerson, signIn } from '../harness/cast.ts'
import { freePort } from '../harness/free-port.ts'
import { APP_SECRET as OLD } from '../harness/global-setup.ts'
import { anotherProcess, browser, type TestApp, useTestApp } from '../harness/harness.ts'
import { makeLink, ownerOf } from '../harness/links.ts'
import { makeMerchant, merchantSign, post } from '../harness/merchant.ts'
import { tesseraAt } from '../harness/operator.ts'
import { rowOf, setRows } from '../harness/rows.ts'
import { ROOT } from '../harness/server-process.ts'
import { until } from '../harness/waiting.ts'

const NEW = 'a new secret of the tests, which guards nothing at all'
const STRANGE = 'a secret that nobody ever used for anything in here'
/** More than two batches. */
const MAILS = 130
const RECIPIENT = 'somebody@example.org'

/** A process with both secrets, which all processes have during the change. */

const test = await useTestApp()
const both = await anotherProcess(test, { secrets: makeSecrets(NEW, OLD) })
const merchant = await makeMerchant(test)
const { id, username, password } = await makePerson(test, { points: 1_000n })
const member = { id, browser: await signIn(test, username, password) }
const { secrets, db } = test.deps
const factor = secrets.encrypt(factorContext(id), 'the secret of a phone')
await db
  .insertInto('second_factors')
  .values({ user_id: id, secret_encrypted: factor, last_step: 0n })
  .execute()
await db
  .insertInto('outgoing_mails')
  .values(
    Array.from({ length: MAILS }, (_, index) => ({
      user_id: id,
      recipient: RECIPIENT,
      kind: 'test',
      subject: 'A mail',
      text_encrypted: secrets.encrypt(mailContext(RECIPIENT), `text ${index}`),
      next_attempt_at: test.clock.now(),
    })),
  )
  .execute()
const link = await makeLink(test, merchant, { codes: ['one', 'two'] })
await sealAll(test.deps)
afterAll(async () => {
  await both.close()
})

function command(env: Record<string, string>, ...words: string[]): ChildProcess {
  return spawn(process.execPath, ['src/cli/tessera.js', ...words, '--json'], {
    cwd: ROOT,
    env: {
      DATABASE_URL: test.deps.config.DATABASE_URL!,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...env,
    },
  })
}

/** Runs the command in this process, because starting a process takes most of its time. */
async function run(env: Record<string, string>, ...words: string[]) {
  const environment = { DATABASE_URL: test.deps.config.DATABASE_URL!, ...env }
  const { code, out, err } = await tesseraAt(environment, ...words, '--json')
  return { code, said: JSON.parse(out + err) }
}

const rotate = (env: Record<string, string>) => run(env, 'keys', 'rotate', '--app-secret')

/** Ciphertexts that are not under the new secret, by table. */
async function waiting(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { table, column } of ENCRYPTED) {
    const { rows } = await sql<{ count: bigint }>`
      select count(*) as count from ${sql.table(table)}
      where ${sql.ref(column)} is not null
        and substring(${sql.ref(column)} from 2 for 4) <> ${makeSecrets(NEW).encryptionKeyId}`.execute(
      test.db,
    )
    if (rows[0]!.count > 0n) counts[table] = Number(rows[0]!.count)
  }
  return counts
}

/** Sends a signed request of the merchant to this process. */
function initiate(at: TestApp, order_id: string) {
  const fields = { amount: '100', description: 'Tea', order_id }
  const signature = merchantSign(merchant.token, fields)
  return post(at, `/payment/pay/${merchant.payment_id}/process`, { ...fields, signature })
}

describe('while APP_SECRET is changed', () => {
  it('no encrypted column of the database is left out', async () => {
    const { rows } = await sql<{ name: string }>`
      select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and data_type = 'bytea' and column_name like '%\_encrypted'
      order by 1`.execute(test.db)
    const listed = ENCRYPTED.map(({ table, column }) => `${table}.${column}`)
    expect(rows.map(({ name }) => name)).toEqual(listed.sort())
  })

  it('a process with both reads either’s values, also through a browser', async () => {
    expect((await initiate(both, 'read-by-both')).status).toBe(200)
    const page = await member.browser.get('/account')
    expect(page.status).toBe(200)
    const elsewhere = browser(both)
    for (const [name, value] of member.browser.cookies) elsewhere.cookies.set(name, value)
    const field = { form_token: /name="form_token" value="([^"]+)"/.exec(page.body)![1]! }
    // The old process made the form, and the new one receives it.
    expect((await elsewhere.post('/account/sessions/end', { ...field, handle: 'others' })).status).not.toBe(
      403,
    )
    const alone = await anotherProcess(test, { secrets: makeSecrets(STRANGE) })
    const strange = browser(alone)
    for (const [name, value] of member.browser.cookies) strange.cookies.set(name, value)
    expect((await strange.post('/account/sessions/end', { ...field, handle: 'others' })).status).toBe(403)
    await alone.close()
  })

  it('the command wants both, and does nothing with a wrong one', async () => {
    expect(await rotate({ APP_SECRET: NEW })).toMatchObject({ code: 2 })
    const typed = await run(
      { APP_SECRET: NEW, APP_SECRET_OTHER: OLD },
      'keys',
      'rotate',
      '--app-secret',
      '--now',
    )
    expect(typed.code).toBe(2)
    const before = await waiting()
    const { code, said } = await rotate({ APP_SECRET: NEW, APP_SECRET_OTHER: STRANGE })
    expect(code).toBe(2)
    expect(said.error).toContain('APP_SECRET is not the one under which this database was encrypted')
    expect(await waiting()).toEqual(before)
    const { said: findings } = await run({ APP_SECRET: NEW, APP_SECRET_OTHER: OLD }, 'doctor')
    const total = Object.values(before).reduce((sum, count) => sum + count, 0)
    expect(findings.find(({ check }: { check: string }) => check === 'APP_SECRET').fault).toMatch(
      new RegExp(`^${total} stored secrets are encrypted under another APP_SECRET: run tessera keys rotate`),
    )
  })

  it('a process with both knows the codes that the old one added', async () => {
    const act = { slug: link.slug, file: 'one' }
    expect(await addCodes(both.deps, merchant.payment_id, act, ownerOf(merchant))).toMatchObject({ known: 1 })
  })

  it('the command may be killed midway, and continues where it ended', async () => {
    const before = await waiting()
    expect(before['outgoing_mails']).toBe(MAILS)
    const settings = { APP_SECRET: NEW, APP_SECRET_OTHER: OLD }
    const mails = await test.db.selectFrom('outgoing_mails').orderBy('id').select('id').execute()
    await test.db.transaction().execute(async (tx) => {
      // A lock on a mail of the second batch makes the command wait there.
      await tx.selectFrom('outgoing_mails').where('id', '=', mails[70]!.id).select('id').forUpdate().execute()
      const child = command(settings, 'keys', 'rotate', '--app-secret')
      await until(async () => (await waiting())['outgoing_mails'] === MAILS - 50)
      expect((await initiate(both, 'in-the-middle')).status).toBe(200)
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
    expect(await waiting()).toMatchObject({ outgoing_mails: MAILS - 50 })

    const { code, said } = await rotate(settings)
    expect(code).toBe(0)
    expect(said).toMatchObject({
      reencrypted: { signing_keys: 0, payment_app_keys: 0, outgoing_mails: MAILS - 50 },
      unreadable: { signing_keys: 0, outgoing_mails: 0 },
      sealed_to: expect.any(Number),
    })
    expect(await waiting()).toEqual({})
    expect((await rotate(settings)).said.reencrypted).toMatchObject({
      outgoing_mails: 0,
      retired_seal_keys: 0,
    })
  })
})

describe('what neither opens', () => {
  it('stays as it is, and holds up nothing of the rest', async () => {
    const { secrets } = test.deps
    const strange = makeSecrets(STRANGE).encrypt(mailContext(RECIPIENT), 'made by mistake')
    const damaged = secrets.encrypt(mailContext('somebody else'), 'moved here')
    const texts = [strange, damaged, secrets.encrypt(mailContext(RECIPIENT), 'ours')]
    const mail = { user_id: member.id, recipient: RECIPIENT, kind: 'test', subject: 'A mail' }
    const mails = await test.db
      .insertInto('outgoing_mails')
      .values(texts.map((text_encrypted) => ({ ...mail, text_encrypted, next_attempt_at: test.clock.now() })))
      .returning('id')
      .execute()
    const { code, said } = await rotate({ APP_SECRET: NEW, APP_SECRET_OTHER: OLD })
    expect(code).toBe(3)
    expect(said).toMatchObject({ reencrypted: { outgoing_mails: 1 }, unreadable: { outgoing_mails: 2 } })
    const ids = mails.map(({ id }) => id)
    const rows = test.db.selectFrom('outgoing_mails').where('id', 'in', ids).orderBy('id')
    const kept = (await rows.select('text_encrypted').execute()).map(({ text_encrypted }) => text_encrypted)
    expect(kept.slice(0, 2)).toEqual([strange, damaged])
    await test.db.deleteFrom('outgoing_mails').where('id', 'in', ids).execute()
  })

  it('is left out of the requests that a merchant is shown', async () => {
    const app_id = await appId()
    for (const order_id of ['one', 'two'])
      await post(both, `/payment/pay/${merchant.payment_id}/process`, { order_id, signature: 'none' })
    const kept = () => refusedRequests(both.deps, app_id, {}, 10)
    const [newest, ...others] = await kept()
    await setRows(
      test,
      'refused_requests',
      { id: newest!.id },
      { fields_encrypted: makeSecrets(STRANGE).encrypt(refusedContext(app_id), '[]') },
    )
    expect(others.length).toBeGreaterThan(0)
    expect(await kept()).toEqual(others)
    await test.db.deleteFrom('refused_requests').where('id', '=', newest!.id).execute()
  })
})

describe('afterwards, under the new APP_SECRET alone', () => {
  it('everything opens, every session lasts, and the old seals pass', async () => {
    const alone = await anotherProcess(test, { secrets: makeSecrets(NEW) })
    expect((await initiate(alone, 'afterwards')).status).toBe(200)
    // The codes are known by their new fingerprints, and read with the new secret.
    const act = { slug: link.slug, file: 'two\none\nthree' }
    expect(await addCodes(alone.deps, merchant.payment_id, act, ownerOf(merchant))).toMatchObject({
      known: 2,
    })
    const back = { slug: link.slug, count: undefined }
    expect(await takeBackCodes(alone.deps, merchant.payment_id, back, ownerOf(merchant))).toContain('two')
    expect(await currentKey(alone.deps, await appId(), 'token')).toBe(merchant.token)
    const mails = await test.db.selectFrom('outgoing_mails').orderBy('id').select('text_encrypted').execute()
    const texts = mails.map(({ text_encrypted }) =>
      alone.deps.secrets.decrypt(mailContext(RECIPIENT), text_encrypted!),
    )
    expect(texts).toEqual(Array.from({ length: MAILS }, (_, index) => `text ${index}`))
    const elsewhere = browser(alone)
    for (const [name, value] of member.browser.cookies) elsewhere.cookies.set(name, value)
    expect((await elsewhere.get('/account')).status).toBe(200)
    await alone.close()

    expect(await run({ APP_SECRET: NEW }, 'books', 'verify')).toMatchObject({
      code: 0,
      said: { isSound: true },
    })
    const config = { DATABASE_URL: test.deps.config.DATABASE_URL!, APP_SECRET: NEW, LOG_LEVEL: 'silent' }
    const { stop } = await serve(loadConfig({ ...config, PORT: String(await freePort()) }), async () => {})
    await stop()
  })

  it('a later seal by the old key is forged, whatever the database says', async () => {
    await makePerson(test, { points: 5n })
    await sealAll(test.deps)
    const faulty = async () => {
      const { invariants } = await proveBooks(test.db, makeSecrets(NEW))
      return invariants.find(({ name }) => name === 'seals_are_ours')!.rows.map(({ fault }) => fault)
    }
    expect(await faulty()).toEqual(['forged'])
    await test.db.updateTable('retired_seal_keys').set({ last_journal_id: 1_000_000n }).execute()
    expect(new Set(await faulty())).toEqual(new Set(['foreign']))
  })
})

async function appId(): Promise<bigint> {
  const { id } = await rowOf(test, 'payment_apps', { payment_id: merchant.payment_id }, ['id'])
  return id
}
