/**
 * Mounts the identity area: an OAuth 2.0 / OpenID Connect provider and the registry of its applications. Pages read the
 * session. The endpoints of programs read no cookie and answer errors as RFC 6749 bodies.
 */
import type { FastifyInstance } from 'fastify'
import { AppError } from '../platform/errors.ts'
import { refuseOtherMethods } from '../web/methods.ts'
import { sendOAuthError } from '../web/oauth/errors.ts'
import type { Parameters } from '../web/parameters.ts'
import { AUTHORIZATION_PATH, AUTHORIZATION_PATHS, USERINFO_PATHS } from './apps/addresses.ts'
import { appPages } from './apps/apps.page.ts'
import { listAppsRoute, registerAppRoute } from './apps-api.ts'
import { authorisedAppPages } from './authorised-apps.page.ts'
import { deviceAuthorizationRoute } from './devices/authorization.ts'
import { devicePages } from './devices/device.page.ts'
import type { IdentityDeps } from './keys/keys.ts'
import { notMePages } from './not-me.page.ts'
import type { AuthorizeDeps } from './oauth/authorization.ts'
import { QUERY_BYTES_MAX, queryText } from './oauth/authorization-request.ts'
import { authorizePages, mandateAnswer } from './oauth/authorize.page.ts'
import { makeGetBearer, nameResourceMetadata } from './oauth/bearer.ts'
import { makeAuthenticateClient } from './oauth/clients.ts'
import { crossOriginScope } from './oauth/cross-origin.ts'
import { discoveryRoutes } from './oauth/discovery.ts'
import { sendBrowserError } from './oauth/errors.ts'
import { introspectionRoute } from './oauth/introspection.ts'
import { LOGOUT_PATH, logoutPages } from './oauth/logout.page.ts'
import { REVOCATION_PATH, revocationRoute } from './oauth/revocation.ts'
import { TOKEN_PATHS, tokenRoutes } from './oauth/token.ts'
import { trialPages } from './oauth/trial.page.ts'
import { userinfoRoutes } from './oauth/userinfo.ts'
import { webFingerRoute } from './webfinger.ts'

/** Mounts the browser scope and the machine scope of the area. */
export async function identityPlugin(app: FastifyInstance, deps: AuthorizeDeps): Promise<void> {
  await app.register(async (browser) => {
    browser.setErrorHandler(sendBrowserError)
    await refuseOtherMethods(browser, async () => {
      await browser.register(authorizePages, deps)
      await browser.register(repeatAsGet, { from: AUTHORIZATION_PATHS, to: AUTHORIZATION_PATH })
      await browser.register(logoutPages, deps)
      await browser.register(repeatAsGet, { from: [LOGOUT_PATH], to: LOGOUT_PATH })
    })
    await browser.register(mandateAnswer, deps)
    await browser.register(devicePages, deps)
    await browser.register(appPages, deps)
    await browser.register(trialPages, deps)
    await browser.register(authorisedAppPages, deps)
    await browser.register(notMePages, deps)
  })

  await app.register(async (machine) => {
    machine.setErrorHandler(sendOAuthError)
    await refuseOtherMethods(machine, () => machineRoutes(machine, deps))
  })
}

async function machineRoutes(machine: FastifyInstance, deps: IdentityDeps): Promise<void> {
  const authenticateClient = makeAuthenticateClient(deps)
  const getBearer = makeGetBearer(deps)
  await machine.register(discoveryRoutes, deps)
  webFingerRoute(machine, deps)
  await machine.register(async (personal) => {
    personal.addHook('onRequest', (_request, reply, done) => {
      reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
      done()
    })
    nameResourceMetadata(personal, deps)
    registerAppRoute(personal, deps, getBearer)
    await personal.register(listAppsRoute, { ...deps, getBearer })
    await personal.register(async (forms) => {
      takeFormsOnly(forms)
      introspectionRoute(forms, deps, authenticateClient)
      deviceAuthorizationRoute(forms, deps, authenticateClient)
      await forms.register(async (everywhere) => {
        crossOriginScope(everywhere, [...TOKEN_PATHS, ...USERINFO_PATHS, REVOCATION_PATH])
        tokenRoutes(everywhere, deps, authenticateClient)
        await everywhere.register(userinfoRoutes, { ...deps, getBearer })
        revocationRoute(everywhere, deps, authenticateClient)
      })
    })
  })
}

function takeFormsOnly(app: FastifyInstance): void {
  app.removeContentTypeParser(['application/json', 'text/plain'])
  app.addContentTypeParser('*', ({ headers }, _payload, done) => {
    const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';')
    const sent = OTHER_MEDIA_TYPES.find((each) => each === type.trim())
    const found = sent === undefined ? 'in another format' : `as ${sent}`
    const wanted = 'Send the parameters form-encoded (application/x-www-form-urlencoded)'
    done(new AppError('invalid_request', `${wanted}, not ${found}`))
  })
}

/** The media types that a refusal names. It repeats no other text of the sender. */
const OTHER_MEDIA_TYPES = [
  'application/json',
  'application/xml',
  'application/octet-stream',
  'multipart/form-data',
  'text/plain',
  'text/xml',
]

/**
 * Redirects POST requests of other sites to the same request as GET (OIDC Core 3.1.2.1, RP-Initiated Logout 2), because
 * browsers send no session cookie with such a POST. It does nothing else, so it needs no form token. It throws invalid_request for a
 * request that is too long.
 */
async function repeatAsGet(
  app: FastifyInstance,
  { from, to }: { from: readonly string[]; to: string },
): Promise<void> {
  app.removeContentTypeParser(['application/json', 'text/plain'])
  for (const path of from) {
    app.post<{ Querystring: Parameters; Body: Parameters | undefined }>(path, async (request, reply) => {
      const query = [request.query, request.body ?? {}]
        .map(queryText)
        .filter((text) => text !== '')
        .join('&')
      // A longer request would exceed the header limit, and no page could explain that.
      if (query.length > QUERY_BYTES_MAX) {
        throw new AppError('invalid_request', `The request is longer than ${QUERY_BYTES_MAX} bytes`)
      }
      return reply.header('cache-control', 'no-store').redirect(`${to}?${query}`, 303)
    })
  }
}
