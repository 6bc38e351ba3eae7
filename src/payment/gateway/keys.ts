/**
 * An application as the gateway needs it, with the keys that both versions sign by. Which keys are in force is read
 * from Postgres at every use, so that all processes agree from the moment of a change; only what never changes, the
 * parsed key of a stored row, is kept in memory.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { sql } from 'kysely'
import type { PaymentAppKeyKind, PaymentAppStatus } from '../../database/tables.ts'
import type { Deps } from '../../deps.ts'
import { newRsaPair, openKey, storeFirstKey } from '../keys.ts'

const PARSED_KEYS_MAX = 2_000
const GATEWAY_KINDS = ['merchant_key', 'platform_private_key', 'merchant_public_key'] as const
const PID = /^[1-9]\d{0,17}$/
const PAYMENT_ID = /^pay_[a-z0-9]{20}$/

export type GatewayApp = {
  id: bigint
  payment_id: string
  pid: bigint
  applicant_id: bigint
  status: PaymentAppStatus
  /** Decimal text: points per unit of the merchant's currency. */
  exchange_rate: string
  /** Addresses and ranges that may call the API; empty means any. */
  allowed_addresses: string[]
  /** The versions whose requests it takes: switched on by its owner, and with the key that they are verified by. */
  accepts: { v1: boolean; v2: boolean }
  /** The Merchant KEY, which V1 requests, replies and callbacks are signed with. */
  merchant_key: string | undefined
  /** The rows of the keys in force. */
  key_ids: Partial<Record<PaymentAppKeyKind, bigint>>
}

/** `pid` is what a request calls its application: the number or the Payment ID, as text. */
export type GatewayAppReference = { pid: string } | { app_id: bigint }

export type GatewayKeys = {
  /** One statement. Undefined for whatever names no application. */
  findApp(reference: GatewayAppReference): Promise<GatewayApp | undefined>
  /** The private key that we sign V2 replies and callbacks with: this application's alone. */
  platformKey(app: GatewayApp): Promise<KeyObject>
  /** The key that the merchant's V2 requests are verified by. */
  merchantPublicKey(app: GatewayApp): Promise<KeyObject | undefined>
}

export function openGatewayKeys({ db, secrets }: Pick<Deps, 'db' | 'secrets'>): GatewayKeys {
  /** By the id of their row, whose key never changes: a new key is a new row. */
  const parsed = new Map<bigint, KeyObject>()
  const making = new Map<bigint, Promise<bigint>>()

  async function read(app: GatewayApp, kind: PaymentAppKeyKind, id: bigint): Promise<KeyObject> {
    const known = parsed.get(id)
    if (known !== undefined) return known
    const { value_encrypted } = await db
      .selectFrom('payment_app_keys')
      .where('id', '=', id)
      .select('value_encrypted')
      .executeTakeFirstOrThrow()
    const der = Buffer.from(openKey(secrets, app.id, kind, value_encrypted), 'base64')
    const key =
      kind === 'platform_private_key'
        ? createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
        : createPublicKey({ key: der, format: 'der', type: 'spki' })
    if (parsed.size >= PARSED_KEYS_MAX) parsed.delete(parsed.keys().next().value!)
    parsed.set(id, key)
    return key
  }

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
        .where('book', '=', 'live')
        .where('valid_to', 'is', null)
        .select('id')
        .executeTakeFirstOrThrow()
      return id
    })().finally(() => making.delete(app_id))
    making.set(app_id, made)
    return made
  }

  return {
    findApp: (reference) => findApp({ db, secrets }, reference),
    async platformKey(app) {
      const id = app.key_ids.platform_private_key ?? (await makePlatformKey(app.id))
      return read(app, 'platform_private_key', id)
    },
    async merchantPublicKey(app) {
      const id = app.key_ids.merchant_public_key
      return id === undefined ? undefined : read(app, 'merchant_public_key', id)
    },
  }
}

async function findApp(
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  reference: GatewayAppReference,
): Promise<GatewayApp | undefined> {
  const named = namedBy(reference)
  if (named === undefined) return undefined
  const rows = await db
    .selectFrom('payment_apps as app')
    .leftJoin('payment_app_keys as key', (join) =>
      join
        .onRef('key.app_id', '=', 'app.id')
        .on('key.book', '=', 'live')
        .on('key.valid_to', 'is', null)
        .on('key.kind', 'in', GATEWAY_KINDS),
    )
    .where(named.column, '=', named.value)
    .select([
      'app.id',
      'app.payment_id',
      'app.pid',
      'app.applicant_id',
      'app.status',
      'app.exchange_rate',
      'app.v1_enabled',
      'app.v2_enabled',
      'key.id as key_id',
      'key.kind',
    ])
    .select([
      sql<string[]>`app.allowed_addresses::text[]`.as('allowed_addresses'),
      // The others are long, and rarely needed again.
      sql<Buffer | null>`case key.kind when 'merchant_key' then key.value_encrypted end`.as('merchant_key'),
    ])
    .execute()
  const first = rows[0]
  if (first === undefined) return undefined
  const { id, payment_id, pid, applicant_id, status, exchange_rate, allowed_addresses } = first
  const key_ids: GatewayApp['key_ids'] = {}
  for (const { kind, key_id } of rows) if (kind !== null && key_id !== null) key_ids[kind] = key_id
  const encrypted = rows.find(({ kind }) => kind === 'merchant_key')?.merchant_key ?? undefined
  return {
    id,
    payment_id,
    pid,
    applicant_id,
    status,
    exchange_rate,
    allowed_addresses,
    accepts: {
      v1: first.v1_enabled && encrypted !== undefined,
      v2: first.v2_enabled && key_ids.merchant_public_key !== undefined,
    },
    merchant_key: encrypted && openKey(secrets, id, 'merchant_key', encrypted),
    key_ids,
  }
}

function namedBy(reference: GatewayAppReference) {
  if ('app_id' in reference) return { column: 'app.id', value: reference.app_id } as const
  const { pid } = reference
  if (PID.test(pid)) return { column: 'app.pid', value: BigInt(pid) } as const
  if (PAYMENT_ID.test(pid)) return { column: 'app.payment_id', value: pid } as const
  return undefined
}
