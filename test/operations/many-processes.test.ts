/**
 * Four processes of the service over one Postgres behave as one. A balancer gives each request to the next process,
 * and pgbouncer in transaction mode is before the database if it is installed.
 */
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson } from '../harness/cast.ts'
import { freePort } from '../harness/free-port.ts'
import { APP_SECRET } from '../harness/global-setup.ts'
import { browser, setSetting, startTestApp, type TestApp } from '../harness/harness.ts'
import { makeMerchant, merchantSign, post } from '../harness/merchant.ts'
import { hasPgbouncer, startPgbouncer } from '../harness/pgbouncer.ts'
import { type ServerProcess, startServer, stopServer } from '../harness/server-process.ts'
import { until } from '../harness/waiting.ts'
import {
  authorize,
  exchange,
  getJson,
  makeParty,
  postForm,
  redeem,
  refresh,
} from '../identity/relying-party.ts'

const PROCESSES = 4

let test: TestApp
let pooler: { url: string; stop: () => Promise<void> } | undefined
let servers: ServerProcess[]
let balancer: { stop: () => Promise<void> }
/** All four behind the balancer, and each process by itself. */
let together: TestApp
let each: TestApp[]

beforeAll(async () => {
  test = await startTestApp()
  test.clock.advance(Date.now() - test.clock.now().getTime())
  const url = test.deps.config.DATABASE_URL!
  pooler = hasPgbouncer ? await startPgbouncer(url) : undefined
  const port = await freePort()
  const env = {
    DATABASE_URL: pooler?.url ?? url,
    APP_SECRET,
    DATA_DIR: tmpdir(),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    TRUST_PROXY: '127.0.0.1',
    DATABASE_POOL_MAX: '6',
    LOG_LEVEL: 'error',
  }
  servers = await Promise.all(Array.from({ length: PROCESSES }, () => startServer(env)))
  balancer = await startBalancer(
    port,
    servers.map((server) => server.url),
  )
  together = { ...test, app: appAt(env.PUBLIC_URL) }
  each = servers.map((server) => ({ ...test, app: appAt(server.url) }))
})
afterAll(async () => {
  await balancer.stop()
  for (const server of servers) expect(await stopServer(server, 'SIGTERM')).toBe(0)
  expect(servers.map((server) => server.output().match(/"level":(?:50|60).*/g)).filter(Boolean)).toEqual([])
  await pooler?.stop()
  await test.close()
})

