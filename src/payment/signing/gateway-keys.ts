/**
 * An application as the gateway needs it, with the keys that both versions sign by. Which keys are in force is read
 * from Postgres at every use, so that all processes agree from the moment of a change; only what never changes, the
 * opened key of a stored row, is kept in memory.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { inOrder, makeBatcher } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'
import type { Book } from '../../database/tables/columns.ts'
import type { PaymentAppStatus } from '../../database/tables/payment-apps.ts'
import { newRsaPair, openKey, storeFirstKey } from './keys.ts'

const READY_KEYS_MAX = 2_000
const PID = /^[1-9]\d{0,17}$/
const PAYMENT_ID = /^pay_[a-z0-9]{20}$/

export type GatewayApp = {
  id: bigint
  book: Book
  payment_id: string
  pid: bigint
  applicant_id: bigint
  /** With a barred owner, `suspended`. */
  status: PaymentAppStatus
  /** Decimal text: points per unit of the merchant's currency. */
  exchange_rate: string
  /** Addresses and ranges that may call the API; empty means any. */
  allowed_addresses: string[]
  /** The versions whose requests it takes: switched on by its owner, and with the key that they are verified by. */
  accepts: { v1: boolean; v2: boolean }
  /** The Merchant KEY, which V1 requests, replies and callbacks are signed with. */
  merchant_key: string | undefined
  /** Whether a former owner of the application knows the key that requests of each version are verified by. */
  is_former_owners: { v1: boolean; v2: boolean }
  /** The rows of the keys in force. */
  key_ids: {
    merchant_key: bigint | null
    platform_private_key: bigint | null
    merchant_public_key: bigint | null
  }
}

/** `pid` is what a request calls its application: the number or the Payment ID, as text. */
export type GatewayAppReference = { pid: string } | { app_id: bigint }

export type GatewayKeys = {
  /** Undefined for whatever names no application. Those asked for together share a statement. */
  findApp(reference: GatewayAppReference): Promise<GatewayApp | undefined>
  /** The private key that we sign V2 replies and callbacks with: this application's alone. */
  platformKey(app: GatewayApp): Promise<KeyObject>
  /** The key that the merchant's V2 requests are verified by. */
  merchantPublicKey(app: GatewayApp): Promise<KeyObject | undefined>
}

/** What the gateway is opened with. */
export type GatewayCore = Core & { gatewayKeys: GatewayKeys }

export function openGatewayKeys(deps: Pick<Core, 'db' | 'secrets' | 'batching' | 'clock'>): GatewayKeys {
  const { db, secrets, batching, clock } = deps
  // By the id of their row, whose key never changes: a new key is a new row.
  const parsed = new Map<bigint, KeyObject>()
  const opened = new Map<bigint, string>()
  const making = new Map<bigint, Promise<bigint>>()

  async function read({ id: app_id }: GatewayApp, kind: RsaKind, id: bigint): Promise<KeyObject> {
    const known = parsed.get(id)
    if (known !== undefined) return known
    const { value_encrypted } = await db
      .selectFrom('payment_app_keys')
      .where('id', '=', id)
      .select('value_encrypted')
      .executeTakeFirstOrThrow()
    const der = Buffer.from(openKey(secrets, app_id, kind, value_encrypted), 'base64')
    const key =
      kind === 'platform_private_key'
        ? createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
        : createPublicKey({ key: der, format: 'der', type: 'spki' })
    return keep(parsed, id, key)
  }

  function merchantKeyOf({ id: app_id, merchant_key_id: id, merchant_key }: Row): string | undefined {
    if (id === null || merchant_key === null) return undefined
    return opened.get(id) ?? keep(opened, id, openKey(secrets, app_id, 'merchant_key', merchant_key))
  }

  function asApp(row: Row): GatewayApp {
    const { id, book, payment_id, pid, applicant_id, status, exchange_rate, allowed_addresses } = row
    const { platform_private_key_id: platform_private_key, merchant_public_key_id: merchant_public_key } = row
    const merchant_key = merchantKeyOf(row)
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

  const find = makeBatcher<Name, GatewayApp | undefined>({
    name: 'find gateway applications',
    ...batching,
    run: async (names) => inOrder(names, await readApps(db, names, clock()), asApp),
  })

  /** For applications older than these keys. Many callers at once make one pair, and many processes keep one. */
  function makePlatformKey(app_id: bigint): Promise<bigint> {
    const begun = making.get(app_id)
    if (begun !== undefined) return begun
    const made = (async () => {
      const { private_base64 } = await newRsaPair()
      await storeFirstKey(db, secrets, app_id, 'platform_private_key', private_base64)
      const { id } = await db
        .selectFrom('payment_app_keys')
        .where('app_id', '=', app_id)
        .where('kind', '=', 'platform_private_key')
        .where('valid_to', 'is', null)
        .select('id')
        .executeTakeFirstOrThrow()
      return id
    })().finally(() => making.delete(app_id))
    making.set(app_id, made)
    return made
  }

  return {
    async findApp(reference) {
      const name = namedBy(reference)
      return name && find(name)
    },
    async platformKey(app) {
      const id = app.key_ids.platform_private_key ?? (await makePlatformKey(app.id))
      return read(app, 'platform_private_key', id)
    },
    async merchantPublicKey(app) {
      const id = app.key_ids.merchant_public_key
      return id === null ? undefined : read(app, 'merchant_public_key', id)
    },
  }
}

type RsaKind = 'platform_private_key' | 'merchant_public_key'

function keep<Key>(ready: Map<bigint, Key>, id: bigint, key: Key): Key {
  if (ready.size >= READY_KEYS_MAX) ready.delete(ready.keys().next().value!)
  ready.set(id, key)
  return key
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
    select * from gateway_apps(
      ${names.map(({ app_id }) => app_id ?? null)}::bigint[],
      ${names.map(({ pid }) => pid ?? null)}::bigint[],
      ${names.map(({ payment_id }) => payment_id ?? null)}::text[],
      ${now}::timestamptz
    )`.execute(db)
  return rows
}

function namedBy(reference: GatewayAppReference): Name | undefined {
  if ('app_id' in reference) return reference
  const { pid } = reference
  if (PID.test(pid)) return { pid: BigInt(pid) }
  if (PAYMENT_ID.test(pid)) return { payment_id: pid }
  return undefined
}
