/** Creates a member with an application, and the browser in which the member manages it. */

import { makePerson, type Person } from '../harness/cast.ts'
import type { Browser, Page, TestApp } from '../harness/harness.ts'
import { makeParty, type Party, REDIRECT_URI } from './relying-party.ts'

export type OwnedApp = { owner: Person; client: Browser; party: Party; path: string }

export async function makeOwnedApp(test: TestApp, values: Record<string, unknown> = {}): Promise<OwnedApp> {
  const owner = await makePerson(test, { username: 'bob' })
  const party = await makeParty(test, { description: 'Books', ...values }, owner)
  return { owner, client: await owner.signIn(), party, path: `/apps/${party.client_id}` }
}

export const TYPED = {
  name: 'Reading Club',
  description: 'Books',
  homepage: '',
  logo_url: '',
  redirect_uris: REDIRECT_URI,
  allow_groups: '',
  deny_groups: '',
}

export async function storedApp(test: TestApp, { client_id }: Pick<Party, 'client_id'>) {
  return test.db.selectFrom('oauth_apps').where('client_id', '=', client_id).selectAll().executeTakeFirst()
}

/** The audit entries about an application, oldest first, without that of its registration. */
export async function trailOf(test: TestApp, { client_id }: Pick<Party, 'client_id'>) {
  return test.db
    .selectFrom('audit_log')
    .where('subject', '=', client_id)
    .where('action', '!=', 'oauth_app.registered')
    .orderBy('id')
    .select(['action', 'actor_id', 'detail', 'ip'])
    .execute()
}

/** The secret that a page shows once. */
export function toldSecret(page: Page): string {
  const secret = /<code>([A-Za-z0-9]{48})</.exec(page.body)?.[1]
  if (secret === undefined) throw new Error(`No secret: ${page.status} ${page.body.slice(0, 500)}`)
  return secret
}

export async function countLive(test: TestApp, { id }: Party): Promise<number> {
  const rows = await test.db.selectFrom('app_secrets').where('app_id', '=', id).select('expires_at').execute()
  return rows.filter(({ expires_at }) => expires_at === null || expires_at > test.clock.now()).length
}
