/** What a hand-over says of the links that go with it. spec/links 1.2. */
import { expect, it } from 'vitest'
import { acceptOffer, offerApplication } from '../../../src/payment/apps/handover.ts'
import { addCodes, takeBackCodes } from '../../../src/payment/links/codes.ts'
import { makePerson } from '../../harness/cast.ts'
import { useTestApp } from '../../harness/harness.ts'
import { buyAt, IP, makeLink, orderAt, ownerOf } from '../../harness/links.ts'
import { textOf } from '../../harness/markup.ts'
import { makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'

const { handover } = messages.en.team
const test = await useTestApp()
const { deps } = test

it('the offer says to both how many unsold codes go with the application', async () => {
  const merchant = await makeMerchant(test)
  const { payment_id } = merchant
  const [buyer, heir] = [await makePerson(test, { points: 10n }), await makePerson(test, { trust_level: 4 })]
  const [team, next] = [await merchant.owner.signIn(), await heir.signIn()]
  const path = `/payment/applications/${payment_id}/handover`
  const link = await makeLink(test, merchant, { codes: ['a', 'b', 'c', 'd', 'e'] })
  await makeLink(test, merchant, { codes: ['f'] })
  await makeLink(test, await makeMerchant(test), { codes: ['of another shop'] })
  expect((await buyAt(deps, link, buyer)).outcome).toBe('paid')
  await takeBackCodes(deps, payment_id, { slug: link.slug, count: 1 }, ownerOf(merchant))
  const page = await team.get(path)
  expect(textOf(page.body)).toContain(handover.codes('4', 4n))
  const asked = await team.submit(page, `${path}/offer`, { username: heir.username })
  expect(textOf(asked.body)).toMatch(new RegExp(`${handover.ask.codes}\\s+4`))
  await offerApplication(deps, payment_id, heir.username, ownerOf(merchant))
  expect(textOf((await next.get(path)).body)).toContain(handover.codes('4', 4n))
  await acceptOffer(deps, payment_id, { user_id: heir.id, ip: IP })
  // The new owner has them.
  expect(
    await addCodes(deps, payment_id, { slug: link.slug, file: 'c' }, { user_id: heir.id, ip: IP }),
  ).toMatchObject({
    added: 0,
    known: 1,
  })
})

it('a hand-over changes no receipt, which names the member who was paid', async () => {
  const merchant = await makeMerchant(test)
  const { payment_id } = merchant
  const [buyer, heir] = [await makePerson(test, { points: 20n }), await makePerson(test, { trust_level: 4 })]
  const link = await makeLink(test, merchant)
  const { transaction_id } = await buyAt(deps, link, buyer)
  const unpaid = await orderAt(deps, link, buyer)
  await offerApplication(deps, payment_id, heir.username, ownerOf(merchant))
  await acceptOffer(deps, payment_id, { user_id: heir.id, ip: IP })
  const reader = await buyer.signIn()
  const receipt = textOf((await reader.get(`/payment/pay/${transaction_id}`)).body)
  expect(receipt).toContain(`@${merchant.owner.username}`)
  expect(receipt).not.toContain(`@${heir.username}`)
  for (const path of [`/payment/pay/${unpaid}`, `/l/${link.slug}`])
    expect(textOf((await reader.get(path)).body)).toContain(`@${heir.username}`)
})

it('the offer of an application without unsold codes says nothing of them', async () => {
  const merchant = await makeMerchant(test)
  await makeLink(test, merchant)
  const page = await (await merchant.owner.signIn()).get(
    `/payment/applications/${merchant.payment_id}/handover`,
  )
  expect(page.body).not.toContain(handover.ask.codes)
  expect(textOf(page.body)).not.toContain(handover.codes('0', 0n))
})
