/** Signs replies with the application's platform key, as V2 requires. spec/gateway 3.1. */
import type { FastifyRequest } from 'fastify'
import { gatewayString, signRsa } from '../signing/gateway.ts'
import type { GatewayApp } from '../signing/gateway-apps.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { isAskedByRsa } from './request.ts'

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

/** Signs the reply to a request with sign_type=RSA, which verifies it. The other fields stay those of V1, even empty ones. */
export async function asAsked(deps: GatewayCore, request: FastifyRequest, fields: Fields): Promise<Fields> {
  const { gatewayApp } = request
  return gatewayApp !== undefined && isAskedByRsa(request) ? signReply(deps, gatewayApp, fields) : fields
}
