/**
 * The RSA keys of the gateway: our platform keys and the merchants' public keys. Memory holds only decrypted keys by
 * the id of their row.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { type FindGatewayApp, type GatewayApp, makeFindGatewayApp } from './gateway-apps.ts'
import { makeReadyKeys, newRsaPair, openKey, storeFirstKey } from './keys.ts'

export type GatewayKeys = {
  /** Look-ups at the same time share a statement. */
  findApp: FindGatewayApp
  /** The private key that signs V2 replies, notifications and returns. Each application has its own. */
  platformKey(app: PlatformKeyOf): Promise<KeyObject>
  /** The key that verifies the merchant's V2 requests. */
  merchantPublicKey(app: GatewayApp): Promise<KeyObject | undefined>
}

/** An application, and the row of its platform key, if there is one. */
type PlatformKeyOf = Pick<GatewayApp, 'id'> & { key_ids: Pick<GatewayApp['key_ids'], 'platform_private_key'> }

/** The core with the gateway's keys. */
export type GatewayCore = Core & { gatewayKeys: GatewayKeys }

/** Opens the gateway's keys for this process. */
export function openGatewayKeys(deps: Pick<Core, 'db' | 'secrets' | 'batching' | 'clock'>): GatewayKeys {
  const read = makeReadKey(deps)
  const makePlatformKey = openPlatformKeys(deps)
  return {
    findApp: makeFindGatewayApp(deps),
    async platformKey({ id: app_id, key_ids }) {
      const id = key_ids.platform_private_key ?? (await makePlatformKey(app_id))
      return read(app_id, 'platform_private_key', id)
    },
    async merchantPublicKey({ id: app_id, key_ids }) {
      const id = key_ids.merchant_public_key
      return id === null ? undefined : read(app_id, 'merchant_public_key', id)
    },
  }
}

type KeyDeps = { db: Db; secrets: Secrets }
type RsaKind = 'platform_private_key' | 'merchant_public_key'

function makeReadKey({ db, secrets }: KeyDeps) {
  const ready = makeReadyKeys<KeyObject>()
  return async (app_id: bigint, kind: RsaKind, id: bigint): Promise<KeyObject> => {
    const known = ready.find(id)
    if (known !== undefined) return known
    const { value_encrypted } = await db
      .selectFrom('payment_app_keys')
      .where('id', '=', id)
      .select('value_encrypted')
      .executeTakeFirstOrThrow()
    const der = Buffer.from(openKey(secrets, app_id, kind, value_encrypted), 'base64')
    return ready.keep(id, kind === 'platform_private_key' ? privateKey(der) : publicKey(der))
  }
}

const privateKey = (key: Buffer) => createPrivateKey({ key, format: 'der', type: 'pkcs8' })
const publicKey = (key: Buffer) => createPublicKey({ key, format: 'der', type: 'spki' })

/**
 * Makes the platform key of an application when it is first needed. Callers at the same time share one pair; of several
 * processes, the first one to store its pair wins.
 */
function openPlatformKeys(deps: KeyDeps) {
  const making = new Map<bigint, Promise<bigint>>()
  return (app_id: bigint): Promise<bigint> => {
    const begun = making.get(app_id)
    if (begun !== undefined) return begun
    const made = newPlatformKey(deps, app_id).finally(() => making.delete(app_id))
    making.set(app_id, made)
    return made
  }
}

/** Returns the id of the stored row, which another process may have stored first. */
async function newPlatformKey({ db, secrets }: KeyDeps, app_id: bigint): Promise<bigint> {
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
}
