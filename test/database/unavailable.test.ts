/** A database that cannot act for a while: it accepts no writes, or its disk is full. spec/limits 3.2. */
import { execFile } from 'node:child_process'
import { rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { describe, expect, inject, it, vi } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { ensureSigningKeys } from '../../src/identity/keys/rotation.ts'
import { openApplication } from '../harness/application.ts'
import { makePerson, signIn } from '../harness/cast.ts'
import { fillDisk } from '../harness/full-disk.ts'
import { makeShop } from '../harness/gateway-shop.ts'
import { START, startServer as startPostgres } from '../harness/global-setup.ts'
import { anotherProcess, browser, startTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { makeMerchant, merchantSign } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { makeScratchFolder } from '../harness/scratch.ts'

const run = promisify(execFile)

describe('a database that takes no writes', () => {
  it('makes the process not ready, and every door answers 503 with Retry-After', async () => {
    const test = await startTestApp()
    const shop = await makeShop(test)
    const alice = await makePerson(test, { points: 1_000n })
    const signedIn = await signIn(test, alice.username, alice.password)
    const ordered = await shop.process({ amount: '10', description: 'Tea', order_id: 'open' })
    const path = new URL(String(ordered.body.payment_url)).pathname
    const form = (await signedIn.get(path)).form(path)
    const name = new URL(test.deps.config.DATABASE_URL!).pathname.slice(1)
    // Connections get the setting when they open, so this other process has it.
    await sql.raw(`alter database ${name} set default_transaction_read_only = on`).execute(test.db)
    const closed = await anotherProcess(test)
    try {
      const ready = await closed.app.inject('/readyz')
      expect(ready.statusCode).toBe(503)
      expect(ready.json().checks).toMatchObject({ database: true, writes: false })

      const post = (url: string, fields: Record<string, string>) =>
        closed.app.inject({
          method: 'POST',
          url,
          payload: new URLSearchParams(fields).toString(),
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        })
      const fields = { amount: '10', description: 'Tea', order_id: 'closed' }
      const signature = merchantSign(shop.token, fields)
      const initiated = await post(`/payment/pay/${shop.payment_id}/process`, { ...fields, signature })
      expect(initiated.json()).toMatchObject({ success: false, errors: [{ code: 1503 }], data: null })
      const trade = {
        pid: shop.pidText,
        type: 'alipay',
        out_trade_no: 'closed',
        notify_url: 'https://shop.example/notify',
        name: 'Tea',
        money: '1.00',
      }
      const created = await post('/payment/api/mapi.php', shop.signMd5(trade))
      expect(created.json()).toEqual({ code: -1, msg: '系统暂时不可用，请稍后再试' })
      const submitted = await post('/payment/api/submit.php', shop.signMd5(trade))
      const token = await post('/oauth2/token', {
        grant_type: 'authorization_code',
        code: 'x',
        client_id: 'nobody',
        client_secret: 'nothing',
      })
      expect(token.json()).toMatchObject({ error: 'temporarily_unavailable' })
      for (const answer of [initiated, created, submitted, token]) {
        expect(answer.statusCode).toBe(503)
        expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/)
      }
      const page = browser(closed)
      for (const [cookie, value] of signedIn.cookies) page.cookies.set(cookie, value)
      const paid = await page.post(path, form)
      expect(paid.status).toBe(503)
      expect(paid.headers['retry-after']).toMatch(/^[1-9]\d*$/)
      expect(textOf(paid.body)).toContain(messages.en.errors.title.unavailable)
      // Pages that only read still work.
      expect((await browser(closed).get('/sign-in')).status).toBe(200)
    } finally {
      await closed.close()
      await test.close()
    }
  })
})

/**
 * Mounts a disk of its own for the folder. Returns a function that unmounts it, or undefined when mounts are not
 * allowed.
 */
async function mountDisk(folder: string): Promise<(() => Promise<void>) | undefined> {
  const mounted = run('mount', ['-t', 'tmpfs', '-o', 'size=160m,mode=755', 'tessera', folder])
  const isMounted = await mounted.then(
    () => true,
    () => false,
  )
  return isMounted ? async () => void (await run('umount', ['-l', folder])) : undefined
}

describe('a database whose disk is full', () => {
  it('makes the process not ready, answers writes 503, and recovers with room', async (context) => {
    const folder = await makeScratchFolder()
    const unmount = await mountDisk(folder)
    if (unmount === undefined) {
      await rm(folder, { recursive: true })
      return context.skip('only root may make a disk')
    }
    const postgres = await startPostgres(inject('emptyCluster'), join(folder, 'server'))
    await migrate(postgres.url)
    const clock = { now: () => START, advance: () => {} }
    const application = await openApplication(postgres.url, { env: {}, clock: clock.now })
    const { app, deps } = application
    await ensureSigningKeys(deps)
    const shop = await makeMerchant({
      ...application,
      db: deps.db,
      url: postgres.url,
      clock,
      startNotifier() {},
    })
    const initiate = async (order_id: string) => {
      const fields = { amount: '10', description: 'x'.repeat(255), order_id }
      const signature = merchantSign(shop.token, fields)
      return app.inject({
        method: 'POST',
        url: `/payment/pay/${shop.payment_id}/process`,
        payload: new URLSearchParams({ ...fields, signature }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
    }
    const readiness = async () => (await app.inject('/readyz')).statusCode
    // A result of the probe is kept for five seconds.
    const now = performance.now.bind(performance)
    const time = vi.spyOn(performance, 'now')
    const filler = join(folder, 'filler')
    try {
      expect((await initiate('before')).statusCode).toBe(200)
      expect(await readiness()).toBe(200)
      await fillDisk(filler)
      expect((await statfs(folder)).bavail).toBe(0)
      time.mockImplementation(() => now() + 5_000)
      expect(await readiness()).toBe(503)
      let refused = await initiate('full')
      for (let count = 1; refused.statusCode !== 503; count += 1) {
        expect(refused.statusCode).toBe(200)
        refused = await initiate(`full${count}`)
      }
      expect(refused.json()).toMatchObject({ success: false, errors: [{ code: 1503 }] })
      expect(refused.headers['retry-after']).toMatch(/^[1-9]\d*$/)

      await rm(filler)
      time.mockImplementation(() => now() + 10_000)
      expect(await readiness()).toBe(200)
      expect((await initiate('after')).statusCode).toBe(200)
    } finally {
      time.mockRestore()
      await application.close()
      await postgres.stop()
      await unmount()
      await rm(folder, { recursive: true })
    }
  })
})
