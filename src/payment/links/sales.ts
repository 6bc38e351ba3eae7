/** The sales of a link, with the codes that they sold, for its team. spec/links 4.3. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { codeContext } from './delivery.ts'

/** A code is recognised by its end, unless that would be most of it. */
const TAIL_LENGTH = 4
const TAILED_LENGTH_MIN = 8

type LinkSold = {
  id: bigint
  /** The owner of the application. Codes that were sold under another one stay masked. */
  applicant_id: bigint
}

export type SoldCode = { shown: string; isFull: boolean }

export type Sale = Awaited<ReturnType<typeof salesOfLink>>[number]

/**
 * Lists the sales of a link, the newest first. `id` is the units sold so far, which orders them.
 * @param codes.isFull shows codes as buyers read them.
 * @param codes.most the most codes of one sale, or all of them.
 */
export async function salesOfLink(
  { db, secrets }: Pick<Core, 'db' | 'secrets'>,
  { id: link_id, applicant_id }: LinkSold,
  { before, limit }: { before: bigint | undefined; limit: number },
  codes: { isFull: boolean; most?: number },
) {
  const sales = await db
    .selectFrom('link_orders as sale')
    .innerJoin('orders as paid', 'paid.id', 'sale.order_id')
    .innerJoin('users as buyer', 'buyer.id', 'sale.for_user_id')
    .where('sale.link_id', '=', link_id)
    .where('sale.sold_total', 'is not', null)
    .$if(before !== undefined, (query) => query.where('sale.sold_total', '<', before!))
    .orderBy('sale.sold_total', 'desc')
    .limit(limit)
    .select(['sale.sold_total as id', 'sale.order_id', 'sale.units', 'sale.unit_amount'])
    .select(['paid.transaction_id', 'paid.amount', 'paid.fee', 'paid.status', 'paid.refunded_amount'])
    .select(['paid.paid_at', 'paid.payee_id', 'buyer.username as buyer'])
    .execute()
  const sold = await codesOf(
    db,
    sales.map(({ order_id }) => order_id),
    codes.most,
  )
  return sales.map((sale) => {
    const isFull = codes.isFull && sale.payee_id === applicant_id
    const values = (sold.get(sale.order_id) ?? []).map((value) =>
      secrets.decrypt(codeContext(link_id), value),
    )
    return {
      ...sale,
      id: sale.id!,
      paid_at: sale.paid_at!,
      codes: values.map((code): SoldCode => ({ shown: isFull ? code : masked(code), isFull })),
    }
  })
}

function masked(code: string): string {
  const signs = [...code]
  return `••••${signs.length < TAILED_LENGTH_MIN ? '' : signs.slice(-TAIL_LENGTH).join('')}`
}

async function codesOf(
  db: Db,
  order_ids: bigint[],
  most: number | undefined,
): Promise<Map<bigint, Buffer[]>> {
  const { rows } = await sql<{ order_id: bigint; value_encrypted: Buffer }>`
    select order_id, value_encrypted from link_codes
    where order_id = any(${order_ids}::bigint[]) and unit <= ${most ?? null}::integer is not false
    order by order_id, unit`.execute(db)
  const codes = new Map<bigint, Buffer[]>()
  for (const { order_id, value_encrypted } of rows)
    codes.set(order_id, [...(codes.get(order_id) ?? []), value_encrypted])
  return codes
}

/** Sales that one statement reads for a file. */
const FILE_LINES = 500

/** Yields all sales of a link with all their codes in full, the newest first, at most so many. */
export async function* eachSale(
  deps: Pick<Core, 'db' | 'secrets'>,
  link: LinkSold,
  most: number,
): AsyncGenerator<Sale[]> {
  let before: bigint | undefined
  for (let left = most; left > 0; left -= FILE_LINES) {
    const limit = Math.min(left, FILE_LINES)
    const sales = await salesOfLink(deps, link, { before, limit }, { isFull: true })
    if (sales.length > 0) yield sales
    if (sales.length < limit) return
    before = sales.at(-1)!.id
  }
}
