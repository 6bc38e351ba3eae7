/** What members are told of their mandates: once for each cause, however many processes look. spec/mandates 3.3. */
import { sql } from 'kysely'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { mailContext } from '../../../src/accounts/people/email.ts'
import { balanceOf } from '../../../src/ledger/wallet.ts'
import {
  changeOwn,
  finishMandates,
  pauseOwn,
  resumeOwn,
  revokeByProgram,
  revokeByStaff,
  revokeOwn,
} from '../../../src/payment/mandates/acts.ts'
import { makeChargeMandate } from '../../../src/payment/mandates/charge.ts'
import { tellOfMandates } from '../../../src/payment/mandates/notices.ts'
import { makePerson, type Person } from '../../harness/cast.ts'
import { anotherProcess, useTestApp } from '../../harness/harness.ts'
import {
  chargedOr,
  chargeOf,
  IP,
  makeMandate,
  makeMandateMerchant,
  switchMandates,
} from '../../harness/mandates.ts'
import { textOf } from '../../harness/markup.ts'
import { type Merchant, makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { rowOf, rowsOf, setRows } from '../../harness/rows.ts'

const DAY_MS = 86_400_000

let merchant: Merchant
let alice: Person

const test = await useTestApp({ SMTP_URL: 'smtp://127.0.0.1:9', SMTP_FROM: 'no-reply@example.org' })
const second = await anotherProcess(test)
await switchMandates(test)
afterAll(() => second.close())
beforeEach(async () => {
  merchant = await makeMandateMerchant(test)
  alice = await makePerson(test, { points: 1_000n })
  const email = `${alice.username}@example.org`
  const confirmed = { email, email_verified: true }
  await setRows(test, 'users', { id: alice.id }, confirmed)
})

const charge = (mandate_id: string, amount: bigint) =>
  chargedOr(makeChargeMandate(test.deps)(chargeOf(merchant, mandate_id, amount)))
const days = (count: number) => test.clock.advance(count * DAY_MS)

/** What the mandates of the harness are for. */
const PURPOSE = 'A service'

/** Lets two processes look twice, and returns the alerts since the last call, without the acceptance. */
async function told(): Promise<unknown[]> {
  for (let n = 0; n < 2; n += 1)
    await Promise.all([tellOfMandates(test.deps), tellOfMandates({ ...second.deps, clock: test.deps.clock })])
  const { rows } = await sql<{ kind: string; facts: Record<string, string>; mails: number }>`
    with new as (update alerts set read_at = now() where user_id = ${alice.id} and read_at is null returning *)
    select kind, facts - array['app', 'mandate', 'purpose'] as facts from new where kind <> 'mandate_accepted' order by id`.execute(
    test.db,
  )
  return rows.map(({ kind, facts }) => [kind.replace('mandate_', ''), facts])
}

it('an acceptance and more than before, with a mail', async () => {
  const mandate_id = await makeMandate(test, merchant, alice)
  const act = { user_id: alice.id, ip: IP, isFresh: true }
  await changeOwn(test.deps, mandate_id, { charge_max: 10n }, { ...act, version: 2 })
  await changeOwn(test.deps, mandate_id, { charge_max: 20n }, { ...act, version: 3 })
  await pauseOwn(test.deps, mandate_id, act)
  await resumeOwn(test.deps, mandate_id, { ...act, version: 5 })
  expect(await told()).toEqual([
    ['more', { until: '2026-12-31' }],
    ['more', { until: '2026-12-31' }],
  ])
  const { rows } = await sql<{ kind: string; facts: Record<string, string> }>`
    select kind, facts from alerts where user_id = ${alice.id} order by id limit 1`.execute(test.db)
  const app = `Shop of ${merchant.owner.username}`
  const facts = { app, mandate: mandate_id, purpose: 'A service', until: '2026-12-31', each: '100' }
  expect(rows).toEqual([{ kind: 'mandate_accepted', facts }])
  const mails = await rowsOf(test, 'outgoing_mails', { user_id: alice.id })
  expect(mails.map(({ kind }) => kind)).toEqual([
    'alert.mandate_accepted',
    'alert.mandate_more',
    'alert.mandate_more',
  ])
  const page = await (await alice.signIn()).get('/account/alerts')
  expect(page.body).toContain(`href="/account/mandates/${mandate_id}"`)
  const shown = { ...facts, until: '31 Dec 2026' }
  expect(textOf(page.body)).toContain(messages.en.alerts.mails.mandate_accepted(shown).text)
})

it('each charge of a fixed mandate at once, and of others once the day is over', async () => {
  const fixed = await makeMandate(test, merchant, alice, { caps: { amount: 300n }, period: 'day' })
  const other = await makeMandate(test, merchant, alice)
  await charge(fixed, 300n)
  await charge(other, 20n)
  await charge(other, 30n)
  const charged = await rowOf(test, 'orders', { amount: 300n })
  const facts = {
    ...{ points: '300', transaction: charged.transaction_id, at: charged.paid_at!.toISOString() },
    // Later charges are not part of it.
    ...{ balance: String((await balanceOf(test.db, alice.id)) + 50n), next: expect.stringMatching(/^2026-/) },
  }
  expect(await told()).toEqual([['charged', facts]])
  const [mail] = (await rowsOf(test, 'outgoing_mails', { kind: 'alert.mandate_charged' })).slice(-1)
  const letter = test.deps.secrets.decrypt(mailContext(mail!.recipient), mail!.text_encrypted!)
  expect(letter).toContain(`/payment/pay/${charged.transaction_id}`)
  expect(letter).toContain(messages.en.alerts.balanceAfter)
  const { mails, chargesFor } = messages.en.alerts
  // The list gives the purpose only. The rest is in the title.
  const { subject } = mails.mandate_charged({ app: '', points: '300', purpose: PURPOSE })
  expect(textOf((await (await alice.signIn()).get('/account/alerts')).body)).toContain(
    `${subject} ${PURPOSE} `,
  )
  days(1)
  expect(await told()).toEqual([
    ['digest', { day: expect.stringMatching(/^2026-/), count: '2', points: '50' }],
  ])
  expect(textOf((await (await alice.signIn()).get('/account/alerts')).body)).toContain(
    chargesFor('2', PURPOSE),
  )
  expect(await rowsOf(test, 'charge_notices')).toEqual([])
})

it('the first refusal of its kind in a period', async () => {
  const mandate_id = await makeMandate(test, merchant, alice, { period: 'day' })
  await charge(mandate_id, 101n)
  await charge(mandate_id, 102n)
  expect(await told()).toEqual([['refused', { points: '102', outcome: 'charge_limit' }]])
  await charge(mandate_id, 103n)
  expect(await told()).toEqual([])
  days(1)
  await charge(mandate_id, 104n)
  expect(await told()).toEqual([['refused', { points: '104', outcome: 'charge_limit' }]])
})

it('its end by others and by time, and not by the member', async () => {
  const by = { actor_id: null, ip: null }
  const ids = []
  for (let n = 0; n < 4; n += 1) ids.push(await makeMandate(test, merchant, alice, { ends_on: undefined }))
  const [a, b, c] = ids as [string, string, string]
  await revokeByProgram(test.deps, { app_id: merchant.id, mandate_id: a, reason: 'Closed', ip: IP })
  await revokeByStaff(test.deps, { mandate_id: b, reason: 'Fraud' }, by)
  await revokeOwn(test.deps, c, { user_id: alice.id, ip: IP })
  expect(await told()).toEqual([
    ['ended', { reason: 'merchant', note: 'Closed' }],
    ['ended', { reason: 'staff', note: 'Fraud' }],
  ])
  days(366)
  await finishMandates(test.deps)
  expect(await told()).toEqual([['ended', { reason: 'finished', note: '' }]])
})

it('a new owner, once for each owner', async () => {
  await makeMandate(test, merchant, alice)
  const owner = await makePerson(test)
  await sql`select hand_over_application(${merchant.id}, ${owner.id}, ${test.clock.now()})`.execute(test.db)
  expect(await told()).toEqual([['owner', { owner: owner.username }]])
})

it('the next month and week of a fixed mandate ahead, and its end', async () => {
  const today = new Date(test.clock.now().getTime() + 8 * 3_600_000).toISOString().slice(0, 10)
  const dayAfter = (count: number) => new Date(Date.parse(today) + count * DAY_MS).toISOString().slice(0, 10)
  await makeMandate(test, merchant, alice, { caps: { amount: 5n }, period: 'week', ends_on: dayAfter(20) })
  await makeMandate(test, merchant, alice, { caps: { amount: 7n }, starts_on: dayAfter(4) })
  expect(await told()).toEqual([])
  days(1)
  expect(await told()).toEqual([['renews', { points: '7', day: dayAfter(4) }]])
  days(5)
  expect(await told()).toEqual([
    ['renews', { points: '5', day: dayAfter(7) }],
    ['ending', { until: dayAfter(20), offered: dayAfter(20) }],
  ])
})

it('nothing of the test book', async () => {
  const twin = await makeMerchant(test, { twinOf: merchant })
  const mandate_id = await makeMandate(test, { ...twin, book: 'test' }, alice, { caps: { amount: 5n } })
  await chargedOr(makeChargeMandate(test.deps)(chargeOf(twin, mandate_id, 5n)))
  await revokeByProgram(test.deps, { app_id: twin.id, mandate_id, reason: 'Closed', ip: IP })
  expect(await told()).toEqual([])
  expect(await rowsOf(test, 'charge_notices')).toEqual([])
})
