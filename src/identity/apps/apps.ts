/** Validates, registers and lists OAuth applications. A secret is shown once. spec/registry 1.1. */
import { z } from 'zod'
import { lockUser } from '../../accounts/people/users.ts'
import { recordSecurityEvent } from '../../accounts/security/security-events.ts'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import type { Config } from '../../platform/config.ts'
import { AppError } from '../../platform/errors.ts'
import { LOWER_ALNUM, randomText } from '../../platform/secrets.ts'
import { isLogoAddress } from '../../shops/app-logos.ts'
import { isHonestProse, isHonestText } from '../../web/parameters.ts'
import { SIGNING_ALGORITHMS } from '../keys/keys.ts'
import { access } from './apps.texts.ts'
import { logoutUriFault, type RedirectUriFault, redirectUriFault, webAddressFault } from './redirect-uris.ts'
import {
  mayBeResource,
  mayHaveResource,
  plainOrigin,
  RESOURCE_URI_LENGTH_MAX,
  requireFreeResource,
} from './resource-uri.ts'
import { newSecret } from './secrets.ts'

const CLIENT_ID_LENGTH = 24
const NAME_LENGTH_MAX = 60
const DESCRIPTION_LENGTH_MAX = 500
export const REDIRECT_URIS_MAX = 20
/** Applications of one member, bounded because nobody reviews them before they exist. */
export const OWNED_APPS_MAX = 100
/** Applications that others have registered for a member, and that the member has not confirmed yet. */
export const UNCONFIRMED_APPS_MAX = 10
const DAY_MS = 86_400_000
const GROUPS_MAX = 50
const GRANT_TYPES_SENT_MAX = 20
const GROUP_LENGTH_MAX = 100
export const WEB_ADDRESS_LENGTH_MAX = 500
const LOGOUT_URI_LENGTH_MAX = 2_000

/** The grant of devices (RFC 8628), which an application has to be switched on for. */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
export const GRANT_TYPES = ['authorization_code', 'refresh_token', DEVICE_GRANT] as const

const redirectUri = z.string().superRefine((uri, context) => {
  const fault = redirectUriFault(uri)
  if (fault !== undefined) context.addIssue(issueOf(fault, uri))
})

function issueOf(fault: RedirectUriFault, uri: string) {
  return { code: 'custom' as const, message: access.redirectUriFaults[fault].en, params: { fault, uri } }
}

const groups = z
  .array(
    z
      .string()
      .trim()
      .min(1)
      .max(GROUP_LENGTH_MAX)
      .refine(isHonestText, 'Must not contain control characters'),
  )
  .max(GROUPS_MAX)
  .default([])
  .transform(withoutRepeats)

/** The address of the application's service; empty text becomes null. */
const resourceUri = z
  .string()
  .trim()
  .max(RESOURCE_URI_LENGTH_MAX)
  .transform((text) => (text === '' ? null : plainOrigin(text)))
  .nullable()
  .default(null)

/** The name of an application, as members read it. */
export const appName = z
  .string()
  .trim()
  .min(1)
  .max(NAME_LENGTH_MAX)
  .refine(isHonestText, 'Must not contain control or direction characters')

/** The fields of an application that its owner may change. Unknown fields are ignored, repeated values are dropped. */
const AppFields = z.object({
  name: appName,
  description: z
    .string()
    .trim()
    .max(DESCRIPTION_LENGTH_MAX)
    .refine(isHonestProse, 'Must not contain control or direction characters')
    .default(''),
  redirect_uris: z
    .array(redirectUri)
    .min(1)
    .max(REDIRECT_URIS_MAX)
    .transform((uris) => [...new Set(uris)]),
  post_logout_redirect_uris: z
    .array(redirectUri)
    .max(REDIRECT_URIS_MAX)
    .default([])
    .transform((uris) => [...new Set(uris)]),
  id_token_signed_response_alg: z.enum(SIGNING_ALGORITHMS).default('RS256'),
  /** Empty text becomes null. `onThisSite` checks the address. */
  backchannel_logout_uri: z
    .string()
    .trim()
    .max(LOGOUT_URI_LENGTH_MAX)
    .nullable()
    .default(null)
    .transform((text) => (text === '' ? null : text)),
  allow_groups: groups,
  deny_groups: groups,
  // Every application has the first two. Others that a client names are left out, as RFC 7591 3.2.1 allows.
  grant_types: z
    .array(z.string())
    .max(GRANT_TYPES_SENT_MAX)
    .default([])
    .transform((sent) => GRANT_TYPES.filter((grant) => grant !== DEVICE_GRANT || sent.includes(grant))),
  resource_uri: resourceUri,
})