/** A balancer on one port, which gives requests to the processes in turn. */
async function startBalancer(port: number, urls: string[]): Promise<{ stop: () => Promise<void> }> {
  let turn = 0
  const server = createServer((request, response) => {
    const target = new URL(request.url!, urls[turn++ % urls.length])
    const headers = { ...request.headers, 'x-forwarded-for': request.socket.remoteAddress }
    const onward = forward(target, { method: request.method!, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.rawHeaders)
      answer.pipe(response)
    })
    onward.on('error', () => response.writeHead(502).end())
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  expect((server.address() as AddressInfo).port).toBe(port)
  return {
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** Sends the requests of the tests' functions over real HTTP. */
function appAt(url: string): FastifyInstance {
  const inject = async (given: string | InjectOptions) => {
    const { method = 'GET', url: path, headers, payload } = typeof given === 'string' ? { url: given } : given
    const response = await fetch(url + String(path), {
      method,
      redirect: 'manual',
      headers: headers as Record<string, string>,
      ...(payload === undefined ? {} : { body: payload as string }),
    })
    const body = await response.text()
    return {
      statusCode: response.status,
      headers: { ...Object.fromEntries(response.headers), 'set-cookie': response.headers.getSetCookie() },
      body,
      json: () => JSON.parse(body),
    }
  }
  return { inject } as unknown as FastifyInstance
}

const times = <T>(count: number, act: () => Promise<T>) => Promise.all(Array.from({ length: count }, act))

describe('four processes behind a balancer', () => {
  it('know one session, its forms, and its end', async () => {
    const { username, password } = await makePerson(test)
    const member = browser(together)
    const page = await member.get('/sign-in')
    expect((await member.submit(page, '/sign-in', { username, password })).status).toBe(303)
    const pages = await times(2 * PROCESSES, () => member.get('/account'))
    expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 200))
    // A thief keeps the cookies that the browser forgets.
    const cookies = [...member.cookies]
    expect((await member.submit(pages[0]!, '/sign-out')).status).toBe(303)
    for (const one of each) {
      const visitor = browser(one)
      for (const [name, value] of cookies) visitor.cookies.set(name, value)
      expect((await visitor.get('/account')).status).toBe(303)
    }
  })

  it('count the guesses at an account together', async () => {
    const { username } = await makePerson(test)
    const visitor = browser(together)
    const page = await visitor.get('/sign-in')
    const guess = () => visitor.submit(page, '/sign-in', { username, password: 'a guess' })
    for (let guesses = 0; guesses < 10; guesses += 1) expect((await guess()).status).toBe(401)
    const answers = await times(PROCESSES, guess)
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 429))
  })

  it('redeem a code once, refresh each other’s, and forget a token together', async () => {
    const party = await makeParty(test)
    const member = await makePerson(together).then((person) => person.signIn())
    const { code } = await authorize(member, party)
    const { body: tokens } = await exchange(together, party, code)
    const userinfo = (access_token: unknown) =>
      Promise.all(
        each.map((one) => getJson(one, '/oauth2/userinfo', { authorization: `Bearer ${access_token}` })),
      )
    expect((await userinfo(tokens.access_token)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const { status, body: fresh } = await refresh(together, party, tokens.refresh_token)
    expect(status).toBe(200)
    const { client_id, client_secret } = party
    await postForm(together, '/oauth2/revoke', {
      client_id,
      client_secret,
      token: fresh.refresh_token as string,
    })
    expect((await userinfo(fresh.access_token)).map((answer) => answer.status)).toEqual([401, 401, 401, 401])

    const { code: another } = await authorize(member, party)
    const fields = {
      grant_type: 'authorization_code',
      code: another,
      redirect_uri: party.redirect_uri,
    }
    const answers = await times(2 * PROCESSES, () => redeem(together, party, fields))
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
    const sets = await Promise.all(each.map((one) => getJson(one, '/oauth2/jwks')))
    expect(new Set(sets.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  })

  it('make an order once, charge it once, and soon follow a setting', async () => {
    const merchant = await makeMerchant(test)
    const buyer = await makePerson(together, { points: 1_000n })
    const client = await buyer.signIn()
    const sign = (fields: Record<string, string>) => ({
      ...fields,
      signature: merchantSign(merchant.token, fields),
    })
    const fields = sign({ amount: '100', description: 'Tea', order_id: 'one-of-many' })
    const path = `/payment/pay/${merchant.payment_id}/process`
    const orders = await times(3 * PROCESSES, () => post(together, path, fields))
    const ids = new Set(orders.map(({ body }) => body.transaction_id))
    expect(ids.size).toBe(1)
    const here = `/payment/pay/${[...ids][0]}`
    const page = await client.get(here)
    const paid = await times(2 * PROCESSES, () => client.submit(page, here))
    expect(paid.map(({ status }) => status)).toEqual(paid.map(() => 303))
    expect(await balanceOf(test.db, buyer.id)).toBe(900n)

    await setSetting(test, 'points_transfers', 'off')
    let tries = 0
    const refused = async (one: TestApp) => {
      // Each transfer is new, because a transfer that completed before the setting arrived gives its earlier answer
      // again.
      const transfer = sign({
        to_user_id: String(buyer.id),
        to_username: buyer.username,
        amount: '1',
        order_id: `try-${++tries}`,
      })
      const { body } = await post(one, `/payment/transfer/${merchant.payment_id}`, transfer)
      return JSON.stringify(body).includes('1015')
    }
    await until(async () => (await Promise.all(each.map(refused))).every(Boolean))
    await expectSoundBooks(test.db)
    await merchant.close()
  })
})
