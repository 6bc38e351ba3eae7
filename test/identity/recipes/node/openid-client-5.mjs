// @ts-nocheck: the rest of the project does not have the types of this package.
/** A site with openid-client 5, which shows the claims, the profile, and whether a refresh worked. */
import { generators, Issuer } from 'openid-client'
import { fromRecipe, serve } from './site.mjs'

const client = await fromRecipe('client', { Issuer })
const [redirect_uri] = client.metadata.redirect_uris
const code_verifier = generators.codeVerifier()
const checks = { state: generators.state(), nonce: generators.nonce(), response_type: 'code' }

serve(async ({ url }) => {
  if (!url.startsWith(redirect_uri))
    return Response.redirect(
      client.authorizationUrl({
        scope: 'openid profile email',
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: generators.codeChallenge(code_verifier),
        code_challenge_method: 'S256',
      }),
    )
  const tokens = await client.callback(redirect_uri, client.callbackParams(url), { ...checks, code_verifier })
  const profile = await client.userinfo(tokens)
  const fresh = await client.refresh(tokens)
  return { claims: tokens.claims(), profile, isRefreshed: fresh.access_token !== tokens.access_token }
})
