/**
 * The client libraries of sites, unmodified, each with all its features: sign-in, userinfo, refresh, a replay that
 * must fail, introspection, revocation and sign-out. They reach the provider over loopback.
 */
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { describe, expect, it } from 'vitest'
import { GRANT_TYPES, registerApp } from '../../src/identity/apps/apps.ts'
import { linkSignInApp } from '../../src/payment/mandates/right.ts'
import { makePerson } from '../harness/cast.ts'
import { freePort } from '../harness/free-port.ts'
import { START, useTestApp } from '../harness/harness.ts'
import { giveRight, IP, offer, switchMandates } from '../harness/mandates.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { formsIn } from '../web/form-markup.ts'
import { authorizationAddress, authorizationRequest, listen, userAgent } from './conformance-client.ts'
import { filledIn, npmVersion, recipe } from './recipes/recipes.ts'
import { makeParty, type Party } from './relying-party.ts'

const BYE = 'https://app.example/bye'

const test = await useTestApp({ PUBLIC_URL: `http://127.0.0.1:${await freePort()}` })
// The libraries use the real clock.
test.clock.advance(Date.now() - START.getTime())
const op = await listen(test)
const party = await makeParty(test, { post_logout_redirect_uris: [BYE] })
const person = await makePerson(test, { name: 'Alice Archer', email: 'alice@example.org' })

const browse = () => userAgent(op, person)

/** Runs the recipe's code for an application, allowed to reach a service without https. */
function configured({ client_id, client_secret }: Party): Promise<client.Configuration> {
  const code = filledIn(recipe('openid-client').code[0]!, {
    'https://YOUR-TESSERA': op.issuer,
    'YOUR-CLIENT-ID': client_id,
  }).replace(/^import .*$/m, '')
  const discovery = (url: URL, id: string, secret: string) =>
    client.discovery(url, id, secret, undefined, { execute: [client.allowInsecureRequests] })
  const run = new Function('client', 'process', `return (async () => {${code}\nreturn config})()`)
  return run({ discovery }, { env: { CLIENT_SECRET: client_secret } })
}

it('the recipe of openid-client names the versions that run here', () => {
  const { versions } = recipe('openid-client')
  expect(versions).toEqual(['openid-client', 'oauth4webapi'].map((name) => npmVersion(name)))
})

/** The provider's own error, from any wrapper of a library. */
async function errorOf(act: Promise<unknown>): Promise<string> {
  try {
    await act
  } catch (error) {
    return (error as { error?: string }).error ?? String(error)
  }
  return 'nothing went wrong'
}

