/**
 * /apps/:client_id/test: the owner signs in to the own application, and reads what its program would learn. The sign-in is a
 * real one up to its code. The code becomes no tokens, so neither a token nor a secret is there to be stolen. spec/registry 3.5,
 * decisions 6.37.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { browserScope, requireUser, sessionOf } from '../../accounts/session/session.ts'
import { randomToken, sha256 } from '../../platform/secrets.ts'
import { getApp } from '../apps/acts.ts'
import { AUTHORIZATION_PATH, trialAddress } from '../apps/addresses.ts'
import { APP_PAGE, type App, navOf, type OneApp, ownedBy } from '../apps/area.ts'
import { redeemTrialCode, type TrialCode } from '../grants/trials.ts'
import type { IdentityDeps } from '../keys/keys.ts'
import { ID_TOKEN_TYPE, idTokenClaims } from './id-token.ts'
import { userinfo } from './userinfo.ts'

/** The scopes that a trial may ask for besides `openid`. */
const SCOPES = ['profile', 'email', 'groups'] as const
/** Long enough to read the consent page and to sign in again. */
const TRIAL_MS = 600_000

/** The claims that are times. */
const TIMES = ['auth_time', 'iat', 'exp']

/** The steps of a sign-in, in their order. */
export const TRIAL_STEPS = ['asked', 'allowed', 'answered', 'redeemed'] as const
type Step = (typeof TRIAL_STEPS)[number]

/** Why a trial ended at a step. */
type Fault = 'refused' | 'error' | 'state' | 'code'

export type TrialResult = {
  scopes: string[]
  /** The step that failed. The ones before it are done. */
  failed?: { step: Step; fault: Fault; error: string; description: string }
  /** What the program would get. */
  header?: object
  claims?: object
  /** The userinfo answer. */
  member?: ReturnType<typeof userinfo>
  rows?: ClaimRow[]
}

/** A claim with its value as text. Those that are not in the ID token are in the userinfo answer only. `time` is set for a claim in seconds since 1970. */
type ClaimRow = { name: string; value: string; time?: Date; isInIdToken: boolean }

declare module '../../web/views.ts' {
  interface PageData {
    'identity/apps/own-test': {
      app: App
      nav: AreaNav
      scopes: typeof SCOPES
      chosen: readonly string[]
      result?: TrialResult
    }
  }
}

const Sealed = z.object({
  until: z.number(),
  verifier: z.string(),
  nonce: z.string(),
  scopes: z.string().array(),
})
const Sent = z.object({
  state: z.string().max(2_000).default(''),
  code: z.string().max(200).default(''),
  iss: z.string().max(500).default(''),
  error: z.string().max(100).default(''),
  error_description: z.string().max(500).default(''),
})

/** GET and POST …/test, and GET …/test/answer. */
export async function trialPages(app: FastifyInstance, deps: IdentityDeps): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  const page = `${APP_PAGE}/test`

  app.get<OneApp>(page, async (request, reply) => {
    const own = await getApp(deps.db, ownedBy(request, deps))
    return showTrial(request, reply, own, { chosen: ['profile', 'email'] })
  })

  app.post<OneApp>(page, async (request, reply) => {
    const { client_id } = await getApp(deps.db, ownedBy(request, deps))
    const sent = (request.body ?? {}) as Record<string, unknown>
    const scopes = ['openid', ...SCOPES.filter((scope) => sent[scope] !== undefined)]
    return reply.redirect(begin(request, client_id, scopes, deps), 303)
  })

  // No HEAD, because each request may use a code.
  app.get<OneApp>(`${page}/answer`, { exposeHeadRoute: false }, async (request, reply) => {
    const own = await getApp(deps.db, ownedBy(request, deps))
    const result = await resultOf(request, own, deps)
    return showTrial(request, reply, own, { chosen: result.scopes, result })
  })
}

function showTrial(
  request: FastifyRequest,
  reply: FastifyReply,
  app: App,
  shown: { chosen: readonly string[]; result?: TrialResult },
): FastifyReply {
  return reply.page('identity/apps/own-test', { app, nav: navOf(request, app), scopes: SCOPES, ...shown })
}

/** What binds a state to its application, and to the session that began the trial. */
const purposeOf = (request: FastifyRequest, client_id: string) =>
  `trial of ${client_id} in session ${sessionOf(request).id}`

