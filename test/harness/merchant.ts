/** A merchant in tests: a real HTTP server for callbacks, and signature code that shares nothing with src/. */
import { createHash, createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { applyForPaymentApp, type PaymentAppCredentials } from '../../src/payment/apps/apps.ts'
import { acceptOffer, offerApplication } from '../../src/payment/apps/handover.ts'
import { reviewPaymentApp } from '../../src/payment/apps/review.ts'
import { createTestApp } from '../../src/payment/apps/test-apps.ts'
import { makePerson, type Person } from './cast.ts'
import type { Browser, TestApp } from './harness.ts'

export type Answer = {
  status: number
  body: Record<string, unknown> & { data?: Record<string, unknown> | null }
}

export type Merchant = PaymentAppCredentials & {
  owner: Person
  callbackUrl: string
  /** Sends a signed request to the HMAC API. */
  process(fields: Record<string, string>): Promise<Answer>
  query(fields: Record<string, string>): Promise<Answer>
  transfer(fields: Record<string, string>): Promise<Answer>
  /** Follows a callback as a browser would, and returns the merchant's verdict on it. */
  receive(location: string): Promise<{ isGenuine: boolean; fields: Record<string, string> }>
}

/** Signs with code of its own: sorted, raw values, HMAC-SHA-256 keyed with the hex hash of the token. */
export function merchantSign(token: string, fields: Record<string, string>): string {
  const names = Object.keys(fields)
    .filter((name) => name !== 'signature')
    .sort()
  const key = createHash('sha256').update(token).digest('hex')
  return createHmac('sha256', key)
    .update(names.map((name) => `${name}=${fields[name]}`).join('&'))
    .digest('hex')
}

/** Posts exactly these form fields. */
export async function post(
  test: TestApp,
  path: string,
  fields: Record<string, string> | string,
  type?: string,
): Promise<Answer> {
  const response = await test.app.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': type ?? 'application/x-www-form-urlencoded' },
    payload: typeof fields === 'string' ? fields : new URLSearchParams(fields).toString(),
  })
  return { status: response.statusCode, body: response.json() }
}

/** The tokens by which merchants check callbacks, by their paths. */
const tokens = new Map<string, string>()
let count = 0
let origin: Promise<string> | undefined

/** Starts the server of all merchants, once a process. It does not keep the process alive. */
function serveCallbacks(): Promise<string> {
  origin ??= new Promise((resolve) => {
    const server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://merchant')
      const fields = Object.fromEntries(searchParams)
      const isGenuine = merchantSign(tokens.get(pathname) ?? '', fields) === fields.signature
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ isGenuine, fields }))
    })
    server.unref()
    const listening = () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    server.listen(0, '127.0.0.1', listening)
  })
  return origin
}

type MerchantOptions = {
  /** Whether its payment application is approved. Otherwise it stays pending. */
  approved?: boolean
  /** An application in test mode, which needs no review. */
  isTest?: boolean
  /** The live application of which this is the test application. */
  twinOf?: Merchant
}

/** Creates a merchant with a payment application. */
export async function makeMerchant(
  test: TestApp,
  { approved = true, isTest = false, twinOf }: MerchantOptions = {},
): Promise<Merchant> {
  const owner = twinOf?.owner ?? (await makePerson(test, { username: 'bob' }))
  const admin = await makePerson(test, { username: 'admin', is_admin: true })
  const path = `/${++count}/paid`
  const callbackUrl = `${await serveCallbacks()}${path}`
  const facts = {
    applicant_id: owner.id,
    name: `Shop of ${owner.username}`,
    description: 'What a test sells',
    callback_url: callbackUrl,
  }
  const ip = '203.0.113.7'
  const credentials =
    isTest || twinOf
      ? await createTestApp(test.deps, { ...facts, ip, ...(twinOf && { live_app_id: twinOf.id }) })
      : await applyForPaymentApp(test.deps, facts)
  tokens.set(path, credentials.token)
  if (approved && !isTest && !twinOf) {
    await reviewPaymentApp(test.deps, {
      payment_id: credentials.payment_id,
      decision: 'approve',
      reason: '',
      reviewer_id: admin.id,
    })
  }
  const signed = (fields: Record<string, string>) => ({
    ...fields,
    signature: merchantSign(credentials.token, fields),
  })
  return {
    ...credentials,
    owner,
    callbackUrl,
    process: (fields) => post(test, `/payment/pay/${credentials.payment_id}/process`, signed(fields)),
    query: (fields) => post(test, `/payment/query/${credentials.payment_id}`, signed(fields)),
    transfer: (fields) => post(test, `/payment/transfer/${credentials.payment_id}`, signed(fields)),
    receive: async (location) =>
      (await fetch(location)).json() as Promise<{ isGenuine: boolean; fields: Record<string, string> }>,
  }
}

/** The fields of the settings of an application, as its owner's form sends them. */
export const settingsForm = (over: Record<string, string> = {}): Record<string, string> => ({
  ...{ name: 'Tea House', description: '', callback_url: 'https://tea.example.org/paid' },
  ...{ homepage: '', logo_url: '', notify_url: '' },
  ...{ order_minutes: '', exchange_rate: '100', allowed_addresses: '', ...over },
})

/** The recipient of a transfer, as a verb names a member. */
export const recipient = ({ id, username }: Pick<Person, 'id' | 'username'>) => ({
  to_user_id: id,
  to_username: username,
})

/** The recipient of a transfer, as a signed request names a member. */
export const recipientFields = ({ id, username }: Pick<Person, 'id' | 'username'>) => ({
  to_user_id: String(id),
  to_username: username,
})

/** Makes a new member one of the team of an application. */
export async function joinTeam(
  test: TestApp,
  { id: app_id, owner }: Pick<Merchant, 'id' | 'owner'>,
  role: 'manager' | 'operator' | 'viewer',
): Promise<Person> {
  const person = await makePerson(test, { username: role })
  const at = test.clock.now()
  await test.db
    .insertInto('payment_app_members')
    .values({ app_id, user_id: person.id, role, invited_by: owner.id, invited_at: at, accepted_at: at })
    .execute()
  return person
}

/** Decides on an application as an administrator does in the queue of reviews. Returns the status of the answer. */
export async function decideReview(
  admin: Browser,
  { payment_id }: Pick<Merchant, 'payment_id'>,
  fields: { decision: 'approve' | 'reject'; reason?: string },
): Promise<number> {
  const queue = await admin.get('/admin/reviews')
  return (await admin.submit(queue, `/admin/reviews/${payment_id}`, fields)).status
}

/** Hands an application over to a member. */
export async function handOver(
  { deps }: TestApp,
  { payment_id, owner }: Pick<Merchant, 'payment_id' | 'owner'>,
  { id: user_id, username }: Pick<Person, 'id' | 'username'>,
): Promise<void> {
  await offerApplication(deps, payment_id, username, { user_id: owner.id, ip: '127.0.0.1' })
  await acceptOffer(deps, payment_id, { user_id, ip: '127.0.0.1' })
}
