/** The receipt of a purchase by email, for members with a confirmed address who have not refused it. spec/links 3.5. */
import { type Selectable, sql } from 'kysely'
import { enqueueMail, hasMail } from '../../accounts/people/email.ts'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import type { UsersTable } from '../../database/tables/accounts.ts'
import type { DeliveryKind } from '../../database/tables/links.ts'
import { dateTag, type Language } from '../../web/languages.ts'
import { plainText } from '../../web/parameters.ts'
import { markNames } from '../../web/spacing.ts'
import { isTip } from './find.ts'
import { receiptMail as texts } from './links.texts.ts'

/** Receipts of one transaction, so that a stopped process repeats few. */
const BATCH_MAX = 100

/** Where the member refuses these mails. */
const CHOICE = '/account/profile#receipts'

type Sale = {
  user_id: bigint
  username: string
  email: string
  language: Selectable<UsersTable>['language']
  shop: string
  description: string
  amount: bigint
  order_id: string
  transaction_id: string
  paid_at: Date
  delivery: DeliveryKind
  link_amount: bigint | null
}

/**
 * Writes the due receipts. The transaction that puts a mail into the outbox also deletes its notice, so each sale brings one mail,
 * however many processes run this at once. The mail contains nothing that the shop delivered.
 */
export async function mailReceipts(deps: Core): Promise<void> {
  while ((await deps.db.transaction().execute((tx) => mailSome(tx, deps))) === BATCH_MAX);
}

async function mailSome(tx: Tx, deps: Core): Promise<number> {
  const notices = await tx
    .deleteFrom('receipt_notices')
    .where('order_id', 'in', (eb) =>
      eb
        .selectFrom('receipt_notices')
        .orderBy('order_id')
        .limit(BATCH_MAX)
        .forUpdate()
        .skipLocked()
        .select('order_id'),
    )
    .returning('order_id')
    .execute()
  if (notices.length === 0 || !hasMail(deps.config)) return notices.length
  const ids = notices.map(({ order_id }) => order_id)
  const { rows } = await sql<Sale>`
    select payer.id as user_id, payer.username, payer.email, payer.language, app.name as shop, o.description, o.amount, o.order_id,
      o.transaction_id, o.paid_at, link.delivery, link.amount as link_amount
    from orders as o
    join link_orders as sale on sale.order_id = o.id
    join links as link on link.id = sale.link_id
    join payment_apps as app on app.id = o.app_id
    join users as payer on payer.id = o.payer_id
    where o.id = any (${ids}::bigint[]) and payer.email is not null and payer.email_verified and payer.mails_receipts
    order by o.id`.execute(tx)
  for (const sale of rows) await mailReceipt(tx, deps, sale)
  return notices.length
}

async function mailReceipt(tx: Tx, deps: Core, sale: Sale): Promise<void> {
  const language: Language = sale.language ?? 'en'
  const named = language === 'en' ? sale.shop : markNames(sale.shop)
  const amount = new Intl.NumberFormat(dateTag(language)).format(sale.amount)
  const isGift = isTip({ amount: sale.link_amount, delivery: sale.delivery })
  await enqueueMail(tx, deps, {
    ...{ user_id: sale.user_id, recipient: sale.email, username: sale.username, language, kind: 'receipt' },
    content: {
      subject: texts.subject(named, amount),
      text: isGift ? texts.textOfTip : sale.delivery === 'none' ? texts.textAlone : texts.text,
      facts: [
        [texts.shop, texts.asWritten(sale.shop)],
        [texts.product, texts.asWritten(plainText(sale.description))],
        [texts.amount, texts.points(amount)],
        [texts.order, texts.asWritten(sale.order_id)],
      ],
      at: sale.paid_at,
      button: texts.button,
      choice: { label: texts.choice, path: CHOICE },
    },
    link: `/payment/pay/${sale.transaction_id}`,
  })
}
