// @ts-check
/**
 * "Sign in with Tessera": the authorization code flow of OAuth 2.0 / OpenID Connect with PKCE, for you to copy. A larger
 * shop uses a certified client library. This code shows every check that such a library makes.
 */
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto'

const TIMEOUT_MS = 10_000

/**
 * @typedef {{ state: string, nonce: string, verifier: string, mandate_id?: string }} Attempt a started sign-in of one browser
 * @typedef {{ identifier: string, status: string }} GrantedMandate
 */
/** @typedef {{ sub: string, username: string }} Member `sub` never changes, so store it; the username may change */

/** A failed sign-in. `isDenied`: the visitor or a rule of Tessera refused it, and nothing is broken. */
export class SignInError extends Error {
  /** @param {string} message */
  constructor(message, isDenied = false) {
    super(message)
    this.isDenied = isDenied
  }
}

/**
 * Connects to one OAuth application.
 * @param {{ url: string, clientId: string, clientSecret: string, redirectUri: string }} options
 *   `redirectUri` must be registered character for character.
 */
export function openSignIn({ url, clientId, clientSecret, redirectUri }) {
  return {
    /**
     * Starts a sign-in. Keep `attempt` in the visitor's session, and send the browser to `location`.
     * @param {string} [mandate_id] of an offer that the member may allow on the same page
     * @returns {{ attempt: Attempt, location: string }}
     */
    begin(mandate_id) {
      const [state, nonce, verifier] = [random(), random(), random()]
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: 'openid profile',
        // Tessera returns it unchanged, which proves that this browser started the sign-in here.
        state,
        // The ID token contains it, which proves that the token belongs to this sign-in.
        nonce,
        // PKCE: a stolen code cannot be redeemed without the verifier.
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      })
      // The request only names the offer (RFC 9396). Its terms are with Tessera, so the browser cannot change them.
      const asked = { type: 'points_mandate', identifier: mandate_id }
      if (mandate_id !== undefined) query.set('authorization_details', JSON.stringify([asked]))
      const attempt = { state, nonce, verifier, ...(mandate_id && { mandate_id }) }
      return { attempt, location: `${url}/oauth2/auth?${query}` }
    },

    /**
     * Finishes a sign-in: checks the answer, and resolves to the member and to the mandates that the member has allowed with
     * it. Throws SignInError.
     * @param {URLSearchParams} query
     * @param {Attempt | undefined} attempt from the session; use it once
     * @returns {Promise<{ member: Member, mandates: GrantedMandate[] }>}
     */
    async finish(query, attempt) {
      if (attempt === undefined || query.get('state') !== attempt.state) {
        throw new SignInError('This sign-in was not started in this browser')
      }
      const error = query.get('error')
      if (error === 'access_denied') throw new SignInError('Access was denied', true)
      if (error !== null)
        throw new SignInError(`The provider answered ${error}: ${query.get('error_description')}`)
      const tokens = await redeem(query.get('code') ?? '', attempt.verifier)
      const claims = await verifyIdToken(tokens.id_token, attempt.nonce)
      const profile = await request('/oauth2/userinfo', {
        headers: { authorization: `Bearer ${tokens.access_token}` },
      })
      if (profile.sub !== claims.sub) throw new SignInError('The profile is of somebody else')
      const member = { sub: profile.sub, username: profile.username }
      return { member, mandates: tokens.authorization_details ?? [] }
    },
  }

  /**
   * Redeems the code from server to server, so the client secret never reaches a browser.
   * @param {string} code
   * @param {string} code_verifier
   */
  function redeem(code, code_verifier) {
    // RFC 6749 2.3.1: both halves are form-encoded before they are joined.
    const credentials = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`
    return request('/oauth2/token', {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier,
      }),
    })
  }

  /**
   * The claims of an ID token, if Tessera signed it for this shop and this sign-in, and it has not expired.
   * @param {string} idToken three parts, base64url, joined by dots: header, claims, signature
   * @param {string} nonce
   */
  async function verifyIdToken(idToken, nonce) {
    const [head = '', body = '', signature = ''] = idToken.split('.')
    const header = decode(head)
    const claims = decode(body)
    // The shop chooses the algorithm: a token must not choose how it is verified.
    if (header.alg !== 'RS256') throw new SignInError('The ID token is not signed with RS256')
    // A busy shop caches the keys for some minutes, and fetches them again for a new `kid`.
    const { keys } = await request('/oauth2/jwks', {})
    const jwk = keys.find((/** @type {{ kid: string }} */ candidate) => candidate.kid === header.kid)
    if (jwk === undefined) throw new SignInError('The ID token is signed with an unknown key')
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    if (!verify('RSA-SHA256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))) {
      throw new SignInError('The signature of the ID token is wrong')
    }
    if (claims.iss !== url) throw new SignInError('The ID token is from somebody else')
    if (claims.aud !== clientId) throw new SignInError('The ID token is for somebody else')
    if (claims.nonce !== nonce) throw new SignInError('The ID token is of another sign-in')
    if (!(claims.exp > Date.now() / 1000)) throw new SignInError('The ID token has expired')
    return claims
  }

  /**
   * @param {string} path
   * @param {RequestInit} init
   * @returns {Promise<Record<string, any>>}
   */
  async function request(path, init) {
    const response = await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) })
    const answer = /** @type {Record<string, any>} */ (await response.json())
    if (!response.ok)
      throw new SignInError(`The provider refused ${path}: ${answer.error_description ?? answer.error}`)
    return answer
  }
}

/** 256 random bits as URL-safe text. */
function random() {
  return randomBytes(32).toString('base64url')
}

/**
 * @param {string} part
 * @returns {Record<string, any>}
 */
function decode(part) {
  return JSON.parse(Buffer.from(part, 'base64url').toString())
}
