// This room: the device authorization grant (RFC 8628), for devices without a browser.
// Verbs: deviceAuthorizationRoute, devicePages.
// Tables: device_codes.
// Clauses: spec/sign-in 5.1.
/**
 * POST /oauth2/device_authorization (RFC 8628 3.1): a device asks for a code that its member enters in a browser.
 * spec/sign-in 5.1.
 */
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import { formValues } from '../../web/oauth/parameters.ts'
import type { Parameters } from '../../web/parameters.ts'
import { DEVICE_AUTHORIZATION_PATH } from '../apps/addresses.ts'
import { DEVICE_CODE_SECONDS, POLL_SECONDS, requestDeviceCode } from '../grants/devices.ts'
import { findResource } from '../grants/resources.ts'
import { refuseDetails } from '../oauth/authorization-details.ts'
import { readScopes } from '../oauth/authorization-request.ts'
import type { AuthenticateClient } from '../oauth/clients.ts'
import { type DeviceAuthorization, DeviceRequest } from '../oauth/shapes.ts'

/** Where members enter the code. */
export const DEVICE_PATH = '/device'

type Route = { Body: Parameters | undefined; Reply: z.output<typeof DeviceAuthorization> }

/** POST /oauth2/device_authorization in the machine scope. */
export function deviceAuthorizationRoute(
  app: FastifyInstance,
  deps: Core,
  authenticateClient: AuthenticateClient,
): void {
  app.post<Route>(DEVICE_AUTHORIZATION_PATH, async (request): Promise<Route['Reply']> => {
    const body = formValues(DeviceRequest, request.body)
    const now = deps.clock()
    const client = await authenticateClient(request, body, now)
    await deps.limits.hit('device_requests', `${client.client_id} ${networkOf(request.ip)}`)
    await refuseDetails(deps, request.body)
    const scopes = readScopes(body)
    const resource = await findResource(deps, body.resource)
    const agent = request.headers['user-agent']
    const codes = await requestDeviceCode(deps, {
      client,
      scopes,
      resource_app_id: resource?.app_id ?? null,
      ip: request.ip,
      agent,
      now,
    })
    const verification_uri = deps.config.PUBLIC_URL + DEVICE_PATH
    return {
      ...codes,
      verification_uri,
      verification_uri_complete: `${verification_uri}?user_code=${codes.user_code}`,
      expires_in: DEVICE_CODE_SECONDS,
      interval: POLL_SECONDS,
    }
  })
}
