/** Creates a member with an application, and the browser in which the member manages it. */

import { makePerson, type Person } from '../harness/cast.ts'
import type { Browser, Page, TestApp } from '../harness/harness.ts'
import { rowsOf } from '../harness/rows.ts'
import { makeParty, type Party, REDIRECT_URI } from './relying-party.ts'

/** `path` is its overview. The others are the pages below it that have forms. */
export type OwnedApp = {
  owner: Person
  client: Browser
  party: Party
  path: string
  settings: string
  access: string
  secrets: string
}

export async function makeOwnedApp(test: TestApp, values: Record<string, unknown> = {}): Promise<OwnedApp> {
  const owner = await makePerson(test, { username: 'bob' })
  const party = await makeParty(test, { description: 'Books', ...values }, owner)
  const path = `/apps/${party.client_id}`
  const pages = { path, settings: `${path}/settings`, access: `${path}/access`, secrets: `${path}/secrets` }
  return { owner, client: await owner.signIn(), party, ...pages }
}

export const TYPED = {
  name: 'Reading Club',
  description: 'Books',
  homepage: '',
  redirect_uris: REDIRECT_URI,
}

export async function storedApp(test: TestApp, { client_id }: Pick<Party, 'client_id'>) {
  return (await rowsOf(test, 'oauth_apps', { client_id }))[0]
}

/** The audit entries about an application, oldest first, without that of its registration. */
export async function trailOf(test: TestApp, { client_id }: Pick<Party, 'client_id'>) {
  return (await rowsOf(test, 'audit_log', { subject: client_id }))
    .filter(({ action }) => action !== 'oauth_app.registered')
    .map(({ action, actor_id, detail, ip }) => ({ action, actor_id, detail, ip }))
}

/** The secret that a page shows once. */
export function toldSecret(page: Page): string {
  const secret = /<code>([A-Za-z0-9]{48})</.exec(page.body)?.[1]
  if (secret === undefined) throw new Error(`No secret: ${page.status} ${page.body.slice(0, 500)}`)
  return secret
}

export async function countLive(test: TestApp, { id }: Party): Promise<number> {
  const rows = await rowsOf(test, 'app_secrets', { app_id: id })
  return rows.filter(({ expires_at }) => expires_at === null || expires_at > test.clock.now()).length
}
