/** Names and messages that buyers leave at a link. spec/links 2.6. */
import { afterAll, describe, expect, it } from 'vitest'
import { editLink } from '../../../src/payment/links/acts.ts'
import { judgeMessage } from '../../../src/payment/links/messages.ts'
import { makePayOrder } from '../../../src/payment/orders/pay.ts'
import { anonymise } from '../../../src/privacy/anonymise.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { makePerson, type Person } from '../../harness/cast.ts'
import { browser, setSetting, useTestApp } from '../../harness/harness.ts'
import { details, IP, makeLink, orderAt, ownerOf, type TestLink } from '../../harness/links.ts'
import { textOf } from '../../harness/markup.ts'
import { makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { refund } from '../../harness/orders.ts'
import { rowOf } from '../../harness/rows.ts'

const { paymentLinks: l, teamLinks } = messages.en
const test = await useTestApp()
const { deps } = test
await setSetting(test, 'limit_links_created', '0')
await setSetting(test, 'limit_link_orders', '0')
const merchant = await makeMerchant(test)
const { payment_id } = merchant
const owner = ownerOf(merchant)
const team = await merchant.owner.signIn()
const visitor = browser(test)
const alice = await makePerson(test, { points: 10_000n })
const client = await alice.signIn()
const pay = makePayOrder(deps)
afterAll(() => expectSoundBooks(test.db))

/** Buys with a message. Returns the transaction. */
async function say(link: TestLink, said: { name: string; message: string }, person: Person = alice) {
  const transaction_id = await orderAt(deps, link, person, { said })
  expect(await pay({ transaction_id, payer_id: person.id, expected_amount: 10n })).toBe('paid')
  return transaction_id
}
const judge = ({ slug }: TestLink, transaction_id: string, to: 'shown' | 'hidden') =>
  judgeMessage(deps, payment_id, { slug, transaction_id, to }, owner)
const pageOf = async ({ slug }: TestLink) => textOf((await visitor.get(`/l/${slug}`)).body)
const saidOf = async (transaction_id: string) => {
  const { id: order_id } = await rowOf(test, 'orders', { transaction_id })
  const { name, message, message_state } = await rowOf(test, 'link_orders', { order_id })
  return [name, message, message_state]
}

describe('a message of a buyer', () => {
  it('is left with the order, approved by the team, shown without its amount, and hidden again', async () => {
    const link = await makeLink(test, merchant, { messages: 'public', amount: 7_777n })
    const path = `/l/${link.slug}`
    const form = await client.get(path)
    expect(form.body).toContain(`value="${alice.username}"`)
    const ordered = await client.submit(form, path, { name: '', message: ' They look\r\nwonderful. <b>' })
    const payPath = ordered.location!
    const tab = `/payment/applications/${payment_id}/links/${link.slug}/messages`
    // It is the team's once the order is paid.
    expect((await team.get(tab)).body).not.toContain('They look wonderful')
    await client.submit(await client.get(payPath), payPath)
    const waiting = await team.get(tab)
    expect(textOf(waiting.body)).toContain('They look wonderful. <b>')
    expect(waiting.body).toContain(`@${alice.username}`)
    expect(waiting.body).toContain(teamLinks.messagesTab.tab(1))
    expect(await pageOf(link)).not.toContain('They look wonderful')
    const transaction_id = payPath.split('/').at(-1)!
    expect((await team.submit(waiting, `${tab}/${transaction_id}/show`)).status).toBe(303)
    const shown = await pageOf(link)
    expect(shown).toContain(l.said)
    expect(shown).toContain(l.anonymous)
    expect(shown).not.toContain(alice.username)
    // The price is on the page once, the amount of the message nowhere.
    expect(shown.slice(shown.indexOf(l.said))).not.toContain('7,777')
    const approved = await team.get(`${tab}?state=shown`)
    expect((await team.submit(approved, `${tab}/${transaction_id}/hide`)).status).toBe(303)
    expect(await pageOf(link)).not.toContain('They look wonderful')
  })

  it.each([
    ['name', { name: 'n'.repeat(31) }],
    ['name', { name: 'a\u202eb' }],
    ['message', { message: 'm'.repeat(201) }],
    ['message', { message: 'see https://elsewhere.example' }],
    ['message', { message: 'see WWW.elsewhere.example' }],
  ] as const)('is refused for its %s: %o', async (field, fields) => {
    const { slug } = await makeLink(test, merchant, { messages: 'private' })
    const path = `/l/${slug}`
    const refused = await client.submit(await client.get(path), path, fields)
    expect(refused.status).toBe(400)
    expect(textOf(refused.body)).toContain(l.saidWrong[field])
  })

  it('is not stored at a link that takes none, nor without words', async () => {
    const silent = await say(await makeLink(test, merchant), { name: 'A', message: 'Hello' })
    expect(await saidOf(silent)).toEqual([null, null, null])
    const link = await makeLink(test, merchant, { messages: 'private' })
    const path = `/l/${link.slug}`
    const { location } = await client.submit(await client.get(path), path, { name: 'A', message: '  ' })
    expect(await saidOf(location!.split('/').at(-1)!)).toEqual([null, null, null])
  })

  it('for the team alone is never on the page, even if it was approved before', async () => {
    const link = await makeLink(test, merchant, { messages: 'public' })
    await judge(link, await say(link, { name: 'A', message: 'Approved once' }), 'shown')
    expect(await pageOf(link)).toContain('Approved once')
    const edited = { slug: link.slug, details: details({ messages: 'private' }) }
    await editLink(deps, payment_id, edited, owner)
    expect(await pageOf(link)).not.toContain('Approved once')
  })

  it('is removed by its buyer at the receipt, and by no other member', async () => {
    const link = await makeLink(test, merchant, { messages: 'public' })
    const transaction_id = await say(link, { name: 'Ann', message: 'Mine' })
    await judge(link, transaction_id, 'shown')
    const path = `/payment/pay/${transaction_id}`
    const receipt = await client.get(path)
    expect(textOf(receipt.body)).toContain(l.yourMessageAs('Ann'))
    const stranger = await (await makePerson(test)).signIn()
    const forged = { ...(await stranger.get(`/l/${link.slug}`)).form(`/l/${link.slug}`) }
    expect((await stranger.post(`${path}/message`, forged)).status).toBe(404)
    expect(await saidOf(transaction_id)).toEqual(['Ann', 'Mine', 'shown'])
    expect((await client.submit(receipt, `${path}/message`)).status).toBe(303)
    expect(await saidOf(transaction_id)).toEqual([null, null, null])
    await expect(judge(link, transaction_id, 'shown')).rejects.toMatchObject({ code: 'not_found' })
    expect(await pageOf(link)).not.toContain('Mine')
  })

  it('is hidden by a full refund, and stays with a partial one', async () => {
    const link = await makeLink(test, merchant, { messages: 'public' })
    const transaction_id = await say(link, { name: 'Ann', message: 'Paid for' })
    await judge(link, transaction_id, 'shown')
    await refund(test, { transaction_id }, 4n)
    expect(await pageOf(link)).toContain('Paid for')
    await refund(test, { transaction_id }, 6n)
    expect(await pageOf(link)).not.toContain('Paid for')
  })

  it('is deleted with the account of its buyer', async () => {
    const leaving = await makePerson(test, { points: 10n })
    const staff = await makePerson(test, { is_admin: true })
    const link = await makeLink(test, merchant, { messages: 'public' })
    const transaction_id = await say(link, { name: 'Leaving', message: 'Goodbye' }, leaving)
    const act = { user_id: leaving.id, actor_id: staff.id, reason: 'asked', ip: IP, give_up: 0n }
    await anonymise(deps, act)
    expect(await saidOf(transaction_id)).toEqual([null, null, null])
  })

  it('is judged by operators of its team, and by nobody outside', async () => {
    const link = await makeLink(test, merchant, { messages: 'public' })
    const transaction_id = await say(link, { name: 'Ann', message: 'Judged' })
    const other = await makeMerchant(test)
    for (const [id, actor] of [
      [payment_id, ownerOf(other)],
      [other.payment_id, ownerOf(other)],
    ] as const) {
      const act = { slug: link.slug, transaction_id, to: 'shown' } as const
      await expect(judgeMessage(deps, id, act, actor)).rejects.toMatchObject({ code: 'not_found' })
    }
    expect(await saidOf(transaction_id)).toEqual(['Ann', 'Judged', 'waiting'])
  })
})
