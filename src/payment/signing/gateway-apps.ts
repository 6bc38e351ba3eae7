/**
 * A payment application as the gateway reads it. Every use reads from Postgres which keys are current, so that all
 * processes agree from the moment of a change.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { columnsOf, inOrder, makeBatcher } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'
import { named } from '../../database/named-statements.ts'
import type { Book } from '../../database/tables/columns.ts'
import type { PaymentAppStatus } from '../../database/tables/payment-apps.ts'
import { isPaymentId } from '../wire-fields/fields.ts'
import { makeReadyKeys, openKey } from './keys.ts'

const PID = /^[1-9]\d{0,17}$/

export type GatewayApp = {
  id: bigint
  book: Book
  payment_id: string
  pid: bigint
  applicant_id: bigint
  /** `suspended` while the owner is banned. */
  status: PaymentAppStatus
  /** Decimal text: points per unit of the merchant's currency. */
  exchange_rate: string
  /** Addresses and ranges that may call the API; empty means any. */
  allowed_addresses: string[]
  /** The versions that its owner has switched on and whose verification key exists. */
  accepts: { v1: boolean; v2: boolean }
  /** The Merchant KEY, which signs V1 requests, replies, notifications and returns. */
  merchant_key: string | undefined
  /** For each version, whether a former owner of the application knows the key that verifies its requests. */
  is_former_owners: { v1: boolean; v2: boolean }
  /** The row ids of the current keys. */
  key_ids: {
    merchant_key: bigint | null
    platform_private_key: bigint | null
    merchant_public_key: bigint | null
  }
}

/** `pid` is the application's name in a request: its number or its Payment ID, as text. */
export type GatewayAppReference = { pid: string } | { app_id: bigint }

export type FindGatewayApp = (reference: GatewayAppReference) => Promise<GatewayApp | undefined>

/** Makes the look-up of this process. It returns undefined for an unknown name. */
export function makeFindGatewayApp(
  deps: Pick<Core, 'db' | 'secrets' | 'batching' | 'clock'>,
): FindGatewayApp {
  const { db, secrets, batching, clock } = deps
  const ready = makeReadyKeys<string>()

  function merchantKeyOf({ id: app_id, merchant_key_id: id, merchant_key }: Row): string | undefined {
    if (id === null || merchant_key === null) return undefined
    return ready.find(id) ?? ready.keep(id, openKey(secrets, app_id, 'merchant_key', merchant_key))
  }

  const find = makeBatcher<Name, GatewayApp | undefined>({
    name: 'find gateway applications',
    ...batching,
    run: async (names) =>
      inOrder(names, await readApps(db, names, clock()), (row) => asApp(row, merchantKeyOf(row))),
  })
  return async (reference) => {
    const name = namedBy(reference)
    return name && find(name)
  }
}

function asApp(row: Row, merchant_key: string | undefined): GatewayApp {
  const { id, book, payment_id, pid, applicant_id, status, exchange_rate, allowed_addresses } = row
  const { platform_private_key_id: platform_private_key, merchant_public_key_id: merchant_public_key } = row
  return {
    id,
    book,
    payment_id,
    pid,
    applicant_id,
    status,
    exchange_rate,
    allowed_addresses,
    accepts: {
      v1: row.v1_enabled && merchant_key !== undefined,
      v2: row.v2_enabled && merchant_public_key !== null,
    },
    merchant_key,
    is_former_owners: { v1: row.merchant_key_is_former, v2: row.merchant_public_key_is_former },
    key_ids: { merchant_key: row.merchant_key_id, platform_private_key, merchant_public_key },
  }
}

type Row = {
  id: bigint
  book: Book
  payment_id: string
  pid: bigint
  applicant_id: bigint
  status: PaymentAppStatus
  exchange_rate: string
  allowed_addresses: string[]
  v1_enabled: boolean
  v2_enabled: boolean
  merchant_key_id: bigint | null
  merchant_key: Buffer | null
  platform_private_key_id: bigint | null
  merchant_public_key_id: bigint | null
  merchant_key_is_former: boolean
  merchant_public_key_is_former: boolean
}

/** One of an application's three names. */
type Name = { app_id?: bigint; pid?: bigint; payment_id?: string }

async function readApps(db: Db, names: Name[], now: Date): Promise<(Row & { item: number })[]> {
  const { rows } = await sql<Row & { item: number }>`
    select ${named} * from gateway_apps(
      ${columnsOf(names, { app_id: 'bigint', pid: 'bigint', payment_id: 'text' })}, ${now}::timestamptz
    )`.execute(db)
  return rows
}

function namedBy(reference: GatewayAppReference): Name | undefined {
  if ('app_id' in reference) return reference
  const { pid } = reference
  if (PID.test(pid)) return { pid: BigInt(pid) }
  if (isPaymentId(pid)) return { payment_id: pid }
  return undefined
}
