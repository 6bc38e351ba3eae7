/** The consent page: what it shows, on that of a device too, and the answers to it. spec/sign-in 1.7. */

import { sql } from 'kysely'
import { namedGroupsOf } from '../../accounts/people/users.ts'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { type Session, sessionOf } from '../../accounts/session/session.ts'
import type { AskedMandate, OfferOrReason } from '../../accounts/sign-in/mandate-consent.ts'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { countMembers, ownsApps } from '../apps/acts.ts'
import { isOnDevice, kindOf, redirectHost } from '../apps/redirect-uris.ts'
import { allowAndIssueCode, issueCode, type NewCode } from '../grants/codes.ts'
import { hasConsented } from '../grants/consents.ts'
import type { Resource } from '../grants/resources.ts'
import { storeMetadataClient } from '../metadata/clients.ts'
import { type Authorization, addressOf, type Decision, sendCode, switchAccountUrl } from './authorization.ts'
import { queryText, type Target } from './authorization-request.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'identity/oauth/consent': ConsentFacts & {
      scopes: string[]
      resource: Resource | undefined
      isAskedEachTime: boolean
      /** The mandate that the request asks for, if the member has not answered it. */
      mandate: OfferOrReason | undefined
      query: string
      /** The version of the client's document that this page shows, if it has one. */
      seen: string | undefined
      switchAccountUrl: string
      redirect: ConsentRedirect
    }
  }
  interface PartData {
    'identity/oauth/consent-app': Pick<ConsentFacts, 'user' | 'app' | 'members' | 'ownerUrl'>
    'identity/oauth/consent-both': Pick<ConsentFacts, 'user' | 'app' | 'members' | 'ownerUrl'>
    'identity/oauth/consent-owner': Pick<ConsentFacts, 'app' | 'members' | 'ownerUrl'> & { isJoint?: boolean }
    'identity/oauth/consent-notes': Pick<ConsentFacts, 'app'> & { isJoint?: boolean }
    'identity/oauth/consent-destination': { redirect: ConsentRedirect }
    'identity/oauth/consent-sees': Pick<ConsentFacts, 'user' | 'customGroups' | 'listsApps'> &
      Partial<Pick<ConsentFacts, 'isSilenced'>>
    'identity/oauth/consent-may': {
      user: ConsentFacts['user']
      scopes: string[]
      couldRegister?: boolean
      resource?: Pick<Resource, 'name' | 'uri'> | undefined
    }
  }
}

/** A code before its application has a row. */
type Unbound = Omit<NewCode, 'app_id'>

function newCode({ request, target, demand, resource, mandate, deps }: Authorization): Unbound {
  const session = sessionOf(request)
  return {
    user_id: session.user.id,
    session_id: session.id,
    redirect_uri: target.redirect_uri,
    redirect_uri_sent: target.redirect_uri_sent,
    scopes: demand.scopes,
    resource_app_id: resource?.app_id ?? null,
    mandate_id: mandate?.id ?? null,
    nonce: demand.nonce,
    code_challenge: demand.code_challenge,
    auth_time: session.auth_time,
    amr: session.amr,
    now: deps.clock(),
  }
}

/** Throws access_denied for a member who has refused. A mandate that waits for an answer is declined with it. */
export async function requireNoDenial({ request, decided, mandate, deps }: Authorization): Promise<false> {
  if (decided?.decision !== 'deny') return false
  if (mandate?.isPending) {
    const member = { user_id: sessionOf(request).user.id, ip: request.ip, now: deps.clock() }
    const decline = (tx: Tx) => deps.mandateConsents.decline(tx, mandate.mandate_id, member)
    await deps.db.transaction().execute(decline)
  }
  throw new AppError('access_denied', 'The user refused authorization')
}

/**
 * Issues a code to a member who has just allowed what the page asks now. An answer to another page shows the page again, and
 * allowing charges may need a fresh sign-in first.
 */
export async function takeConsent(authorization: Authorization): Promise<boolean> {
  const { request, reply, target, decided, mandate, deps } = authorization
  if (decided === undefined || !answers(decided, mandate)) return false
  if (!wasShown(target, decided)) return askForConsent(authorization)
  const code = await allow(authorization, decided)
  if (code !== undefined) return sendCode(authorization, code)
  // An answer has ended when its promise resolves.
  await requireFreshSignIn(deps)(request, reply)
  return reply.sent || askForConsent(authorization)
}

/** Issues a code to a member who has allowed all this before. Throws consent_required where no page may be shown. */
export async function repeatConsent(authorization: Authorization): Promise<boolean> {
  const { target, demand, mandate, deps } = authorization
  const { id: app_id, metadata } = target.app
  const isAsked =
    app_id === null ||
    demand.prompts.includes('consent') ||
    isOnDevice(target.app, target.redirect_uri) ||
    mandate?.isPending
  if (!isAsked) {
    const code = { ...newCode(authorization), app_id }
    const document_version = metadata?.version ?? null
    if (await hasConsented(deps.db, { ...code, document_version }, demand.scopes))
      return sendCode(authorization, await issueCode(deps.db, code))
  }
  if (demand.prompts.includes('none')) throw new AppError('consent_required', 'The user must consent first')
  return false
}

