/** Reads the current and ended keys of one application, because any of them may have signed a request. */
import { createPublicKey, hash } from 'node:crypto'
import type { GatewayApp } from '../signing/gateway-apps.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { openKey } from '../signing/keys.ts'
import type { OwnKey, OwnKeys } from './schemes.ts'

/** The newest keys of each kind. */
const KEYS_MAX = 4
const KINDS = ['token', 'merchant_key', 'merchant_public_key'] as const
type Kind = (typeof KINDS)[number]

/** Reads the keys. `keysAt` gives them as they were at a moment; `version` changes with every change of a key. */
export async function readOwnKeys(
  deps: GatewayCore,
  app: GatewayApp,
): Promise<{ keysAt: (at: Date) => OwnKeys; version: string }> {
  const { id, payment_id, pid } = app
  const rows = await deps.db
    .selectFrom('payment_app_keys')
    .where('app_id', '=', id)
    .where('kind', 'in', KINDS)
    .orderBy('id', 'desc')
    .select(['id', 'kind', 'value_encrypted', 'valid_to'])
    .execute()
  const newest = (kind: Kind) => rows.filter((row) => row.kind === kind).slice(0, KEYS_MAX)
  const of = (kind: Kind) =>
    newest(kind).map((row) => ({
      ...row,
      value: openKey(deps.secrets, id, row.kind, row.value_encrypted),
    }))
  const [tokens, merchantKeys] = [of('token'), of('merchant_key')]
  const publicKeys = of('merchant_public_key').map(({ value, valid_to }) => ({
    value: createPublicKey({ key: Buffer.from(value, 'base64'), format: 'der', type: 'spki' }),
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
    }
  }
  const version = rows.map((row) => `${row.id}:${row.valid_to?.getTime()}`).join()
  return { keysAt, version: hash('sha256', version) }
}