/** Chosen at registration: a confidential client cannot become public, nor a public client confidential. */
const ClientKind = z.object({
  token_endpoint_auth_method: z
    .enum(['client_secret_basic', 'client_secret_post', 'none'])
    .default('client_secret_basic'),
})

type Addresses = Pick<z.output<typeof AppFields>, 'redirect_uris' | 'resource_uri'>

/** Refuses a resource that an application of this kind may not have. */
function checkResource(app: Addresses & z.output<typeof ClientKind>, context: z.core.$RefinementCtx): void {
  if (app.resource_uri !== null && !mayHaveResource(app.resource_uri, app)) {
    const message = 'must be an address at the host of a redirect URI, of an application with a secret'
    context.addIssue({ code: 'custom', message, path: ['resource_uri'] })
  }
}

type SiteAddresses = Partial<Pick<z.output<typeof AppFields>, 'backchannel_logout_uri' | 'resource_uri'>> & {
  logo_url?: string | null | undefined
}

/** Adds the rules that depend on the configuration of the site. */
export function onThisSite<Schema extends z.ZodType<SiteAddresses>>(
  schema: Schema,
  { production }: Pick<Config, 'production'>,
): Schema {
  return schema.superRefine(({ backchannel_logout_uri: uri, resource_uri, logo_url }, context) => {
    const fault = uri == null ? undefined : logoutUriFault(uri, production)
    if (fault !== undefined) context.addIssue({ ...issueOf(fault, uri!), path: ['backchannel_logout_uri'] })
    if (resource_uri != null && !mayBeResource(resource_uri, production)) {
      context.addIssue({ code: 'custom', message: 'must be an https address', path: ['resource_uri'] })
    }
    if (logo_url != null && !isLogoAddress(logo_url, production)) {
      context.addIssue({ code: 'custom', message: 'must be an https address', path: ['logo_url'] })
    }
  })
}

/** The body of POST /api/apps. */
export const NewAppForm = AppFields.extend({
  ...ClientKind.shape,
  /** Kept and repeated. A logout token about one session names it in any case. */
  backchannel_logout_session_required: z.boolean().default(false),
}).superRefine(checkResource)

/** The query of GET /api/apps. */
export const AppsRequest = z.object({ owner: z.literal('all').optional() })

/** An application in the answer to GET /api/apps. */
export const ListedApp = z.strictObject({
  client_id: z.string(),
  name: z.string(),
  description: z.string(),
  redirect_uris: z.array(z.string()),
  allow_groups: z.array(z.string()),
  deny_groups: z.array(z.string()),
  owner_username: z.string(),
  created_at: z.iso.datetime(),
})
/** The answer to POST /api/apps. */
export const RegisteredApp = z.strictObject({
  client_id: z.string(),
  client_secret: z.string().optional(),
  name: z.string(),
  description: z.string(),
  redirect_uris: z.array(z.string()),
  post_logout_redirect_uris: z.array(z.string()),
  id_token_signed_response_alg: z.enum(SIGNING_ALGORITHMS),
  token_endpoint_auth_method: z.string(),
  backchannel_logout_uri: z.string().nullable(),
  backchannel_logout_session_required: z.boolean(),
  allow_groups: z.array(z.string()),
  deny_groups: z.array(z.string()),
  grant_types: z.array(z.string()),
  resource_uri: z.string().nullable(),
  status: z.literal('unconfirmed').optional(),
  confirm_url: z.string().optional(),
})

