/** Buyers read what they bought on their receipts. No row, log, mail, event, alert or list holds it in the clear. spec/links 3.4. */
import { sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { sendDueMail } from '../../../src/accounts/people/email.ts'
import { setEventsUrl } from '../../../src/payment/events/events.ts'
import { tellOfSales, tellOfStock } from '../../../src/payment/links/notices.ts'
import { mailReceipts } from '../../../src/payment/links/receipts.ts'
import { changePerson, makePerson } from '../../harness/cast.ts'
import { startTestApp } from '../../harness/harness.ts'
import { buyAt, makeLink, ownerOf } from '../../harness/links.ts'
import { makeMerchant } from '../../harness/merchant.ts'
import { startReceiver } from '../../harness/notify-receiver.ts'
import { refund } from '../../harness/orders.ts'
import { rowsOf } from '../../harness/rows.ts'
import { startSmtpServer } from '../../harness/smtp-server.ts'
import { upload } from '../../harness/uploads.ts'
import { until } from '../../harness/waiting.ts'

const [MARK, URL] = ['kingfisher-7Q2M', 'https://files.example.org/kingfisher-7Q2M']
const logs: string[] = []
const [smtp, receiver] = [await startSmtpServer(), await startReceiver()]
const test = await startTestApp(
  {
    ...{ SMTP_URL: smtp.url, SMTP_FROM: 'Tessera <no-reply@tessera.test>', LOG_LEVEL: 'debug' },
    NOTIFY_ALLOW_CIDRS: '127.0.0.0/8',
  },
  (line) => logs.push(line),
)
test.startNotifier()
const { deps, db } = test
afterAll(async () => {
  await test.close()
  await Promise.all([smtp.close(), receiver.close()])
})

/** The tables with a row that holds a mark, as text or in bytes. */
async function tablesWith(mark: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select quote_ident(table_name) as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(db)
  const found: string[] = []
  for (const { name } of rows) {
    const patterns = [`%${mark}%`, `%${Buffer.from(mark).toString('hex')}%`]
    const hits = await sql`
      select from ${sql.raw(name)} as entry where entry::text ilike any (${patterns}::text[]) limit 1`.execute(
      db,
    )
    if (hits.rows.length > 0) found.push(name)
  }
  return found
}

it('what a link sold is nowhere but on the receipts of its buyers', async () => {
  const merchant = await makeMerchant(test)
  await changePerson(test, merchant.owner, { email: 'seller@example.org', email_verified: true })
  await setEventsUrl(deps, merchant.payment_id, `${receiver.url}/events`, ownerOf(merchant))
  const alice = await makePerson(test, { points: 1_000n })
  await changePerson(test, alice, { email: 'alice@example.org', email_verified: true })
  const [owner, buyer] = [await merchant.owner.signIn(), await alice.signIn()]
  const area = `/payment/applications/${merchant.payment_id}`
  const each = { sale_alerts: 'each', messages: 'public', quantity_max: 2 } as const
  const coded = await makeLink(test, merchant, { ...each, codes: ['plain-1'] })
  const page = `${area}/links/${coded.slug}/codes`
  // A list with a fault is refused with the number of its line.
  for (const [file, status] of [
    [`${MARK}-code\nx\u0007`, 400],
    [`${MARK}-code\n`, 303],
  ] as const)
    expect((await upload(test, owner, { page, url: page, name: 'file', file })).statusCode).toBe(status)
  const links = [
    { link: coded, units: 2 },
    {
      link: await makeLink(test, merchant, { ...each, delivery: 'text', delivered: `Say ${MARK}` }),
      units: 1,
    },
    { link: await makeLink(test, merchant, { ...each, delivery: 'url', delivered: URL }), units: 1 },
  ]
  for (const { link, units } of links) {
    const { transaction_id } = await buyAt(deps, link, alice, units)
    expect((await buyer.get(`/payment/pay/${transaction_id}`)).body).toContain(MARK)
    await refund(test, { transaction_id }, 10n)
    const team = `${area}/links/${link.slug}`
    const lists = [`${team}/sales`, `${team}/messages`, `${team}/share`, `/l/${link.slug}`]
    const orders = [`${area}/orders`, `${area}/orders/${transaction_id}`, `${area}/events`, area]
    for (const path of [...lists, ...orders]) {
      const { status, body } = await owner.get(path)
      expect([path, status, body.includes(MARK)]).toEqual([path, 200, false])
    }
  }
  for (const path of [page, `${area}/links`]) expect((await owner.get(path)).body).not.toContain(MARK)
  for (const path of ['/account', '/account/payments', '/account/alerts'])
    expect((await buyer.get(path)).body).not.toContain(MARK)

  await tellOfSales(deps)
  await tellOfStock(deps)
  await mailReceipts(deps)
  await sendDueMail(deps)
  deps.notifier.nudge()
  const events = () => rowsOf(test, 'notifications', { app_id: merchant.id })
  await until(async () => (await events()).every(({ status }) => status === 'delivered'))
  expect((await owner.get('/account/alerts')).body).not.toContain(MARK)
  const sent = { events: receiver.received.map(({ body }) => body), mails: smtp.mails, logs }
  for (const [kind, all] of Object.entries(sent)) {
    expect([kind, all.length >= 3]).toEqual([kind, true])
    expect(JSON.stringify(all)).not.toContain(MARK)
  }
  expect(await tablesWith(MARK)).toEqual([])
  // The search finds what is there.
  expect(await tablesWith('Cat stickers')).toEqual(expect.arrayContaining(['links', 'orders', 'alerts']))
})
