/** Passkeys in Chromium with a virtual authenticator: our script, the options of our pages, and the browser's own answers. */
import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startAtLocalhost } from '../harness/at-localhost.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { isWithoutChromium, sharedChromium } from '../harness/chromium.ts'
import { setSetting, type TestApp } from '../harness/harness.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { setRows } from '../harness/rows.ts'

const MINUTE_MS = 60_000
const NAME = 'Phone'
const t = messages.en

describe.skipIf(isWithoutChromium)('in Chromium', () => {
  let test: TestApp

  beforeAll(async () => {
    test = await startAtLocalhost()
  })
  afterAll(() => test.close())

  /** A browser on a device with an authenticator, which answers at once. */
  async function openDevice({ isSynced = false, javaScriptEnabled = true } = {}) {
    const context = await (await sharedChromium()).newContext({ locale: 'en', javaScriptEnabled })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const devtools: CDPSession = await context.newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
        defaultBackupEligibility: isSynced,
        defaultBackupState: isSynced,
      },
    })
    const credentials = async () =>
      (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials
    return { page, credentials }
  }

  async function signIn(page: Page, { username, password }: Person) {
    await page.goto(`${test.url}/sign-in`)
    await page.locator('#username').fill(username)
    await page.locator('#password').fill(password)
    await page.locator('form[action="/sign-in"] button.block').click()
  }

  async function addPasskey(page: Page) {
    await page.goto(`${test.url}/account/passkeys`)
    await page.locator('form[action="/account/passkeys"] input[name="name"]').fill(NAME)
    await page.getByRole('button', { name: t.security.passkeys.add }).click()
    await page.getByText(t.security.passkeys.added(NAME)).waitFor()
  }

  async function signOut(page: Page) {
    await page.goto(`${test.url}/account/profile`)
    await page
      .locator('form[action="/sign-out"] button')
      .first()
      .evaluate((button) => (button as unknown as { click(): void }).click())
    await page.waitForURL(`${test.url}/`)
  }

  const amrOf = async ({ id }: Person) =>
    (
      await test.db
        .selectFrom('sessions')
        .where('user_id', '=', id)
        .orderBy('id', 'desc')
        .select('amr')
        .executeTakeFirstOrThrow()
    ).amr

  it('a passkey is added, signs in by autofill and by the button, and is removed', async () => {
    const alice = await makePerson(test)
    const { page, credentials } = await openDevice({ isSynced: true })
    await signIn(page, alice)
    await page.waitForURL(`${test.url}/`)
    await addPasskey(page)
    await page.getByText(t.security.passkeys.synced, { exact: true }).waitFor()
    const [credential] = await credentials()
    expect(credential).toMatchObject({ rpId: 'localhost', isResidentCredential: true })

    // The username field offers the passkey by itself. The virtual authenticator takes the offer.
    await signOut(page)
    await page.goto(`${test.url}/sign-in`)
    await page.waitForURL(`${test.url}/`)
    expect(await amrOf(alice)).toEqual(['swk', 'user', 'mfa'])

    await signOut(page)
    await page.addInitScript(() => {
      // As in a browser without autofill of passkeys.
      const { PublicKeyCredential } = globalThis as unknown as {
        PublicKeyCredential: Record<string, unknown>
      }
      PublicKeyCredential.isConditionalMediationAvailable = async () => false
    })
    await page.goto(`${test.url}/sign-in?return_to=%2Faccount%2Fpasskeys`)
    await page.getByRole('button', { name: t.signIn.withPasskey }).click()
    await page.waitForURL(`${test.url}/account/passkeys`)

    await page.getByRole('button', { name: t.security.passkeys.remove }).first().click()
    await page.getByRole('button', { name: t.security.passkeys.remove }).click()
    await page.getByText(t.security.passkeys.removed(NAME)).waitFor()
    await signOut(page)
    await page.addInitScript(() => {
      const { PublicKeyCredential } = globalThis as unknown as {
        PublicKeyCredential: Record<string, unknown>
      }
      PublicKeyCredential.signalUnknownCredential = async (unknown: object) =>
        Object.assign(globalThis, { unknown })
    })
    await page.goto(`${test.url}/sign-in`)
    await page.getByRole('button', { name: t.signIn.withPasskey }).click()
    await page.getByText(messages.en.signIn.passkeyUnknown).waitFor()
    // The browser is told to stop offering it.
    const told = await page.waitForFunction(() => (globalThis as unknown as { unknown?: object }).unknown)
    const { credentialId } = credential!
    expect(await told.jsonValue()).toEqual({
      rpId: 'localhost',
      credentialId: Buffer.from(credentialId, 'base64').toString('base64url'),
    })
  })

  it('a passkey is the step after the password, and confirms a payment', async () => {
    await setSetting(test, 'reauthenticate_above_points', '100')
    const alice = await makePerson(test, { points: 1_000n })
    const merchant = await makeMerchant(test)
    const { page } = await openDevice()
    await signIn(page, alice)
    await page.waitForURL(`${test.url}/`)
    await addPasskey(page)
    await page.goto(`${test.url}/account/second-factor`)
    await page.getByRole('button', { name: t.security.setUp.usePasskeys }).click()
    await page.getByText(t.security.recoveryCodes.keep).waitFor()
    await signOut(page)
    await page.addInitScript(() => {
      const { PublicKeyCredential } = globalThis as unknown as {
        PublicKeyCredential: Record<string, unknown>
      }
      PublicKeyCredential.isConditionalMediationAvailable = async () => false
    })
    await signIn(page, alice)
    await page.getByRole('button', { name: t.security.secondStep.usePasskey }).click()
    await page.waitForURL(`${test.url}/`)
    expect(await amrOf(alice)).toEqual(['pwd', 'hwk', 'user', 'mfa'])

    test.clock.advance(20 * MINUTE_MS)
    const { body } = await merchant.process({ amount: '500', description: 'Tea set', order_id: 'tea-1' })
    const { pathname } = new URL(String(body.payment_url))
    await page.goto(test.url + pathname)
    await page.getByRole('link', { name: t.security.signInAgain.submit }).click()
    await page.getByRole('button', { name: t.signIn.confirmWithPasskey }).click()
    await page.waitForURL((url) => url.pathname === pathname)
    await page.locator('form[action^="/payment/pay/"] button.primary').first().click()
    await page.getByText('"isGenuine":true').waitFor()
  })

  it.each([
    ['knows', true],
    ['does not know', false],
  ])('the other address offers passkeys only where the browser %s related origins', async (_, knows) => {
    const { page } = await openDevice()
    await page.addInitScript((relatedOrigins) => {
      const { PublicKeyCredential } = globalThis as unknown as {
        PublicKeyCredential: Record<string, unknown>
      }
      PublicKeyCredential.getClientCapabilities = async () => ({ relatedOrigins })
    }, knows)
    await page.route('**/sign-in', async (route) => {
      const response = await route.fetch()
      const body = (await response.text()).replace(' data-autofill', ' data-related')
      await route.fulfill({ response, body })
    })
    await page.goto(`${test.url}/sign-in`)
    expect(await page.locator('form[data-related]').count()).toBe(1)
    expect(await page.getByRole('button', { name: t.signIn.withPasskey }).isVisible()).toBe(knows)
  })

  it('a member of the forum confirms by passkey, and no page needs JavaScript', async () => {
    const carol = await makePerson(test)
    const { page } = await openDevice()
    await signIn(page, carol)
    await page.waitForURL(`${test.url}/`)
    await addPasskey(page)
    await setRows(test, 'users', { id: carol.id }, { password_hash: null, forum_id: 900_000n + carol.id })
    await setRows(test, 'sessions', { user_id: carol.id }, { amr: ['forum'] })
    test.clock.advance(20 * MINUTE_MS)
    await page.goto(`${test.url}/account/passkeys`)
    await page.getByRole('button', { name: t.signIn.confirmWithPasskey }).click()
    await page.waitForURL(`${test.url}/account/passkeys`)
    expect(await amrOf(carol)).toEqual(['forum', 'hwk', 'user', 'mfa'])

    const { page: plain } = await openDevice({ javaScriptEnabled: false })
    const bob = await makePerson(test)
    await signIn(plain, bob)
    await plain.waitForURL(`${test.url}/`)
    await plain.goto(`${test.url}/account/passkeys`)
    await plain.getByText(t.security.passkeys.unsupported).waitFor()
    expect(await plain.getByRole('button', { name: t.security.passkeys.add }).isVisible()).toBe(false)
  })
})
