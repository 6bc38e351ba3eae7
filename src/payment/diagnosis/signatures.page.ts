/** …/signatures: the debugger that explains the signature of a pasted or a refused request. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { isFresh, signInAgainUrl } from '../../accounts/session/reauthentication.ts'
import { browserScope, requireUser, sessionOf } from '../../accounts/session/session.ts'
import { AppError } from '../../platform/errors.ts'
import { keepForm, typedForm } from '../../web/forms/kept-forms.ts'
import { cursor, olderUrl, onePage } from '../../web/lists.ts'
import { navFor } from '../apps/area.ts'
import { type OwnedRequest, pathOf } from '../rights/owned.ts'
import { getPermitted, type Permitted } from '../rights/rights.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import {
  type Field,
  REFUSED_KEPT_MAX,
  type RefusedRequest,
  refusedRequests,
} from '../signing/refused-requests.ts'
import { PAYMENT_ID_PATTERN } from '../wire-fields/fields.ts'
import { type Judging, openJudging, type ShortVerdict } from './judging.ts'
import { readOwnKeys } from './own-keys.ts'
import { readPasted } from './pasted.ts'
import type { Request } from './request.ts'
import type { OwnKeys } from './schemes.ts'
import { type Verdict, withoutKeys } from './verdict.ts'

type Found = ReturnType<typeof shown>

declare module '../../web/views.ts' {
  interface PageData {
    'payment/diagnosis/signatures': PartData['parts/pager'] & {
      owned: Permitted
      nav: AreaNav
      text: string
      pastedMax: number
      isUnreadable: boolean
      found: Found | undefined
      opened: RefusedRequest | undefined
      refused: Awaited<ReturnType<typeof withVerdicts>> | undefined
      keptMax: number
      address: string
      signInUrl: string | undefined
    }
  }
  interface PartData {
    'payment/diagnosis/refused': PartData['parts/pager'] & {
      refused: NonNullable<PageData['payment/diagnosis/signatures']['refused']>
      keptMax: number
      address: string
    }
    'payment/diagnosis/verdict': {
      found: Found
      opened: RefusedRequest | undefined
      signInUrl: string | undefined
    }
  }
}

const REFUSED_LINES = 10
const PASTED_LENGTH_MAX = 8_000
/** The shown part of a hidden signature: enough to compare, too little to send. */
const SHOWN_LENGTH = 8
const SIGNATURES = ['sign', 'signature']
const PAYMENT_ID_IN_PATH = new RegExp(`/(${PAYMENT_ID_PATTERN})(?:/|$)`)

/** A refused request to explain, or where the list continues. */
const Query = z.object({ refused: cursor, before: cursor })

/** GET and POST /payment/applications/:payment_id/signatures. */
export async function signaturePages(app: FastifyInstance, deps: GatewayCore): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  const path = '/payment/applications/:payment_id/signatures'
  const options = { config: { admission: 'slow' } } as const
  const judging = openJudging()

  app.get(path, options, async (request: OwnedRequest, reply) =>
    showDebugger(request, reply, deps, judging, {
      ...Query.parse(request.query),
      text: request.refused?.typed.text,
    }),
  )

  app.post(path, options, async (request: OwnedRequest, reply) => {
    const { text } = request.body as Record<string, unknown>
    return showDebugger(request, reply, deps, judging, { text: typeof text === 'string' ? text : '' })
  })
}

type Asked = { text?: string | undefined; refused?: bigint | undefined; before?: bigint | undefined }

