/**
 * Reads the current and ended keys of one application, because any of them may have signed a request. So may a key of another
 * application of the reader, of which it reads the valid ones.
 */
import { createPublicKey, hash } from 'node:crypto'
import { permits } from '../rights/rights.ts'
import type { GatewayApp } from '../signing/gateway-apps.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { openKey } from '../signing/keys.ts'
import type { OtherKey, OwnKey, OwnKeys } from './schemes.ts'

/** The newest keys of each kind. */
const KEYS_MAX = 4
/** The newest valid keys of the reader's other applications. */
const OTHER_KEYS_MAX = 60
const KINDS = ['token', 'merchant_key', 'merchant_public_key'] as const
type Kind = (typeof KINDS)[number]

/**
 * Reads the keys for a member who may debug the application. `keysAt` gives them as they were at a moment; `version` changes
 * with every change of a key.
 */
export async function readOwnKeys(
  deps: GatewayCore,
  app: GatewayApp,
  user_id: bigint,
): Promise<{ keysAt: (at: Date) => OwnKeys; version: string }> {
  const { id, payment_id, pid } = app
  const rows = await deps.db
    .selectFrom('payment_app_keys')
    .where('app_id', '=', id)
    .where('kind', 'in', KINDS)
    .orderBy('id', 'desc')
    .select(['id', 'kind', 'value_encrypted', 'valid_to'])
    .execute()
  const others = await readOtherKeys(deps, id, user_id)
  const newest = (kind: Kind) => rows.filter((row) => row.kind === kind).slice(0, KEYS_MAX)
  const of = (kind: Kind) =>
    newest(kind).map((row) => ({
      ...row,
      value: openKey(deps.secrets, id, row.kind, row.value_encrypted),
    }))
  const [tokens, merchantKeys] = [of('token'), of('merchant_key')]
  const publicKeys = of('merchant_public_key').map(({ value, valid_to }) => ({
    value: publicKeyOf(value),
    valid_to,
  }))
  const platform_key = createPublicKey(await deps.gatewayKeys.platformKey(app))
  const keysAt = (at: Date): OwnKeys => {
    const asOf = <Value>({ value, valid_to }: { value: Value; valid_to: Date | null }): OwnKey<Value> => ({
      value,
      ended_at: valid_to !== null && valid_to <= at ? valid_to : null,
    })
    return {
      payment_id,
      pid,
      tokens: tokens.map(asOf),
      merchant_keys: merchantKeys.map(asOf),
      public_keys: publicKeys.map(asOf),
      platform_key,
      others,
    }
  }
  const ids = [...rows, ...others].map((row) => `${row.id}:${'valid_to' in row && row.valid_to?.getTime()}`)
  return { keysAt, version: hash('sha256', ids.join()) }
}

/** Reads the valid keys of the other applications that the member may debug. */
async function readOtherKeys(deps: GatewayCore, app_id: bigint, user_id: bigint): Promise<OtherKey[]> {
  const rows = await deps.db
    .selectFrom('payment_app_keys as key')
    .innerJoin('payment_apps', 'payment_apps.id', 'key.app_id')
    .where('key.app_id', '<>', app_id)
    .where('key.kind', 'in', KINDS)
    .where('key.valid_to', 'is', null)
    .where(permits(user_id, 'signatures.debug'))
    .orderBy('key.id', 'desc')
    .limit(OTHER_KEYS_MAX)
    .select(['key.id', 'key.app_id', 'key.kind', 'key.value_encrypted', 'payment_apps.payment_id'])
    .execute()
  return rows.map(({ id, app_id, kind, value_encrypted, payment_id }) => {
    const value = openKey(deps.secrets, app_id, kind, value_encrypted)
    const of = { id, payment_id }
    return kind === 'merchant_public_key'
      ? { ...of, kind, value: publicKeyOf(value) }
      : { ...of, kind: kind as 'token' | 'merchant_key', value }
  })
}

const publicKeyOf = (value: string) =>
  createPublicKey({ key: Buffer.from(value, 'base64'), format: 'der', type: 'spki' })
