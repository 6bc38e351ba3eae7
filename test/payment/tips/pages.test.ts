/** The page of a tip, its payment and receipt, the switches of members and administrators, and what each shows: spec/tips 2.1, 2.2 and 3.1, and spec/accounts 5.10. */
import { describe, expect, it } from 'vitest'
import { clustersByTips } from '../../../src/admin/points/patterns.ts'
import { cookieHeader } from '../../harness/browser.ts'
import { changePerson, givePoints, makePerson, type Person } from '../../harness/cast.ts'
import { useForumWorld } from '../../harness/forum-world.ts'
import { type Browser, browser, setSetting } from '../../harness/harness.ts'
import { textOf } from '../../harness/markup.ts'
import { makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { refund } from '../../harness/orders.ts'
import { rowOf, rowsOf, setRows } from '../../harness/rows.ts'
import { beginTip, makeTipper, payTip, setAge, switchTips, tip } from '../../harness/tips.ts'

const world = await useForumWorld()
const { forum, test } = world
const app = await switchTips(test)
const { tips, signIn, paymentLinks: links, pay, account, alerts, profile, console: staff } = messages.en
const YEAR_MS = 365 * 86_400_000

/** A member of the forum with an account here that is a year old. */
async function joined(points = 1_000n) {
  const member = forum.join({ trust_level: 2 })
  const client = await world.signIn(member)
  const { id, username } = await world.userOf(member)
  await setAge(test, { id }, YEAR_MS)
  if (points > 0n) await givePoints(test, { id }, points)
  return { member, client, id, username }
}
const POST = '/t/ginger-cat-photos/12/3'
const pathTo = ({ id }: { id: number }, post = POST) =>
  `/tip?${new URLSearchParams({ to_id: String(id), to: 'somebody-else', post })}`

describe('the label of a post', () => {
  let lastTopic = 5_000
  function open(over: Partial<NonNullable<typeof forum.topic>> = {}) {
    lastTopic += 1
    forum.topic = { id: lastTopic, slug: 'cats', title: 'Cats & <b>dogs</b>', posts: [], ...over }
    return { post: `/t/cats/${lastTopic}/3`, path: `/t/${lastTopic}.json` }
  }
  const asked = (path: string) => forum.calls.filter((each) => each === path).length

  it('is the title that visitors of the forum read, as text, from one request for all pages', async () => {
    const [erin, frank] = [await joined(), await joined(0n)]
    const { post, path } = open()
    const page = await erin.client.get(pathTo(frank.member, post))
    expect(page.body).toContain('Cats &amp; &lt;b&gt;dogs&lt;/b&gt;')
    expect(page.body).toContain(`href="${forum.url}${post}"`)
    const { location } = await erin.client.submit(page, '/tip', { choice: '10' })
    const paying = await erin.client.get(location!)
    expect(paying.body).toContain('Cats &amp; &lt;b&gt;dogs&lt;/b&gt;')
    const paid = await erin.client.submit(paying, location!, {})
    expect((await erin.client.get(paid.location!)).body).toContain('Cats &amp; &lt;b&gt;dogs&lt;/b&gt;')
    expect(asked(path)).toBe(1)
    test.clock.advance(3_600_001)
    await erin.client.get(pathTo(frank.member, post))
    expect(asked(path)).toBe(2)
  })

  it.each<[string, Partial<NonNullable<typeof forum.topic>>, typeof forum.fault]>([
    ['of a closed category', { isPrivate: true }, undefined],
    ['without text', { title: ' \u0000 ' }, undefined],
    ['while the forum does not answer', {}, 'slow'],
    ['while the forum is down', {}, 'down'],
    ['while the forum answers 429', {}, 'limited'],
    ['of another topic', { id: 1 }, undefined],
  ])('is the path %s, and no other request waits', async (_, over, fault) => {
    const [erin, frank] = [await joined(), await joined(0n)]
    const { post } = open(over)
    await world.resetBudget()
    forum.fault = fault
    const { status, body } = await erin.client.get(pathTo(frank.member, post))
    forum.fault = undefined
    expect([status, body.includes(`<bdi>${post}</bdi>`)]).toEqual([200, true])
    expect(body).not.toContain('dogs')
    expect(await rowOf(test, 'forum_api', {}, ['paused_until'])).toEqual({ paused_until: null })
  })

  it('is the path for a member who asks for many, and when sign-ins need the requests', async () => {
    const [erin, frank] = [await joined(), await joined(0n)]
    for (let count = 0; count < 20; count += 1) await erin.client.get(pathTo(frank.member, open().post))
    const { post, path } = open()
    expect((await erin.client.get(pathTo(frank.member, post))).body).toContain(`<bdi>${post}</bdi>`)
    expect(asked(path)).toBe(0)
    const now = test.clock.now()
    await setRows(
      test,
      'forum_api',
      {},
      { requests: [], sign_in_requests: Array.from({ length: 40 }, () => now) },
    )
    expect((await frank.client.get(pathTo(erin.member, post))).body).toContain(`<bdi>${post}</bdi>`)
    expect(asked(path)).toBe(0)
    await world.resetBudget()
    expect((await frank.client.get(pathTo(erin.member, post))).body).toContain('dogs')
  })

  it('is asked for no author who cannot receive', async () => {
    const erin = await joined()
    const { post, path } = open()
    await erin.client.get(pathTo(forum.join({}), post))
    expect(asked(path)).toBe(0)
  })
})

describe('the page of a tip', () => {
  it('shows the author, the post, the amounts and what is left, and leads to the payment and thanks', async () => {
    const [erin, frank] = [await joined(), await joined(0n)]
    const page = await erin.client.get(pathTo(frank.member))
    expect(page.status).toBe(200)
    const text = textOf(page.body)
    expect(text).toContain(tips.title(frank.username))
    expect(text).not.toContain('somebody-else')
    expect(text).toContain(tips.left('500', 500n))
    // The page of the payment says it, once.
    expect(text).not.toContain(tips.isGift)
    expect(page.body).toContain(`href="${forum.url}${POST}"`)
    const sent = await erin.client.submit(page, '/tip', { amount: '50' })
    expect(sent.status).toBe(303)
    expect(sent.location).toMatch(/^\/payment\/pay\/txn_[a-z0-9]{24}$/)

    const paying = await erin.client.get(sent.location!)
    expect(textOf(paying.body)).toContain(tips.gift(`@${frank.username}`))
    expect(textOf(paying.body)).toContain(tips.isGift)
    expect(textOf(paying.body)).toContain(`${tips.authorGets} 48 ${tips.afterFee('2')}`)
    expect(textOf(paying.body)).not.toContain(messages.en.pay.created)
    expect(paying.body).not.toContain(app.owner.username)
    await erin.client.submit(paying, '/language', { language: 'zh-CN' })
    const chinese = textOf((await erin.client.get(sent.location!)).body)
    expect(chinese).toContain(messages['zh-CN'].tips.product)
    expect(chinese).not.toContain(tips.product)
    await erin.client.submit(paying, '/language', { language: 'en' })
    const paid = await erin.client.submit(paying, sent.location!, {})
    expect(paid).toMatchObject({ status: 303, location: sent.location })
    const receipt = await erin.client.get(sent.location!)
    expect(textOf(receipt.body)).toContain(tips.states.paid)
    expect(textOf(receipt.body)).toContain(tips.states.paidText)
    const back = receipt.body.indexOf(`href="${forum.url}${POST}"`)
    expect(back).toBeGreaterThan(0)
    expect(receipt.body.indexOf(pay.paidAt)).toBeGreaterThan(back)
    expect(await world.userOf(frank.member)).toMatchObject({ id: frank.id })

    expect(textOf((await erin.client.get('/account')).body)).toContain(account.tipTo(frank.username))
    const statement = textOf((await frank.client.get('/account')).body)
    expect(statement).toContain(account.tipFrom(erin.username))
    expect(statement).toContain(account.words.tipReceived)
    const { fee } = await rowOf(test, 'orders', { transaction_id: sent.location!.split('/').at(-1)! }, [
      'fee',
    ])
    expect(fee).toBeGreaterThan(0n)
    const gift = alerts.mails.tipped({ name: erin.username, points: '50', net: String(50n - fee!) })
    const told = textOf((await frank.client.get('/account/alerts')).body)
    expect(told).toContain(gift.subject)
    expect(told).toContain(gift.text)
    expect(textOf((await erin.client.get('/account/payments')).body)).toContain(account.tipTo(frank.username))
  })

  it('ends an unpaid tip at once when its giver leaves it, and is not there for other members', async () => {
    const [erin, frank, grace] = [await joined(), await joined(0n), await joined()]
    const sent = await erin.client.submit(await erin.client.get(pathTo(frank.member)), '/tip', {
      choice: '10',
    })
    const path = sent.location!
    const paying = await erin.client.get(path)
    // The form leads to the post, at another origin.
    expect(paying.headers['content-security-policy']).toMatch(`form-action 'self' https: ${forum.url}`)
    const waiting = `${account.tipTo(frank.username)} `
    expect(textOf((await erin.client.get('/')).body)).toContain(waiting)
    expect((await grace.client.get(path)).body).not.toContain(`${path}/leave`)
    const token = (await grace.client.get('/account')).form('/sign-out')
    expect((await grace.client.post(`${path}/leave`, token)).status).toBe(404)
    expect((await erin.client.post(`${path}/leave`, {})).status).toBe(403)
    expect(await payTip(test.deps, await beginTip(test.deps, grace, frank), grace)).toBe('paid')

    const left = await erin.client.submit(paying, `${path}/leave`, {})
    expect(left).toMatchObject({ status: 303, location: `${forum.url}${POST}` })
    expect(textOf((await erin.client.get('/')).body)).not.toContain(waiting)
    expect(textOf((await erin.client.get(path)).body)).toContain(tips.states.expired)
    expect((await erin.client.submit(paying, path, {})).status).toBe(409)
    const again = await erin.client.submit(paying, `${path}/leave`, {})
    expect(again).toMatchObject({ status: 303, location: path })
    expect(await rowsOf(test, 'journal', { reference: path.split('/').at(-1)! })).toEqual([])
  })

  it('is one page for everyone who cannot receive, known or not, with status 200', async () => {
    const erin = await joined()
    const [never, refusing] = [forum.join({}), await joined()]
    await setRows(test, 'users', { id: refusing.id }, { accepts_tips: false })
    const bodies: string[] = []
    for (const path of [
      pathTo(never),
      pathTo(refusing.member),
      pathTo(erin.member),
      '/tip?to_id=x',
      '/tip',
    ]) {
      const page = await erin.client.get(path)
      expect([path, page.status]).toEqual([path, 200])
      expect(textOf(page.body)).toContain(tips.noneText)
      bodies.push(
        page.body
          .replaceAll(/(_csrf|form_token|name="\w+" value)="[^"]*"/g, '')
          .replaceAll(/\/t\/[^"]*/g, ''),
      )
    }
    expect(bodies[0]!.length).toBe(bodies[1]!.length)
  })

  it.each([
    ['/t/x', false],
    ['//evil.example/t/x/1', false],
    ['https://evil.example/t/x/1', false],
    ['/t/a"><script>/1', true],
    ['/t/cats/12', true],
    ['/t/../12/3', false],
    ['/t/%2E%2e/12/3', false],
    ['/t/\\..\\..\\admin/12', false],
    ['/t/...cats/12/3', true],
  ])('names the post %s: %s', async (post, isNamed) => {
    const [erin, frank] = [await joined(), await joined(0n)]
    const { body } = await erin.client.get(pathTo(frank.member, post))
    expect(textOf(body).includes(tips.post)).toBe(isNamed)
    expect(body).not.toMatch(/(href|action)="[^"]*evil\.example/)
    expect(body).not.toContain('<script>/1')
  })

  it.each(['9', '201', '0', '-20', '1e2', '２０', '20.5', '0x20', '9'.repeat(17)])(
    'refuses the amount %s, which is out of what the giver may give',
    async (amount) => {
      const [erin, frank] = [await joined(), await joined(0n)]
      const page = await erin.client.get(pathTo(frank.member))
      expect(textOf(page.body)).toContain(links.between('10', '200', false))
      const refused = await erin.client.submit(page, '/tip', { amount })
      expect(refused.status).toBe(400)
      expect(textOf(refused.body)).toContain(links.amountWrong('10', '200'))
      expect(await rowsOf(test, 'tips', { to_user_id: frank.id })).toEqual([])
    },
  )

  it.each([
    ['another amount before the choice', { amount: ' 35 ', choice: '100' }, '35'],
    ['the choice without another amount', { amount: '', choice: '100' }, '100'],
    ['the most', { amount: '200' }, '200'],
    ['a choice that an administrator has replaced meanwhile', { choice: '70' }, '70'],
  ])('takes %s', async (_, fields, amount) => {
    const [erin, frank] = [await joined(), await joined(0n)]
    const page = await erin.client.get(pathTo(frank.member))
    const sent = await erin.client.submit(page, '/tip', fields)
    expect(sent.status).toBe(303)
    expect(textOf((await erin.client.get(sent.location!)).body)).toContain(tips.give(amount, BigInt(amount)))
  })

  it('asks visitors to sign in for a tip, with a way back to the post', async () => {
    const { location } = await browser(test).get(pathTo({ id: 1 }))
    const { body } = await browser(test).get(location!)
    expect(textOf(body)).toContain(signIn.toTip)
    expect(textOf(body)).toContain(signIn.tipFrom(1))
    const frank = await joined(0n)
    const named = await browser(test).get((await browser(test).get(pathTo(frank.member))).location!)
    expect(textOf(named.body)).not.toContain(frank.username)
    expect(body).toContain(`<a href="${forum.url}${POST}">${signIn.giveUpTip}</a>`)
  })

  it('refuses a form without its token', async () => {
    const [erin, frank] = [await joined(), await joined(0n)]
    expect((await erin.client.post('/tip', { to_id: String(frank.member.id), amount: '10' })).status).toBe(
      403,
    )
    expect(await rowsOf(test, 'tips', { to_user_id: frank.id })).toEqual([])
  })

  it.each<[keyof typeof tips.hindrances, (erin: { id: bigint }, frank: { id: bigint }) => Promise<unknown>]>([
    ['tooNew', (erin) => setAge(test, erin, 0)],
    ['level', (erin) => changePerson(test, erin, { trust_level: 0 })],
    ['day', async (erin) => spend(erin, { given_points: 495n })],
    ['received', async (_, frank) => spend(frank, { received_points: 4_995n })],
    ['pair', async (erin, frank) => pairUp(erin, frank)],
    ['unusable', () => setRows(test, 'payment_apps', { id: app.id }, { status: 'suspended' })],
    ['paused', () => setSetting(test, 'payments_read_only', 'on')],
  ])('says why nothing can be given: %s', async (hindrance, change) => {
    const [erin, frank] = [await joined(), await joined(0n)]
    await change(erin, frank)
    const page = await erin.client.get(pathTo(frank.member))
    expect(page.status).toBe(200)
    expect(textOf(page.body)).toContain(tips.hindrances[hindrance])
    expect(textOf(page.body).includes(tips.fromAge(7))).toBe(hindrance === 'tooNew')
    expect(textOf(page.body).includes(tips.fromLevel(1))).toBe(hindrance === 'level')
    expect(page.body).not.toContain('action="/tip"')
    await setRows(test, 'payment_apps', { id: app.id }, { status: 'approved' })
    await setSetting(test, 'payments_read_only', 'off')
  })

  it('answers a limit that was reached meanwhile with 409, and a full hour with 429', async () => {
    const [erin, frank] = [await joined(), await joined(0n)]
    const page = await erin.client.get(pathTo(frank.member))
    await spend(erin, { given_points: 480n })
    const refused = await erin.client.submit(page, '/tip', { amount: '50' })
    expect(refused.status).toBe(409)
    expect(textOf(refused.body)).toContain(tips.left('20', 20n))
    await setSetting(test, 'limit_tips', '1')
    const again = await erin.client.get(pathTo(frank.member))
    await erin.client.submit(again, '/tip', { amount: '10' })
    const full = await erin.client.submit(again, '/tip', { amount: '10' })
    expect(full.status).toBe(429)
    await setSetting(test, 'limit_tips', '0')
  })

  it('is not there while tips are off, and asks visitors to sign in first', async () => {
    const frank = await joined(0n)
    const visitor = await browser(test).get(pathTo(frank.member))
    expect(visitor).toMatchObject({ status: 303 })
    expect(visitor.location).toContain('return_to=%2Ftip%3F')
    await setSetting(test, 'tips', 'off')
    for (const client of [browser(test), frank.client]) {
      const off = await client.get(pathTo(frank.member))
      expect(off.status).toBe(404)
      expect(textOf(off.body)).toContain(tips.off)
      expect(off.body).toContain(`href="${forum.url}${POST}"`)
    }
    await setSetting(test, 'tips', 'on')
  })
})

async function spend(
  { id: user_id }: { id: bigint },
  points: { given_points?: bigint; received_points?: bigint },
) {
  const day = new Date(test.clock.now().getTime() + 8 * 3_600_000).toISOString().slice(0, 10)
  await test.db
    .insertInto('tip_days')
    .values({ user_id, day, ...points })
    .execute()
}

async function pairUp(one: { id: bigint }, other: { id: bigint }) {
  const day = new Date(test.clock.now().getTime() + 8 * 3_600_000).toISOString().slice(0, 10)
  const [low_id, high_id] = one.id < other.id ? [one.id, other.id] : [other.id, one.id]
  await test.db.insertInto('tip_pairs').values({ low_id, high_id, day, tips: 5 }).execute()
}

describe('the payment of a tip', () => {
  it.each<
    [
      state: 'tipRefused' | 'tipLimit',
      change: (erin: Pick<Person, 'id'>, frank: Pick<Person, 'id'>) => Promise<unknown>,
    ]
  >([
    ['tipRefused', (_, frank) => changePerson(test, frank, { accepts_tips: false })],
    ['tipLimit', (erin) => changePerson(test, erin, { trust_level: 0 })],
  ])('says in words why nothing was charged: %s', async (state, change) => {
    const [erin, frank] = [await joined(), await joined(0n)]
    const path = `/payment/pay/${await beginTip(test.deps, erin, frank)}`
    const page = await erin.client.get(path)
    await change(erin, frank)
    const answer = await erin.client.submit(page, path, {})
    expect(answer.status).toBe(409)
    expect(textOf(answer.body)).toContain(pay.states[state])
    expect(textOf(answer.body)).toContain(pay.states[`${state}Text`])
  })

  it('says that tips are off, and shows a refund of it', async () => {
    const [erin, frank] = [await joined(), await joined(0n)]
    const path = `/payment/pay/${await beginTip(test.deps, erin, frank)}`
    const page = await erin.client.get(path)
    await setSetting(test, 'tips', 'off')
    const answer = await erin.client.submit(page, path, {})
    expect(textOf(answer.body)).toContain(tips.states.unusable)
    await setSetting(test, 'tips', 'on')
  })
})

describe('a member', () => {
  it('accepts no tips any more by a switch on the profile, which is recorded', async () => {
    const [erin, frank] = [await joined(), await joined(0n)]
    const page = await frank.client.get('/account/profile')
    expect(textOf(page.body)).toContain(profile.tipsText)
    expect(await frank.client.submit(page, '/account/profile/tips', { accepts: 'off' })).toMatchObject({
      status: 303,
    })
    expect(textOf((await erin.client.get(pathTo(frank.member))).body)).toContain(tips.noneText)
    expect(
      await rowsOf(test, 'audit_log', { action: 'account.accepts_tips' }, ['actor_id', 'detail']),
    ).toEqual([{ actor_id: frank.id, detail: { accepts: false } }])
  })

  it('reads in the wallet for the forum whether tips are on', async () => {
    await setSetting(test, 'forum_wallet', 'on')
    const erin = await joined()
    const read = async () => {
      const url = `/forum/wallet.json?forum_id=${erin.member.id}`
      const headers = { origin: forum.url, cookie: cookieHeader(erin.client) }
      return (await test.app.inject({ url, headers })).json()
    }
    expect(await read()).toMatchObject({ tips: true })
    await setSetting(test, 'tips', 'off')
    expect(await read()).toMatchObject({ tips: false })
    await setSetting(test, 'tips', 'on')
    const frank = await joined(0n)
    const { transaction_id } = await tip(test.deps, erin, frank)
    const text = account.tipTo(frank.username)
    expect((await read()).movements[0]).toMatchObject({ kind: 'tip', text, amount: -10 })
    await refund(test, { transaction_id }, 10n)
    const refunded = `${account.words.refund} · ${text}`
    expect((await read()).movements[0]).toMatchObject({ kind: 'refund', text: refunded, amount: 10 })
  })
})

describe('an administrator', () => {
  it('reads tips from five new accounts to one author, and not from four or old ones', async () => {
    const [many, few] = [await makeTipper(test), await makeTipper(test)]
    for (let count = 0; count < 5; count += 1) {
      const giver = await makeTipper(test)
      await setAge(test, giver, 8 * 86_400_000)
      await tip(test.deps, giver, many)
      if (count > 0) await tip(test.deps, giver, few)
    }
    const old = await makeTipper(test)
    await tip(test.deps, old, few)
    expect(await clustersByTips(test.db, { now: test.clock.now(), least: 1n, limit: 20 })).toEqual([
      {
        shared: many.username,
        shared_id: many.id,
        members: 5,
        points: 50n,
        percent: 100,
        usernames: expect.any(Array),
      },
    ])
    const admin = await (await makePerson(test, { is_admin: true })).signIn()
    await setSetting(test, 'suspicious_points_min', '50')
    const text = textOf((await admin.get('/admin/abuse')).body)
    expect(text).toContain(staff.abuse.titles.byTips)
    expect(text).toContain(`@${many.username}`)
  })

  it('sees the application of tips on the page of the forum', async () => {
    const admin = await (await makePerson(test, { is_admin: true })).signIn()
    const page = await admin.get('/admin/forum')
    expect(textOf(page.body)).toContain(staff.forum.tipsLast)
    expect(page.body).not.toContain('action="/admin/forum/tips"')
    await setSetting(test, 'tips', 'off')
    expect(textOf((await admin.get('/admin/forum')).body)).toContain(staff.forum.tipsOff)
    await setSetting(test, 'tips', 'on')
  })
})

describe('a site without tips', async () => {
  const other = await useForumWorld()
  const admin: Browser = await (await makePerson(other.test, { is_admin: true })).signIn()

  it('names their application on the page of the forum, among those that fit', async () => {
    const empty = await admin.get('/admin/forum')
    expect(textOf(empty.body)).toContain(staff.forum.tipsNone)
    const register = /<a class="button" href="([^"]+)">([^<]+)/g
    const [, href] = [...empty.body.matchAll(register)].find(
      ([, , text]) => text === staff.forum.tipsRegister,
    )!
    expect(await admin.get(href!)).toMatchObject({ status: 200 })
    await setSetting(other.test, 'tips', 'on')
    expect(textOf((await admin.get('/admin/forum')).body)).toContain(staff.forum.tipsMissing)
    const fitting = await makeMerchant(other.test)
    const page = await admin.get('/admin/forum')
    const named = await admin.submit(page, '/admin/forum/tips', { payment_id: fitting.payment_id })
    expect(named).toMatchObject({ status: 303 })
    expect(textOf((await admin.get('/admin/forum')).body)).toContain(staff.forum.tipsNamed)
    expect(await rowOf(other.test, 'payment_apps', { id: fitting.id })).toMatchObject({ is_tips: true })
    expect(await rowsOf(other.test, 'audit_log', { action: 'payment_app.tips' }, ['subject'])).toEqual([
      { subject: fitting.payment_id },
    ])
  })
})

describe('the API of their application', () => {
  it('reads a tip with its author and post, alone and in lists', async () => {
    const [erin, frank] = [await joined(), await joined(0n)]
    const { transaction_id } = await tip(test.deps, erin, frank, { post_path: POST })
    const fact = { to_user_id: Number(frank.id), to_username: frank.username, post: POST }
    const { body } = await app.query({ transaction_id })
    expect(body).toMatchObject({ success: true, tip: fact })
    const { order_id } = await rowOf(test, 'orders', { transaction_id })
    expect((await app.query({ order_id })).body).toMatchObject({ success: true, tip: fact })
  })
})