async function showDebugger(
  request: OwnedRequest,
  reply: FastifyReply,
  deps: GatewayCore,
  judging: Judging,
  { text, refused, before }: Asked,
) {
  const session = sessionOf(request)
  const owned = await getPermitted(deps.db, request.params.payment_id, session.user.id, 'signatures.debug')
  const [{ keysAt, verdictOn, shortVerdictOn }, settings, kept] = await Promise.all([
    judgeOf(deps, judging, { app_id: owned.id, user_id: session.user.id }),
    deps.settings.read(),
    refusedRequests(deps, owned.id, { id: refused, before }, REFUSED_LINES + 1),
  ])
  const now = deps.clock()
  const maySeeKeys = owned.rights.includes('keys.manage')
  const showsKeys = maySeeKeys && isFresh(session, settings.reauthenticate_minutes, now)

  const opened = refused === undefined ? undefined : kept[0]
  if (refused !== undefined && opened === undefined)
    throw new AppError('not_found', 'This refused request is no longer kept')
  const pasted = text === undefined ? undefined : readPasted(text.slice(0, PASTED_LENGTH_MAX))
  const asked = opened === undefined ? pasted : askedOf(opened)
  const at = opened?.at ?? now
  const address = `${pathOf(request)}/signatures`
  const { rows, next } = onePage(kept, REFUSED_LINES)
  const data = {
    owned,
    nav: await navFor(deps, request, owned),
    text: text ?? '',
    pastedMax: PASTED_LENGTH_MAX,
    isUnreadable: text !== undefined && pasted === undefined,
    found:
      asked &&
      shown(asked, await verdictOn(asked, at), keysAt(at), {
        expected: showsKeys,
        received: showsKeys || opened === undefined,
      }),
    opened,
    refused: asked === undefined ? await withVerdicts(rows, shortVerdictOn) : undefined,
    keptMax: REFUSED_KEPT_MAX,
    address,
    before,
    newest: address,
    older: olderUrl(address, {}, next),
    signInUrl: maySeeKeys ? signInAgainUrl(session, request.url) : undefined,
  }
  if (request.method === 'POST' && maySeeKeys && !showsKeys)
    await keepForm(reply, request.url, typedForm(request), deps)
  return reply.page('payment/diagnosis/signatures', data, {
    status: data.isUnreadable ? 400 : 200,
    answers: typedForm(request),
  })
}

/** Judges requests of an application for a member, with the keys at the moment of each request. */
async function judgeOf(
  deps: GatewayCore,
  judging: Judging,
  { app_id, user_id }: { app_id: bigint; user_id: bigint },
) {
  const app = (await deps.gatewayKeys.findApp({ app_id }))!
  const { keysAt, version } = await readOwnKeys(deps, app, user_id)
  const allowedCidrs = deps.config.NOTIFY_ALLOW_CIDRS
  const { accepts, exchange_rate } = app
  const receiverAt = (at: Date) => ({ keys: keysAt(at), accepts, exchange_rate, allowedCidrs, now: at })
  return {
    keysAt,
    verdictOn: (asked: Request, at: Date) => judging.verdictOn(user_id, asked, receiverAt(at)),
    shortVerdictOn(kept: RefusedRequest) {
      // A verdict stays right while the keys and the versions are the same.
      const name = `${kept.id} ${version} ${accepts.v1} ${accepts.v2}`
      return judging.shortVerdictOn(user_id, name, askedOf(kept), receiverAt(kept.at))
    },
  }
}

function askedOf({ fields, door, path }: RefusedRequest): Request {
  return { fields, door, payment_id: PAYMENT_ID_IN_PATH.exec(path)?.[1] }
}

/** Judges one after the other, so that a page waits in only one queue. */
async function withVerdicts(
  kept: RefusedRequest[],
  verdictOn: (kept: RefusedRequest) => Promise<ShortVerdict>,
): Promise<(RefusedRequest & { verdict: ShortVerdict })[]> {
  const judged: (RefusedRequest & { verdict: ShortVerdict })[] = []
  for (const each of kept) judged.push({ ...each, verdict: await verdictOn(each) })
  return judged
}

/** A verdict for the page, with masked keys. `shows` decides which signatures are shown in full. */
function shown(
  request: Request,
  verdict: Verdict,
  keys: OwnKeys,
  shows: { expected: boolean; received: boolean },
) {
  const { expected, received } = verdict
  const cut = (text: string, isShown: boolean) =>
    isShown || text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`
  const visible = (name: string, value: string) =>
    cut(withoutKeys(value, request, keys), shows.received || !SIGNATURES.includes(name))
  return {
    ...verdict,
    fields: request.fields.map(([name, value]): Field => [name, visible(name, value)]),
    expected: { ...expected, signature: expected.signature && cut(expected.signature, shows.expected) },
    received: { ...received, signature: visible('sign', received.signature) },
    isCut: expected.signature !== undefined && !shows.expected,
    difference: differenceOf(expected.text, received.text),
  }
}

/** The differing middle of two strings. Undefined if they are equal or one is missing. */
function differenceOf(expected: string, signed: string | undefined) {
  if (signed === undefined || signed === expected) return undefined
  let start = 0
  while (start < Math.min(expected.length, signed.length) && expected[start] === signed[start]) start += 1
  let end = 0
  const most = Math.min(expected.length, signed.length) - start
  while (end < most && expected.at(-1 - end) === signed.at(-1 - end)) end += 1
  const parts = (text: string) => ({
    before: text.slice(0, start),
    differs: text.slice(start, text.length - end),
    after: text.slice(text.length - end),
  })
  return { expected: parts(expected), signed: parts(signed) }
}