/** Whether the page that the member has answered showed what the client's document says now. */
function wasShown({ app }: Target, { seen }: Decision): boolean {
  return app.metadata === null || app.metadata.version.toString('base64url') === seen
}

/** Whether a decision answers what the page asks now. The member or the setting may have decided on the mandate meanwhile. */
function answers({ decision }: Decision, mandate: AskedMandate | undefined): boolean {
  return mandate?.isPending ? decision === 'charge' || decision === 'only' : decision === 'allow'
}

/**
 * Stores the consent, and a client that is known by its document, decides on the mandate, and issues a code. Undefined if the
 * member must sign in again before allowing charges; nothing has changed then.
 */
async function allow(authorization: Authorization, { decision }: Decision): Promise<string | undefined> {
  const { request, target, mandate, deps } = authorization
  const { app } = target
  const { client_id, metadata } = app
  const code = newCode(authorization)
  const { user_id, now } = code
  const { ip } = request
  const { mandateConsents } = deps
  const decline = async (tx: Tx) => {
    await mandateConsents.decline(tx, mandate!.mandate_id, { user_id, ip, now })
    return true
  }
  return allowAndIssueCode(deps.db, code, {
    document_version: metadata?.version ?? null,
    besides: !mandate?.isPending
      ? undefined
      : decision === 'charge'
        ? await mandateConsents.accepting(request, mandate.mandate_id, client_id)
        : decline,
    appOf: async (tx) =>
      metadata === null ? app.id! : storeMetadataClient(tx, { ...metadata, client_id, user_id, ip, now }),
  })
}

/** Shows the consent page. */
export async function askForConsent({
  request,
  reply,
  sent,
  target,
  demand,
  resource,
  mandate,
  deps,
}: Authorization): Promise<true> {
  const { app, redirect_uri } = target
  const { scopes } = demand
  const { user } = sessionOf(request)
  reply.page(
    'identity/oauth/consent',
    {
      ...(await consentFacts(deps, app, user, { scopes, resource, isOnDevice: false })),
      scopes,
      resource,
      isAskedEachTime: isOnDevice(app, redirect_uri),
      mandate: mandate?.isPending
        ? await deps.mandateConsents.show(request, mandate.mandate_id, addressOf(sent))
        : undefined,
      query: queryText(sent),
      seen: app.metadata?.version.toString('base64url'),
      switchAccountUrl: switchAccountUrl(sent),
      redirect: { host: redirectHost(redirect_uri), kind: kindOf(redirect_uri) },
    },
    { leavesSite: redirect_uri },
  )
  return true
}

/** Where the answer to a consent page goes. */
type ConsentRedirect = { host: string; kind: 'web' | 'loopback' | 'scheme' }

export type ConsentFacts = {
  user: Session['user']
  app: Target['app']
  members: Awaited<ReturnType<typeof countMembers>>
  ownerUrl: string | undefined
  customGroups: string[]
  /** Whether the application can list the applications of this member, who has some. It needs no scope for that. */
  listsApps: boolean
  /** Whether it could create applications in the member's name without having asked for that. */
  couldRegister: boolean
  /** Whether the forum has silenced the member, which every application reads. */
  isSilenced: boolean
}

type Asked = { scopes: string[]; resource: object | undefined; isOnDevice: boolean }

/** Reads how many use the application, its owner's page at the forum, and what it would learn about the member. */
export async function consentFacts(
  { db, config, clock }: Pick<Core, 'db' | 'config' | 'clock'>,
  app: Target['app'],
  user: Session['user'],
  { scopes, resource, isOnDevice }: Asked,
): Promise<ConsentFacts> {
  // As in apps-api.ts.
  const hasAppsAnyway =
    app.metadata === null && !isOnDevice && resource === undefined && !scopes.includes('apps')
  const { DISCOURSE_URL: forum } = config
  const profile = app.owner_is_at_forum ? app.owner_username : null
  return {
    user,
    app,
    members: app.id === null ? { count: 0, isMore: false } : await countMembers(db, app.id),
    ownerUrl:
      forum === undefined || profile === null ? undefined : `${forum}/u/${encodeURIComponent(profile)}`,
    customGroups: namedGroupsOf(user),
    listsApps: hasAppsAnyway && (await ownsApps(db, user.id)),
    couldRegister: hasAppsAnyway,
    isSilenced: await isSilenced(db, user.id, clock()),
  }
}

async function isSilenced(db: Db, user_id: bigint, now: Date): Promise<boolean> {
  const { rows } = await sql<{ is_silenced: boolean | null }>`
    select silenced_till(${user_id}) > ${now} as is_silenced`.execute(db)
  return rows[0]?.is_silenced ?? false
}