describe('openid-client', () => {
  type Kind = {
    app: () => Promise<Party>
    auth: (app: Party) => client.ClientAuth
    alg: string
    isPublic?: boolean
  }

  const kinds: Record<string, Kind> = {
    'with client_secret_basic': {
      app: async () => party,
      auth: ({ client_secret }) => client.ClientSecretBasic(client_secret),
      alg: 'RS256',
    },
    'with client_secret_post and ES256': {
      app: () => makeParty(test, { post_logout_redirect_uris: [BYE], id_token_signed_response_alg: 'ES256' }),
      auth: ({ client_secret }) => client.ClientSecretPost(client_secret),
      alg: 'ES256',
    },
    'as a public application': {
      app: () => makeParty(test, { post_logout_redirect_uris: [BYE], token_endpoint_auth_method: 'none' }),
      auth: () => client.None(),
      alg: 'RS256',
      isPublic: true,
    },
  }

  it.each(Object.entries(kinds))(
    '%s does all that it can',
    async (_, { app: makeApp, auth, alg, isPublic }) => {
      const app = await makeApp()
      const { client_id, redirect_uri } = app
      const metadata = { id_token_signed_response_alg: alg }
      const config = await client.discovery(new URL(op.issuer), client_id, metadata, auth(app), {
        execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks],
      })
      expect(config.serverMetadata().supportsPKCE()).toBe(true)
      const agent = browse()

      async function signIn(more: Record<string, string> = {}) {
        const pkceCodeVerifier = client.randomPKCECodeVerifier()
        const [expectedState, expectedNonce] = [client.randomState(), client.randomNonce()]
        const url = client.buildAuthorizationUrl(config, {
          redirect_uri,
          scope: 'openid profile email offline_access',
          state: expectedState,
          nonce: expectedNonce,
          code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
          code_challenge_method: 'S256',
          ...more,
        })
        const back = new URL((await agent.visit(url.href)).url)
        const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true }
        return { back, checks }
      }

      const { back, checks } = await signIn({ max_age: '10000' })
      const tokens = await client.authorizationCodeGrant(config, back, { ...checks, maxAge: 10_000 })
      const { sub } = tokens.claims()!
      expect(sub).toBe(String(person.id))
      const user = await client.fetchUserInfo(config, tokens.access_token, sub)
      expect(user).toMatchObject({ username: person.username, email: 'alice@example.org' })
      expect(tokens.claims()).toMatchObject({ preferred_username: person.username, groups: user.groups })

      const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token!)
      expect(refreshed.claims()!.sub).toBe(sub)
      expect((await client.fetchUserInfo(config, refreshed.access_token, sub)).sub).toBe(sub)
      await client.refreshTokenGrant(config, refreshed.refresh_token!)
      expect(await errorOf(client.refreshTokenGrant(config, tokens.refresh_token!))).toBe('invalid_grant')
      const dead = client.fetchUserInfo(config, refreshed.access_token, sub)
      await expect(dead).rejects.toBeInstanceOf(client.WWWAuthenticateChallengeError)

      const again = await signIn({ prompt: 'none', id_token_hint: tokens.id_token! })
      const second = await client.authorizationCodeGrant(config, again.back, again.checks)
      expect(await errorOf(client.authorizationCodeGrant(config, again.back, again.checks))).toBe(
        'invalid_grant',
      )

      if (!isPublic) {
        const third = await signIn()
        const live = await client.authorizationCodeGrant(config, third.back, third.checks)
        expect(await client.tokenIntrospection(config, live.access_token)).toMatchObject({
          active: true,
          sub,
          client_id,
        })
        expect((await client.tokenIntrospection(config, second.access_token)).active).toBe(false)
        await client.tokenRevocation(config, live.refresh_token!)
        expect(await client.tokenIntrospection(config, live.access_token)).toEqual({ active: false })
      } else {
        await client.tokenRevocation(config, second.refresh_token!)
      }

      const leave = client.buildEndSessionUrl(config, {
        post_logout_redirect_uri: BYE,
        id_token_hint: tokens.id_token!,
        state: 'left',
      })
      expect((await agent.visit(leave.href)).url).toBe(`${BYE}?state=left`)
      const silent = await signIn({ prompt: 'none' })
      const refused = client.authorizationCodeGrant(config, silent.back, silent.checks)
      expect(await errorOf(refused)).toBe('login_required')
    },
  )

  it('asks for a mandate with the sign-in, and reads what was granted', async () => {
    await switchMandates(test)
    const merchant = await makeMerchant(test)
    await giveRight(test, merchant)
    const { owner, payment_id } = merchant
    const facts = { name: 'Tea House', description: '', allow_groups: [], deny_groups: [] }
    const redirect_uri = 'https://app.example/callback'
    const app = await registerApp(test.db, { ...facts, owner_id: owner.id, redirect_uris: [redirect_uri] })
    const { client_id, client_secret } = app
    await linkSignInApp(test.deps, payment_id, client_id, { user_id: owner.id, ip: IP })
    const identifier = await offer(test, merchant)

    const options = { execute: [client.allowInsecureRequests] }
    const config = await client.discovery(new URL(op.issuer), client_id, client_secret, undefined, options)
    expect(config.serverMetadata().authorization_details_types_supported).toEqual(['points_mandate'])
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri,
      scope: 'openid',
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      authorization_details: JSON.stringify([{ type: 'points_mandate', identifier }]),
    })
    const agent = browse()
    const { body } = await agent.visit(url.href)
    const { action, values } = formsIn(body).find((form) => form.isOf('/oauth2/auth/mandate'))!
    const back = await agent.visit(op.issuer + action, { ...values, decision: 'charge' })
    const tokens = await client.authorizationCodeGrant(config, new URL(back.url), { pkceCodeVerifier })
    const granted = [{ type: 'points_mandate', identifier, payment_id, status: 'active', period_max: 250 }]
    expect(tokens.authorization_details).toMatchObject(granted)
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token!)
    expect(refreshed.authorization_details).toMatchObject(granted)
    const about = await client.tokenIntrospection(config, refreshed.access_token)
    expect(about.authorization_details).toMatchObject(granted)
    await switchMandates(test, 'off')
  })

  it.each(['RS256', 'ES256'] as const)('signs in with %s by its recipe', async (alg) => {
    const app = await makeParty(test, { id_token_signed_response_alg: alg })
    const config = await configured(app)
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: app.redirect_uri,
      scope: 'openid profile',
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    })
    const back = new URL((await browse().visit(url.href)).url)
    const tokens = await client.authorizationCodeGrant(config, back, { pkceCodeVerifier })
    expect(tokens.claims()?.sub).toBe(String(person.id))
  })

  it('signs in a device', async () => {
    const app = await makeParty(test, { grant_types: [...GRANT_TYPES] })
    const auth = client.ClientSecretBasic(app.client_secret)
    const options = { execute: [client.allowInsecureRequests] }
    const config = await client.discovery(new URL(op.issuer), app.client_id, undefined, auth, options)
    const asked = await client.initiateDeviceAuthorization(config, { scope: 'openid profile' })
    const { pathname, search } = new URL(asked.verification_uri_complete!)
    const phone = await person.signIn()
    const filled = await phone.get(pathname + search)
    const shown = await phone.submit(filled, '/device', { user_code: asked.user_code })
    await phone.submit(shown, '/device/decision', { decision: 'allow' })
    // The member has allowed it, so the first question is answered, and nothing waits between two.
    const tokens = await client.pollDeviceAuthorizationGrant(config, { ...asked, interval: 0 })
    const sub = String(person.id)
    expect(tokens.claims()!.sub).toBe(sub)
    expect((await client.fetchUserInfo(config, tokens.access_token, sub)).username).toBe(person.username)
  })

  it('tells a wrong secret from other failures', async () => {
    const auth = client.ClientSecretPost('wrong')
    const options = { execute: [client.allowInsecureRequests] }
    const config = await client.discovery(new URL(op.issuer), party.client_id, undefined, auth, options)
    expect(await errorOf(client.refreshTokenGrant(config, 'x'))).toBe('invalid_client')
  })
})