/** An https address; empty text becomes null. */
const webAddress = z
  .string()
  .trim()
  .max(WEB_ADDRESS_LENGTH_MAX)
  .refine((text) => text === '' || webAddressFault(text) === undefined, 'Must be an https address')
  .transform((text) => (text === '' ? null : text))

/** The form of the pages, which also has what members see before they trust an application. */
const AppForm = AppFields.extend({
  homepage: webAddress,
  /** Empty text becomes null. A form without the field leaves the logo. `onThisSite` checks the address too. */
  logo_url: z
    .string()
    .trim()
    .refine((text) => text === '' || isLogoAddress(text, false), 'Must be an https address')
    .transform((text) => (text === '' ? null : text))
    .optional(),
  is_listed: z
    .string()
    .optional()
    .transform((text) => text === 'true'),
})
export const NewAppPageForm = AppForm.extend(ClientKind.shape).superRefine(checkResource)

export type AppValues = z.output<typeof AppForm>

/** The form of the group rules, which have a page of their own. */
export const GroupsForm = AppForm.pick({ allow_groups: true, deny_groups: true })
/** The form of a logo that is somewhere else. */
export const LogoForm = AppForm.pick({ logo_url: true })
type Kind = z.output<typeof ClientKind>['token_endpoint_auth_method']

/** Returns the form for the settings of an application of this kind: all fields but those of `GroupsForm` and `LogoForm`. */
export function appFormOf({ token_endpoint_auth_method }: { token_endpoint_auth_method: string }) {
  const kind = { token_endpoint_auth_method: token_endpoint_auth_method as Kind }
  return AppForm.omit({ allow_groups: true, deny_groups: true, logo_url: true }).superRefine(
    (values, context) => checkResource({ ...values, ...kind }, context),
  )
}
type NewAppValues = z.output<typeof NewAppPageForm>

export type NewApp = Pick<
  NewAppValues,
  'name' | 'description' | 'redirect_uris' | 'allow_groups' | 'deny_groups'
> &
  Partial<NewAppValues> & { backchannel_logout_session_required?: boolean; owner_id: bigint; ip?: string }
type Confidential = { token_endpoint_auth_method?: 'client_secret_basic' | 'client_secret_post' }
type Registered = { id: bigint; client_id: string }

/** Group names compare case-insensitively, so `Staff` and `staff` are one. */
function withoutRepeats(names: string[]): string[] {
  return [...new Map(names.map((name) => [name.toLowerCase(), name])).values()]
}

/** Returns a faulty redirect URI and its fault, if the issue is about one. */
export function redirectUriFaultOf(
  issue: z.core.$ZodIssue,
): { fault: RedirectUriFault; uri: string } | undefined {
  return issue.code === 'custom'
    ? (issue.params as ReturnType<typeof issueOf>['params'] | undefined)
    : undefined
}

/**
 * Registers an application with validated values. `client_secret` cannot be read again; a public client has none. Throws
 * access_denied when the owner has OWNED_APPS_MAX applications.
 */
export async function registerApp(
  db: Db,
  app: NewApp & Confidential,
): Promise<Registered & { client_secret: string }>
export async function registerApp(db: Db, app: NewApp): Promise<Registered & { client_secret?: string }>
export async function registerApp(db: Db, app: NewApp) {
  return db.transaction().execute((tx) => insertApp(tx, app, 'registered'))
}

/**
 * Registers an application on behalf of another one, `by`. It works at once and waits for its owner, who is told and confirms
 * it (spec/registry 2.3). Throws access_denied also when UNCONFIRMED_APPS_MAX of the owner wait already.
 */
export async function registerUnconfirmedApp(
  deps: Core,
  app: NewApp,
  by: { id: bigint; name: string },
): Promise<Registered & { client_secret?: string }> {
  const now = deps.clock()
  return deps.db.transaction().execute(async (tx) => {
    const unconfirmed = { ...app, registered_by_app_id: by.id, confirmed_at: null, created_at: now }
    const registered = await insertApp(tx, unconfirmed, 'registered_unconfirmed')
    await tellOwner(tx, deps, { ...app, ...registered, by, now })
    return registered
  })
}

