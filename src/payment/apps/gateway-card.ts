/** The settings for a shop's plugin: the addresses and keys of both versions, in the forms that plugins expect. */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { sql } from 'kysely'
import type { GatewayApp } from '../signing/gateway-apps.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { fingerprintOf } from '../signing/public-key.ts'

/**
 * Reads the plugin settings of an application. The addresses end in a slash, because plugins append paths to them; V2
 * plugins append `api/pay/…`. spec/gateway 1.1.
 */
export async function gatewayCard(deps: GatewayCore, app_id: bigint) {
  const app = await getApp(deps, app_id)
  const publicKey = await deps.gatewayKeys.merchantPublicKey(app)
  const bare = await spkiOfPlatform(deps, app)
  const url = deps.config.PAYMENT_PUBLIC_URL
  const { rows } = await sql<{ is_used: boolean }>`
    select exists (
      select from orders where app_id = ${app_id} and book in ('live', 'test') and door = 'gateway'
    ) as is_used`.execute(deps.db)
  return {
    /** Whether a shop has come by the gateway, or is about to. */
    isUsed: rows[0]!.is_used || publicKey !== undefined,
    v1Address: `${url}/payment/api/`,
    v2Address: `${url}/payment/`,
    submitAddress: `${url}/payment/api/submit.php`,
    merchantKey: app.merchant_key ?? '',
    platform: { bare, pem: pemOf('PUBLIC KEY', bare) },
    publicKey: publicKey && {
      bits: publicKey.asymmetricKeyDetails!.modulusLength!,
      fingerprint: fingerprintOf(spkiOf(publicKey)),
    },
  }
}

/** Our public key for an application: the base64 of its SPKI. */
export async function platformSpki(deps: GatewayCore, app_id: bigint): Promise<string> {
  return spkiOfPlatform(deps, await getApp(deps, app_id))
}

async function spkiOfPlatform({ gatewayKeys }: GatewayCore, app: GatewayApp): Promise<string> {
  return spkiOf(createPublicKey(await gatewayKeys.platformKey(app)))
}

const spkiOf = (key: KeyObject) => key.export({ type: 'spki', format: 'der' }).toString('base64')

async function getApp({ gatewayKeys }: GatewayCore, app_id: bigint): Promise<GatewayApp> {
  const app = await gatewayKeys.findApp({ app_id })
  if (app === undefined) throw new Error(`There is no payment application ${app_id}`)
  return app
}

/** Formats the base64 of a DER as PEM. */
export function pemOf(label: 'PUBLIC KEY' | 'PRIVATE KEY', base64: string): string {
  const lines = base64.match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`].join('\n')
}
