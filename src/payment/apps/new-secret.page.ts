/** …/new-secret: shows new keys of an application once, with what comes next. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { AccessScope } from '../../database/tables/access-keys.ts'
import { readOnce, showOnce } from '../../web/forms/shown-once.ts'
import type { Report } from '../../web/report.ts'
import { firstCalls } from '../access-keys/first-calls.ts'
import { OWNERS_SCOPES } from '../access-keys/keys.ts'
import { API_PATH, TOKEN_PATH } from '../access-keys/token.ts'
import { APPLICATION, APPLICATIONS, type OwnedRequest, pathOf } from '../rights/owned.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { gatewayCard, pemOf } from './gateway-card.ts'
import { getOwned } from './own-app.ts'

type Owned = Awaited<ReturnType<typeof getOwned>>

/** New keys: of a live application that was just made, or one that replaces another. */
export type NewSecret =
  | { kind: 'made' | 'token'; token: string; secret_key: string }
  | { kind: 'key'; key: string }
  | { kind: 'events'; secret: string }
  | { kind: 'access'; client_id: string; client_secret: string; scopes: AccessScope[] }
  /** The base64 of a private key. */
  | { kind: 'pair'; private_base64: string }

type Field = { name: string; label: string; value: string; hint?: string }

declare module '../../web/views.ts' {
  interface PageData {
    'payment/apps/new-secret': {
      owned: Owned
      kind: NewSecret['kind']
      /** Whether a program with the key can send points of the owner. */
      movesPoints: boolean
      secrets: Field[]
      /** The private key as PEM, which has several lines. */
      pem: string | undefined
      addresses: Field[]
      guide: string
      back: string
    }
  }
}

/** Answers a form that made keys: redirects to the page that shows them once. */
export function showNewSecret(
  reply: FastifyReply,
  deps: Core,
  { payment_id, secret, done }: { payment_id: string; secret: NewSecret; done: Report },
): FastifyReply {
  const page = `${APPLICATIONS}/${payment_id}/new-secret`
  showOnce(reply, page, secret, deps)
  return reply.done(page, done)
}

/** GET …/new-secret. Without a new secret it leads to the keys. */
export function newSecretPage(app: FastifyInstance, deps: GatewayCore): void {
  app.get(`${APPLICATION}/new-secret`, async (request: OwnedRequest, reply) => {
    const owned = await getOwned(
      deps,
      request.params.payment_id,
      sessionOf(request).user.id,
      'application.read',
    )
    const secret = readOnce<NewSecret>(reply, deps)
    const base = pathOf(request)
    if (secret === undefined) return reply.redirect(`${base}/developers`, 303)
    return reply.page('payment/apps/new-secret', {
      owned,
      kind: secret.kind,
      movesPoints: secret.kind === 'access' && secret.scopes.some((scope) => OWNERS_SCOPES.includes(scope)),
      secrets: secretsIn(request, deps, secret),
      pem: secret.kind === 'pair' ? pemOf('PRIVATE KEY', secret.private_base64) : undefined,
      addresses: await addressesFor(request, deps, owned, secret),
      guide: GUIDES[secret.kind],
      back: base + wayOn(secret.kind),
    })
  })
}

/** The page that comes next. */
function wayOn(kind: NewSecret['kind']): string {
  if (kind === 'events') return '/events'
  if (kind === 'access') return '/access-keys'
  return kind === 'made' ? '' : '/developers'
}

const GUIDES: Record<NewSecret['kind'], string> = {
  made: '/docs/merchant',
  token: '/docs/merchant',
  key: '/docs/gateway-clients',
  events: '/docs/notifications',
  access: '/docs/access-keys',
  pair: '/docs/gateway-clients',
}

function secretsIn({ locale }: OwnedRequest, { config }: GatewayCore, secret: NewSecret): Field[] {
  const { paymentApps, developers, events, merchantGateway, accessKeys } = locale.t
  switch (secret.kind) {
    case 'key':
      return [{ name: 'key', label: developers.merchantKey, value: secret.key, hint: developers.shown }]
    case 'events':
      return [{ name: 'secret', label: events.secret, value: secret.secret, hint: events.secretHint }]
    case 'access':
      return [
        { name: 'client-secret', label: accessKeys.clientSecret, value: secret.client_secret },
        {
          name: 'sample',
          label: accessKeys.sample,
          value: firstCalls(config.PAYMENT_PUBLIC_URL, secret),
          hint: accessKeys.sampleHint,
        },
      ]
    case 'pair':
      return [{ name: 'bare', label: merchantGateway.privateBare, value: secret.private_base64 }]
    default:
      return [
        { name: 'token', label: paymentApps.token, value: secret.token },
        {
          name: 'secret-key',
          label: paymentApps.secretKey,
          value: secret.secret_key,
          hint: paymentApps.secretKeyHint,
        },
      ]
  }
}

/** What else goes into the shop, beside the secret. */
async function addressesFor(
  { locale }: OwnedRequest,
  deps: GatewayCore,
  owned: Owned,
  secret: NewSecret,
): Promise<Field[]> {
  const { kind } = secret
  const { paymentApps, merchantGateway, developers, events, accessKeys } = locale.t
  const pid = { name: 'pid', label: paymentApps.pid, value: String(owned.pid) }
  if (kind === 'events') return [{ name: 'events', label: events.url, value: owned.events_url ?? '' }]
  if (secret.kind === 'access')
    return [
      { name: 'client-id', label: accessKeys.clientId, value: secret.client_id },
      {
        name: 'token-address',
        label: accessKeys.tokenAddress,
        value: deps.config.PAYMENT_PUBLIC_URL + TOKEN_PATH,
      },
      { name: 'api-address', label: accessKeys.apiAddress, value: deps.config.PAYMENT_PUBLIC_URL + API_PATH },
    ]
  if (kind === 'made' || kind === 'token') {
    const api = `${deps.config.PAYMENT_PUBLIC_URL}/payment/pay/${owned.payment_id}/process`
    const id = { name: 'payment-id', label: paymentApps.paymentId, value: owned.payment_id }
    return [id, pid, { name: 'api', label: developers.createAddress, value: api }]
  }
  const { v1Address, submitAddress, v2Address, platform } = await gatewayCard(deps, owned.id)
  if (kind === 'key')
    return [
      pid,
      { name: 'v1', label: merchantGateway.v1Address, value: v1Address },
      { name: 'submit', label: merchantGateway.submitAddress, value: submitAddress },
    ]
  return [
    pid,
    { name: 'v2', label: merchantGateway.v2Address, value: v2Address },
    { name: 'platform', label: merchantGateway.platformKey, value: platform.bare },
  ]
}