type Waiting = { registered_by_app_id: bigint; confirmed_at: null; created_at: Date }

async function insertApp(
  tx: Tx,
  { ip, ...app }: NewApp & Partial<Waiting>,
  act: 'registered' | 'registered_unconfirmed',
): Promise<Registered & { client_secret?: string }> {
  const client_id = randomText(CLIENT_ID_LENGTH, LOWER_ALNUM)
  const secret = app.token_endpoint_auth_method === 'none' ? undefined : newSecret()
  await refuseOneTooMany(tx, app.owner_id, act)
  await requireFreeResource(tx, app)
  const { id } = await tx
    .insertInto('oauth_apps')
    .values({ ...app, client_id })
    .returning('id')
    .executeTakeFirstOrThrow()
  if (secret !== undefined) {
    const { secret_hash } = secret
    await tx.insertInto('app_secrets').values({ app_id: id, secret_hash }).execute()
  }
  await recordAudit(tx, {
    actor_id: app.owner_id,
    action: `oauth_app.${act}`,
    subject: client_id,
    detail: { name: app.name, redirect_uris: app.redirect_uris },
    ip: ip ?? null,
  })
  return { id, client_id, ...(secret && { client_secret: secret.client_secret }) }
}

type News = NewApp & Registered & { by: { id: bigint; name: string }; now: Date }

/** Raises an alert, and sends one mail a day for each application that registers. The mail has no words of strangers. */
async function tellOwner(
  tx: Tx,
  deps: Core,
  { id, client_id, name, owner_id, by, ip, now }: News,
): Promise<void> {
  await tx
    .insertInto('alerts')
    .values({
      user_id: owner_id,
      oauth_app_id: id,
      kind: 'app_registered',
      cause: client_id,
      facts: JSON.stringify({ app: name, by: by.name }),
      raised_at: now,
    })
    .execute()
  const earlier = await tx
    .selectFrom('oauth_apps')
    .where('owner_id', '=', owner_id)
    .where('registered_by_app_id', '=', by.id)
    .where('created_at', '>', new Date(now.getTime() - DAY_MS))
    .where('id', '!=', id)
    .select('id')
    .executeTakeFirst()
  await recordSecurityEvent(tx, deps, {
    event: 'app_registered',
    user_id: owner_id,
    actor_id: owner_id,
    ip: ip ?? null,
    detail: { client_id, name, by: by.name },
    ...(earlier !== undefined && { notify: null }),
  })
}

async function refuseOneTooMany(
  tx: Tx,
  owner_id: bigint,
  act: 'registered' | 'registered_unconfirmed',
): Promise<void> {
  await lockUser(tx, owner_id)
  const { owned, waiting } = await tx
    .selectFrom('oauth_apps')
    .where('owner_id', '=', owner_id)
    .select((eb) => [
      eb.fn.countAll<bigint>().as('owned'),
      eb.fn.countAll<bigint>().filterWhere('confirmed_at', 'is', null).as('waiting'),
    ])
    .executeTakeFirstOrThrow()
  if (owned >= OWNED_APPS_MAX)
    throw new AppError('access_denied', `A member has at most ${OWNED_APPS_MAX} applications`)
  if (act === 'registered_unconfirmed' && waiting >= UNCONFIRMED_APPS_MAX)
    throw new AppError(
      'access_denied',
      `${UNCONFIRMED_APPS_MAX} applications of this member wait for confirmation already`,
    )
}

/** Returns the applications of a member, or all, newest first. */
export async function listApps(db: Db, owner: { id: bigint } | 'all') {
  const apps = db
    .selectFrom('oauth_apps as app')
    .innerJoin('users as owner', 'owner.id', 'app.owner_id')
    .orderBy('app.id', 'desc')
    .select([
      'app.client_id',
      'app.name',
      'app.description',
      'app.redirect_uris',
      'app.allow_groups',
      'app.deny_groups',
      'owner.username as owner_username',
      'app.created_at',
    ])
  return (owner === 'all' ? apps : apps.where('app.owner_id', '=', owner.id)).execute()
}
