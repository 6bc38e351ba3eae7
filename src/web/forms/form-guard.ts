// This room: forms of pages: their token, refused values shown again, forms kept over a sign-in.
// Verbs: registerForms, verifyForm, readForm, keepForm.
// Tables: kept_forms.
// Clauses: spec/accounts 3.3; spec/pages 3.2.
/**
 * Protects forms against cross-site requests. Every form that changes something carries a token bound to the browser's
 * session cookie, or to its visitor cookie before sign-in, and must come from our own page. spec/accounts 3.3.
 */
import type { FastifyRequest } from 'fastify'
import type { Config } from '../../platform/config.ts'
import { AppError } from '../../platform/errors.ts'
import { type Secrets, sameText } from '../../platform/secrets.ts'

export const FORM_TOKEN_FIELD = 'form_token'

const PURPOSE = 'form'
const MEMBER_PURPOSE = 'member of a form'
/** 132 bits. Each form of a page carries them, and they allow no act. */
const PROOF_LENGTH = 22
/** The shape of every token that `formToken` makes. A version that derives its tokens in another way gives them another shape. */
const OWN_SHAPE = /^[\w-]{43}(\.\d+\.[\w-]{22})?$/

/**
 * Returns the form token for the browser with this cookie value. That of a member's page also says for whom the form was
 * made, which stays true after the session has ended.
 */
export function formToken(secrets: Secrets, cookieToken: string, user_id?: bigint): string {
  const tag = secrets.tag(PURPOSE, cookieToken)
  if (user_id === undefined) return tag
  const made = `${tag}.${user_id}`
  return `${made}.${secrets.tag(MEMBER_PURPOSE, made).slice(0, PROOF_LENGTH)}`
}

/** Throws form_expired unless the request's body carries the token of `cookieToken` and comes from our own page. */
export function verifyForm(
  request: FastifyRequest,
  cookieToken: string | undefined,
  deps: { secrets: Secrets; config: Config },
): void {
  if (!isFormOf(request, cookieToken, deps))
    throw new AppError('form_expired', 'This form has expired. Go back, reload the page and try again.')
}

/** Whether the request's body carries the token of `cookieToken` and comes from our own page. */
export function isFormOf(
  request: FastifyRequest,
  cookieToken: string | undefined,
  { secrets, config }: { secrets: Secrets; config: Config },
): boolean {
  const [tag = ''] = sentToken(request)
  return isOwnPage(request, config) && cookieToken !== undefined && secrets.isTag(PURPOSE, cookieToken, tag)
}

/**
 * Returns the id of the member for whom our own page made the form of a request, or undefined. NOTE: the session may have
 * ended since, so this allows no act.
 */
export function memberOfForm(
  request: FastifyRequest,
  { secrets, config }: { secrets: Secrets; config: Config },
): string | undefined {
  const [tag, user_id, proof = ''] = sentToken(request)
  if (!isOwnPage(request, config)) return undefined
  const proofs = secrets.tags(MEMBER_PURPOSE, `${tag}.${user_id}`).map((each) => each.slice(0, PROOF_LENGTH))
  return proofs.some((each) => sameText(each, proof)) ? user_id : undefined
}

/**
 * Whether our own page of another version made the form of a request: its token has a shape that this version does not know.
 * NOTE: anybody can write such a token, so this allows no act.
 */
export function isFormOfOtherVersion(request: FastifyRequest, config: Config): boolean {
  const token = sentToken(request).join('.')
  return token !== '' && !OWN_SHAPE.test(token) && isOwnPage(request, config)
}

/** Returns the parts of the token that came with a form. The first is the tag; another version may add more. */
function sentToken({ body }: FastifyRequest): string[] {
  const sent = (body as Record<string, unknown> | undefined)?.[FORM_TOKEN_FIELD]
  return typeof sent === 'string' ? sent.split('.') : []
}

/**
 * Our pages send `Referrer-Policy: no-referrer`, so browsers send `Origin: null` with their forms. So Sec-Fetch-Site decides
 * first. For an older browser without it, the Origin decides, if the browser names one.
 */
function isOwnPage(request: FastifyRequest, config: Config): boolean {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const origin = request.headers.origin
  if (origin === undefined || origin === 'null') return true
  return origin === config.PUBLIC_URL || origin === config.PAYMENT_PUBLIC_URL
}