/** Returns the authorization request. Its state carries the verifier and the nonce, encrypted for this session. */
function begin(
  request: FastifyRequest,
  client_id: string,
  scopes: string[],
  { secrets, clock, config }: IdentityDeps,
): string {
  const [verifier, nonce] = [randomToken(), randomToken()]
  const until = clock().getTime() + TRIAL_MS
  const sealed = JSON.stringify({ until, verifier, nonce, scopes } satisfies z.output<typeof Sealed>)
  const query = new URLSearchParams({
    client_id,
    redirect_uri: trialAddress(config, client_id),
    response_type: 'code',
    scope: scopes.join(' '),
    prompt: 'consent',
    nonce,
    state: secrets.encrypt(purposeOf(request, client_id), sealed).toString('base64url'),
    code_challenge: sha256(verifier).toString('base64url'),
    code_challenge_method: 'S256',
  })
  return `${AUTHORIZATION_PATH}?${query}`
}

/** Reads the state that `begin` made for this session. Undefined for any other one, and after ten minutes. */
function unseal(
  request: FastifyRequest,
  client_id: string,
  state: string,
  { secrets, clock }: IdentityDeps,
): z.output<typeof Sealed> | undefined {
  try {
    const text = secrets.decrypt(purposeOf(request, client_id), Buffer.from(state, 'base64url'))
    const sealed = Sealed.parse(JSON.parse(text))
    return clock().getTime() < sealed.until ? sealed : undefined
  } catch {
    return undefined
  }
}

/** Judges the answer as a program must, and reads what its tokens would say. */
async function resultOf(request: FastifyRequest, app: App, deps: IdentityDeps): Promise<TrialResult> {
  const { data } = Sent.safeParse(request.query)
  const sealed = unseal(request, app.client_id, data?.state ?? '', deps)
  if (data === undefined || sealed === undefined || data.iss !== deps.config.PUBLIC_URL)
    return failedAt('answered', 'state', ['openid'])
  const { scopes, verifier, nonce } = sealed
  if (data.error !== '') {
    const said = { error: data.error, description: data.error_description }
    return data.error === 'access_denied'
      ? failedAt('allowed', 'refused', scopes, said)
      : failedAt('asked', 'error', scopes, said)
  }
  const { user, id: session_id } = sessionOf(request)
  const now = deps.clock()
  const code = await redeemTrialCode(deps.db, {
    ...{ code: data.code, app_id: app.id, user_id: user.id, session_id, now },
    ...{ redirect_uri: trialAddress(deps.config, app.client_id), code_verifier: verifier },
  })
  if (code === undefined || code.nonce !== nonce) return failedAt('redeemed', 'code', scopes)
  return { scopes: code.scopes, ...(await learned(request, app, code, deps)) }
}

function failedAt(
  step: Step,
  fault: Fault,
  scopes: string[],
  { error, description } = { error: '', description: '' },
): TrialResult {
  return { scopes, failed: { step, fault, error, description } }
}

/** What the program would learn: the ID token without its signature, and the userinfo answer. */
async function learned(
  request: FastifyRequest,
  { client_id, id_token_signed_response_alg }: App,
  { silenced_till, ...code }: TrialCode,
  deps: IdentityDeps,
): Promise<Pick<Required<TrialResult>, 'header' | 'claims' | 'member' | 'rows'>> {
  const { user } = sessionOf(request)
  const now = deps.clock()
  const { alg, kid } = await deps.signingKeys.current(id_token_signed_response_alg)
  const claims = idTokenClaims({ ...code, user }, client_id, now, deps)
  const member = userinfo({ ...user, is_silenced: silenced_till !== null && silenced_till > now })
  return { header: { alg, kid, typ: ID_TOKEN_TYPE }, claims, member, rows: rowsOf(claims, member) }
}

/** Returns each claim of either answer once: those about the member first, then those about the sign-in. */
function rowsOf(claims: object, member: object): ClaimRow[] {
  return Object.entries({ ...member, ...claims }).map(([name, value]) => ({
    name,
    value: Array.isArray(value) ? value.join(', ') : String(value),
    ...(TIMES.includes(name) ? { time: new Date(Number(value) * 1_000) } : {}),
    isInIdToken: name in claims,
  }))
}
