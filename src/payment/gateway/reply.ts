/** Signs replies with the application's platform key, as V2 requires. gateway.md 2.1. */
import { gatewayString, signRsa } from '../signing/gateway.ts'
import type { GatewayApp } from '../signing/gateway-apps.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'

export type Fields = Record<string, unknown>

/** Adds timestamp, sign and sign_type. The thread pool signs, so other requests do not wait. */
export async function signReply(
  { clock, gatewayKeys }: GatewayCore,
  app: GatewayApp,
  fields: Fields,
): Promise<Fields> {
  const timestamp = String(Math.floor(clock().getTime() / 1000))
  const signed = { ...fields, timestamp }
  const sign = await signRsa(gatewayString(signed), await gatewayKeys.platformKey(app))
  return { ...signed, sign, sign_type: 'RSA' }
}
