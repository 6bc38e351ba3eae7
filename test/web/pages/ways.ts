/** The ways to listed pages: to an address, and over forms, which a browser and a client without one both send. */
import type { Page as BrowserPage } from 'playwright-core'
import type { Browser, Page } from '../../harness/browser.ts'
import { browser } from '../../harness/harness.ts'
import { formsIn } from '../form-markup.ts'
import type { ListedPage } from './list.ts'
import type { Look } from './windows.ts'
import type { Role, World } from './world.ts'

type Values = Record<string, string>

/** The form of the page whose address ends like this. */
export type Sending = {
  to: string
  /** Hidden values that tell it from others of this address. */
  holding?: Values
  typed?: Values
  /** The name and the value of its button, if that is not its first. */
  button?: Values
  /** Whether the page that asks first, if there is one, is answered with yes. */
  isConfirmed?: boolean
}

/** A form that is sent, or an address that is opened. */
export type Step = Sending | { open: string }

/** Opens a page of the list in a browser. */
export async function reach(page: BrowserPage, listed: ListedPage, world: World): Promise<void> {
  const open = (address: string) => page.goto(new URL(address, world.test.url).href)
  await open(await listed.path(world))
  for (const step of (await listed.steps?.(world)) ?? [])
    await ('open' in step ? open(step.open) : sendInBrowser(page, step))
  await listed.act?.(page, world)
  if (listed.isUnfolded) await unfold(page)
}

async function sendInBrowser(page: BrowserPage, sending: Sending): Promise<void> {
  const { to, holding = {}, typed = {}, button = {}, isConfirmed } = sending
  const marks = [
    ...Object.keys(typed).map((name) => `:has([name="${name}"]:not([type="hidden"]))`),
    ...Object.entries({ ...holding, ...button }).map((held) => `:has(${marked(held)})`),
  ]
  const form = page.locator(`form[method="post"][action$="${to}"]${marks.join('')}`).first()
  await unfold(page)
  for (const [name, value] of Object.entries(typed)) {
    const field = form.locator(`[name="${name}"]`)
    await ((await field.getAttribute('type')) === 'checkbox' ? field.check() : field.fill(value))
  }
  const pressed = `button:not([type="button"])${Object.entries(button).map(marked).join('')}`
  await comingTo(page, () => form.locator(pressed).first().click())
  if (isConfirmed && (await page.locator('main input[name="confirmed"]').count()) > 0)
    await comingTo(page, () => page.locator('main form button').click())
}

const marked = ([name, value]: [string, string]) => `[name="${name}"][value="${value}"]`

/** Runs an act that leads to another page, and waits for that page. */
export async function comingTo(page: BrowserPage, act: () => Promise<unknown>): Promise<void> {
  const loaded = page.waitForEvent('load')
  await act()
  await loaded
}

const unfold = (page: BrowserPage) =>
  page.locator('main details').evaluateAll((found) => {
    for (const one of found) (one as HTMLDetailsElement).open = true
  })

/** A client without scripts, with the session of this member. */
export function clientFor(world: World, { as, isOpen }: { as: Role; isOpen?: boolean }): Browser {
  const client = browser(isOpen === true ? world.open : world.test)
  if (as !== 'visitor') for (const [name, value] of world.cookies[as]) client.cookies.set(name, value)
  return client
}

/** Opens a page of the list without a browser. */
export async function fetchListed(
  listed: ListedPage,
  language: Look['language'],
  world: World,
): Promise<Page> {
  const address = await listed.path(world)
  const client = clientFor(world, { as: listed.as, isOpen: address.startsWith(`${world.open.url}/`) })
  client.cookies.set('language', language)
  let page = await landing(client, await client.get(address))
  for (const step of (await listed.steps?.(world)) ?? [])
    page = await landing(client, await ('open' in step ? client.get(step.open) : send(client, page, step)))
  return page
}

/** The page at the end of redirects. */
async function landing(client: Browser, page: Page): Promise<Page> {
  return page.location === undefined ? page : landing(client, await client.get(page.location))
}

async function send(client: Browser, { body }: Page, sending: Sending): Promise<Page> {
  const { to, holding = {}, typed = {}, button = {}, isConfirmed } = sending
  const form = formsIn(body).find(
    ({ action, fields, values }) =>
      action.endsWith(to) &&
      Object.keys(typed).every((name) => fields.some((field) => field.name === name)) &&
      Object.entries(holding).every(([name, value]) => values[name] === value),
  )
  if (form === undefined) throw new Error(`The page has no such form: ${to}`)
  const answer = await client.post(form.action, { ...form.values, ...typed, ...button })
  const asked = formsIn(answer.body).find(({ values }) => values.confirmed !== undefined)
  return isConfirmed && asked !== undefined ? client.post(asked.action, asked.values) : answer
}
