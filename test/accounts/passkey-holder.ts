/** What a member with a passkey does on our pages. */
import { type Authenticator, type Forgery, makeAuthenticator, type Traits } from '../harness/authenticator.ts'
import type { Person } from '../harness/cast.ts'
import type { Browser, Page, TestApp } from '../harness/harness.ts'
import { unescaped } from '../harness/markup.ts'

export const PASSKEYS = '/account/passkeys'
/** The address of sites with passkeys: an IP address has none. */
export const WITH_DOMAIN = { PUBLIC_URL: 'http://localhost:3000', PORT: '3000' }

/** Returns the options that a page gives its form with this action. */
export function optionsOn(page: Page, action: string): string {
  const form = new RegExp(`<form[^>]*action="${action}"[^>]*data-options="([^"]*)"`).exec(page.body)
  if (form === null) throw new Error(`The page asks for no passkey at ${action}`)
  return unescaped(form[1]!)
}

/** Sends the answer of an authenticator to a form of a page. */
export function answer(client: Browser, page: Page, action: string, credential: string): Promise<Page> {
  return client.submit(page, action, { credential })
}

/** Adds a passkey on the member's page, and returns the answer. */
export async function register(
  client: Browser,
  authenticator: Authenticator,
  { name = 'My key', ...forgery }: Forgery & { name?: string } = {},
): Promise<Page> {
  const page = await client.get(PASSKEYS)
  const credential = authenticator.create(optionsOn(page, PASSKEYS), forgery)
  return client.submit(page, PASSKEYS, { name, credential })
}

export type Holder = { client: Browser; authenticator: Authenticator }

/** Signs a member in with the password, and adds a passkey. */
export async function giveKey(test: TestApp, person: Person, traits: Traits = {}): Promise<Holder> {
  const client = await person.signIn()
  const authenticator = makeAuthenticator(test.url, traits)
  const added = await register(client, authenticator)
  if (added.status !== 303) throw new Error(`No passkey for ${person.username}: ${added.status}`)
  return { client, authenticator }
}
