/**
 * What a program needs to sign members in, ready to copy: as variables, and for some libraries. The recipes of the
 * documentation have the same lines, and the tests run those.
 */
import type { Config } from '../../platform/config.ts'
import { isPublic } from './access.ts'

/** `redirect` is the redirect URI that the library uses by itself, below the address of a site. */
export type Starter = { name: string; code: string; redirect?: string }

type Of = { client_id: string; redirect_uris: string[]; token_endpoint_auth_method: string }

/** Returns the starters for this kind of application. With a secret the variables contain it. */
export function startersFor(
  app: Of,
  { PUBLIC_URL: issuer }: Pick<Config, 'PUBLIC_URL'>,
  client_secret?: string,
): Starter[] {
  const { client_id } = app
  const redirect_uri = app.redirect_uris[0] ?? ''
  const variables = [`TESSERA=${issuer}`, `CLIENT_ID=${client_id}`]
  if (isPublic(app))
    return [
      { name: '.env', code: [...variables, `REDIRECT_URI=${redirect_uri}`].join('\n') },
      { name: 'oidc-client-ts', code: oidcClientTs(issuer, client_id, redirect_uri) },
    ]
  const secret = client_secret === undefined ? [] : [`CLIENT_SECRET=${client_secret}`]
  return [
    { name: '.env', code: [...variables, ...secret, `REDIRECT_URI=${redirect_uri}`].join('\n') },
    { name: 'Auth.js', code: authJs(issuer, client_id), redirect: '/auth/callback/tessera' },
    { name: 'openid-client', code: openidClient(issuer, client_id) },
    { name: 'Django social-auth', code: django(issuer, client_id), redirect: '/complete/oidc/' },
    { name: 'Authlib', code: authlib(issuer, client_id) },
    { name: 'go-oidc', code: goOidc(issuer, client_id, redirect_uri) },
  ]
}

const authJs = (issuer: string, client_id: string) => `const provider = {
  id: 'tessera',
  name: 'Tessera',
  type: 'oidc',
  issuer: '${issuer}',
  clientId: '${client_id}',
  clientSecret: process.env.CLIENT_SECRET,
  checks: ['pkce', 'state', 'nonce'],
}`

const openidClient = (issuer: string, client_id: string) => `import * as client from 'openid-client'

const config = await client.discovery(
  new URL('${issuer}'),
  '${client_id}',
  process.env.CLIENT_SECRET,
)`

const django = (
  issuer: string,
  client_id: string,
) => `AUTHENTICATION_BACKENDS = ["social_core.backends.open_id_connect.OpenIdConnectAuth"]
SOCIAL_AUTH_OIDC_OIDC_ENDPOINT = "${issuer}"
SOCIAL_AUTH_OIDC_KEY = "${client_id}"
SOCIAL_AUTH_OIDC_SECRET = os.environ["CLIENT_SECRET"]
SOCIAL_AUTH_PROTECTED_USER_FIELDS = ["groups"]`

const authlib = (issuer: string, client_id: string) => `oauth.register(
    "tessera",
    server_metadata_url="${issuer}/.well-known/openid-configuration",
    client_id="${client_id}",
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)`

const goOidc = (
  issuer: string,
  client_id: string,
  redirect_uri: string,
) => `provider, err := oidc.NewProvider(ctx, "${issuer}")
if err != nil {
	log.Fatal(err)
}
verifier := provider.Verifier(&oidc.Config{ClientID: "${client_id}"})
config := oauth2.Config{
	ClientID:     "${client_id}",
	ClientSecret: os.Getenv("CLIENT_SECRET"),
	Endpoint:     provider.Endpoint(),
	RedirectURL:  "${redirect_uri}",
	Scopes:       []string{oidc.ScopeOpenID, "profile", "email"},
}`

const oidcClientTs = (
  issuer: string,
  client_id: string,
  redirect_uri: string,
) => `const manager = new UserManager({
  authority: '${issuer}',
  client_id: '${client_id}',
  redirect_uri: '${redirect_uri}',
  scope: 'openid profile email',
  loadUserInfo: true,
})`
