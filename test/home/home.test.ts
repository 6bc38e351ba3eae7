/** The front page of visitors and a member's home. */
import { describe, expect, it } from 'vitest'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { makePerson } from '../harness/cast.ts'
import { browser, useTestApp } from '../harness/harness.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { expectStatements, itCounts } from '../harness/statements.ts'
import { makeParty, obtainTokens } from '../identity/relying-party.ts'

const t = messages.en.front

const MINUTE_MS = 60_000
const test = await useTestApp({
  // The host of a passkey, which an address in figures cannot be.
  PUBLIC_URL: 'http://localhost:3000',
  DISCOURSE_URL: 'https://forum.example.org',
  DISCOURSE_SECRET: 'a-secret-of-it',
  DISCOURSE_API_KEY: 'a-key-of-it',
})
const merchant = await makeMerchant(test)

const bridge = (value: 'on' | 'off') => ({
  ...({ name: 'forum_points_bridge', value, actor_id: null, ip: null } as const),
  now: test.clock.now(),
})

let count = 0
async function order(description: string, amount: string, shop = merchant) {
  const { body } = await shop.process({ amount, description, order_id: `home-${++count}` })
  return String(body.transaction_id)
}

describe('a member’s home', () => {
  it('offers the opened orders to pay, with the time left, the most urgent first', async () => {
    const alice = await makePerson(test, { points: 1_000n })
    const client = await alice.signIn()
    const later = await order('A <lamp>', '120')
    const unseen = await order('Never opened', '1')
    test.clock.advance(-10 * MINUTE_MS)
    const sooner = await order('A chair', '300')
    test.clock.advance(10 * MINUTE_MS)
    for (const one of [later, sooner]) await client.get(`/payment/pay/${one}`)
    const { body } = await client.get('/')
    expect(body).toContain('1,000')
    expect(body).toMatch(
      /A chair[\s\S]*20 minutes left[\s\S]*Pay 300[\s\S]*A &lt;lamp&gt;[\s\S]*30 minutes left[\s\S]*Pay 120/,
    )
    expect(body).not.toContain(unseen)
    await makePayOrder(test.deps)({ transaction_id: later, payer_id: alice.id, expected_amount: 120n })
    test.clock.advance(20 * MINUTE_MS)
    const after = (await client.get('/')).body
    expect(after).not.toContain(t.toPay)
    expect(after).toMatch(/A &lt;lamp&gt;[\s\S]*Shop of[\s\S]*−120/)
    test.clock.advance(-20 * MINUTE_MS)
  })

  it('shows what the member uses, and beside it what the site offers', async () => {
    const [alice, admin] = [
      await makePerson(test, { points: 50n }),
      await makePerson(test, { is_admin: true }),
    ]
    const client = await alice.signIn()
    const used = await makeParty(test, { name: 'Used club', homepage: 'https://club.example/' })
    await obtainTokens(test, client, used)
    const reviewed = { reviewed_at: test.clock.now(), is_listed: true, reviewed_by: admin.id }
    const offered = await makeParty(test, { name: 'Offered club', homepage: 'https://offered.example/' })
    await makeParty(test, { name: 'Unreviewed club', homepage: 'https://unreviewed.example/' })
    const suspended = await makeParty(test, { name: 'Suspended club', homepage: 'https://bad.example/' })
    const review = (id: bigint, more = {}) =>
      test.db
        .updateTable('oauth_apps')
        .set({ ...reviewed, ...more })
        .where('id', '=', id)
        .execute()
    await review(offered.id)
    await review(used.id)
    const reason = { suspended_at: test.clock.now(), suspended_by: admin.id, suspended_reason: 'x' }
    await review(suspended.id, reason)
    const transaction_id = await order('A pen', '5')
    await makePayOrder(test.deps)({ transaction_id, payer_id: alice.id, expected_amount: 5n })

    const { body } = await client.get('/')
    const [mine = '', offers = ''] = body.split(t.apps)[1]!.split(t.offered)
    expect(mine).toContain('Used club')
    expect(mine).toContain(`Shop of ${merchant.owner.username}`)
    expect(offers).toContain('href="https://offered.example/"')
    expect(offers).not.toMatch(/Used club|Unreviewed club|Suspended club/)
    const visitor = (await browser(test).get('/')).body
    expect(visitor).toContain('Offered club')
    expect(visitor).toContain('Used club')
    expect(visitor).toMatch(/<\/i>offered\.example<\/p>/)
    expect(visitor).not.toMatch(/Unreviewed club|Suspended club/)
  })

  it('leaves out what refuses the member now, and what a banned or suspended owner has', async () => {
    const admin = await makePerson(test, { is_admin: true })
    const alice = await makePerson(test, { points: 50n })
    const founder = await makePerson(test, { groups: ['founders'] })
    const listed = async (name: string, more = {}) => {
      const homepage = `https://${name.toLowerCase()}.example/`
      const party = await makeParty(test, { name, homepage, ...more })
      const reviewed = { reviewed_at: test.clock.now(), is_listed: true, reviewed_by: admin.id }
      await test.db.updateTable('oauth_apps').set(reviewed).where('id', '=', party.id).execute()
      return party
    }
    const change = ({ id }: { id: bigint }, values: Record<string, unknown>) =>
      test.db.updateTable('oauth_apps').set(values).where('id', '=', id).execute()
    await listed('Foundry', { allow_groups: ['founders'] })
    const [banned, used] = [await listed('Bannedly'), await listed('Usedly')]
    const client = await alice.signIn()
    await obtainTokens(test, client, used)
    await obtainTokens(test, client, banned)
    const { body } = await client.get('/')
    expect([body.includes('Bannedly'), body.includes('Usedly'), body.includes('Foundry')]).toEqual([
      true,
      true,
      false,
    ])
    expect((await (await founder.signIn()).get('/')).body).toContain('Foundry')
    await test.db.updateTable('users').set({ is_banned: true }).where('username', '=', banned.owner).execute()
    await change(used, { deny_groups: ['trust_level_0'] })
    expect((await client.get('/')).body).not.toMatch(/Bannedly|Usedly/)
    const visitor = (await browser(test).get('/')).body
    expect(visitor).not.toContain('Bannedly')
    expect(visitor).toContain('Foundry')
    await change(used, { deny_groups: [], confirmed_at: null })
    expect((await client.get('/')).body).not.toContain('Usedly')

    const shop = `Shop of ${merchant.owner.username}`
    const transaction_id = await order('A cup', '5')
    await makePayOrder(test.deps)({ transaction_id, payer_id: alice.id, expected_amount: 5n })
    const mine = async () => (await client.get('/')).body.split(t.apps)[1] ?? ''
    expect(await mine()).toContain(shop)
    const ban = (is_banned: boolean) =>
      test.db.updateTable('users').set({ is_banned }).where('id', '=', merchant.owner.id).execute()
    await ban(true)
    expect(await mine()).not.toContain(shop)
    await ban(false)
  })

  it('shows first steps until points have moved', async () => {
    const client = await (await makePerson(test)).signIn()
    const stepsIn = (body: string) =>
      ['/account/passkeys', '/account/email'].filter((path) => body.includes(`<li><a href="${path}">`))
    const unused = (await client.get('/')).body
    expect(unused).toContain(`<h2>${t.start}</h2>`)
    expect(unused).not.toContain(t.lately)
    expect(unused).toContain(`<a class="button primary" href="#earn">`)
    expect(stepsIn(unused)).toEqual(['/account/passkeys'])
    const { body } = await (await (await makePerson(test, { points: 90n })).signIn()).get('/')
    expect(body).toContain(t.lately)
    expect(body).not.toContain(t.start)
    expect(stepsIn(body)).toEqual([])
  })

  it('says how points are earned here, and no other way', async () => {
    const client = await (await makePerson(test, { trust_level: 0 })).signIn()
    const { body } = await client.get('/')
    expect(body).toContain(t.byGrant)
    // The bridge is off, and this member may not sell.
    for (const text of [t.toEarning, t.toForum, t.byForum, t.bySelling]) expect(body).not.toContain(text)
    await test.deps.settings.change(bridge('on'))
    const bridged = (await client.get('/')).body
    expect(bridged).toContain(`<a href="https://forum.example.org">${t.toForum}`)
    for (const text of [t.toEarning, t.byForum]) expect(bridged).toContain(text)
    await test.deps.settings.change(bridge('off'))
    expect((await (await makePerson(test)).signIn().then((own) => own.get('/'))).body).toContain(t.bySelling)
  })

  it('names the other browsers that are signed in', async () => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    expect((await client.get('/')).body).not.toContain(t.sessions)
    await alice.signIn()
    await alice.signIn()
    expect((await client.get('/')).body).toMatch(new RegExp(`${t.sessions}[^]*${t.sessionsToCheck('2', 2)}`))
  })

  itCounts('takes seven statements, and the wallet six', async () => {
    const alice = await makePerson(test, { points: 1_000n })
    const client = await alice.signIn()
    for (let i = 0; i < 8; i += 1) {
      const transaction_id = await order(`Thing ${i}`, '10')
      await client.get(`/payment/pay/${transaction_id}`)
      if (i % 2 === 0)
        await makePayOrder(test.deps)({ transaction_id, payer_id: alice.id, expected_amount: 10n })
    }
    await expectStatements(7, () => client.get('/'))
    await expectStatements(6, () => client.get('/account'))
  })
})