describe('oauth4webapi', () => {
  it('does all it can, checking every answer by the standards', async () => {
    const insecure = { [oauth.allowInsecureRequests]: true }
    const issuer = new URL(op.issuer)
    for (const algorithm of ['oidc', 'oauth2'] as const) {
      const response = await oauth.discoveryRequest(issuer, { ...insecure, algorithm })
      expect((await oauth.processDiscoveryResponse(issuer, response)).issuer).toBe(op.issuer)
    }
    const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure))
    const me: oauth.Client = { client_id: party.client_id }
    const auth = oauth.ClientSecretBasic(party.client_secret)
    const agent = browse()

    const verifier = oauth.generateRandomCodeVerifier()
    const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()]
    const request = authorizationRequest(party, {
      state,
      nonce,
      scope: 'openid profile',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    const arrival = await agent.visit(authorizationAddress(op, request))
    const parameters = oauth.validateAuthResponse(as, me, new URL(arrival.url), state)
    const redeem = () =>
      oauth.authorizationCodeGrantRequest(as, me, auth, parameters, party.redirect_uri, verifier, insecure)
    const response = await redeem()
    const checks = { expectedNonce: nonce, requireIdToken: true }
    const tokens = await oauth.processAuthorizationCodeResponse(as, me, response, checks)
    await oauth.validateApplicationLevelSignature(as, response, insecure)
    const { sub } = oauth.getValidatedIdTokenClaims(tokens)!

    const info = await oauth.userInfoRequest(as, me, tokens.access_token, insecure)
    expect(await oauth.processUserInfoResponse(as, me, sub, info)).toMatchObject({
      username: person.username,
    })

    const refresh = (token: string) => oauth.refreshTokenGrantRequest(as, me, auth, token, insecure)
    const refreshed = await oauth.processRefreshTokenResponse(as, me, await refresh(tokens.refresh_token!))
    expect(oauth.getValidatedIdTokenClaims(refreshed)!.sub).toBe(sub)

    const introspect = async (token: string) =>
      oauth.processIntrospectionResponse(
        as,
        me,
        await oauth.introspectionRequest(as, me, auth, token, insecure),
      )
    expect(await introspect(refreshed.access_token)).toMatchObject({ active: true, sub })
    const revoked = await oauth.revocationRequest(as, me, auth, refreshed.access_token, insecure)
    expect(await oauth.processRevocationResponse(revoked)).toBeUndefined()
    expect(await introspect(refreshed.access_token)).toEqual({ active: false })
    expect(await introspect(refreshed.refresh_token!)).toMatchObject({ active: true })

    const replay = oauth.processAuthorizationCodeResponse(as, me, await redeem(), checks)
    expect(await errorOf(replay)).toBe('invalid_grant')
    expect(await introspect(refreshed.refresh_token!)).toEqual({ active: false })
    const late = oauth.processRefreshTokenResponse(as, me, await refresh(refreshed.refresh_token!))
    expect(await errorOf(late)).toBe('invalid_grant')
  })

  it('takes our errors for what they are', async () => {
    const issuer = new URL(op.issuer)
    const insecure = { [oauth.allowInsecureRequests]: true }
    const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure))
    const me: oauth.Client = { client_id: party.client_id }
    const request = authorizationRequest(party, { prompt: 'none' })
    const { url } = await userAgent(op).visit(authorizationAddress(op, request))
    try {
      oauth.validateAuthResponse(as, me, new URL(url), request.state)
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(oauth.AuthorizationResponseError)
      expect((error as oauth.AuthorizationResponseError).error).toBe('login_required')
    }
    const dead = oauth.userInfoRequest(as, me, 'dead', insecure)
    const process = async () => oauth.processUserInfoResponse(as, me, oauth.skipSubjectCheck, await dead)
    await expect(process()).rejects.toBeInstanceOf(oauth.WWWAuthenticateChallengeError)
  })
})
