/** One consent for sign-in and spending (RFC 9396): requests, the page and its three answers, tokens, and the return. spec/mandates 2.4. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { registerApp } from '../../../src/identity/apps/apps.ts'
import { pauseOwn, revokeOwn } from '../../../src/payment/mandates/acts.ts'
import { acceptMandate } from '../../../src/payment/mandates/consent.ts'
import { findMandate } from '../../../src/payment/mandates/mandates.ts'
import type { OfferedTerms } from '../../../src/payment/mandates/offers.ts'
import { linkSignInApp } from '../../../src/payment/mandates/right.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { changePerson, makePerson, type Person, setFrozen } from '../../harness/cast.ts'
import { type Browser, browser, setSetting, useTestApp } from '../../harness/harness.ts'
import {
  decideRight,
  IP,
  makeMandate,
  makeMandateMerchant,
  offer,
  switchMandates,
} from '../../harness/mandates.ts'
import { textOf } from '../../harness/markup.ts'
import type { Merchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { expectPage } from '../../harness/pages.ts'
import { rowOf, rowsOf, setRows } from '../../harness/rows.ts'
import { expectStatements } from '../../harness/statements.ts'
import {
  answerOf,
  authorizationUrl,
  authorize,
  basic,
  exchange,
  getJson,
  makeParty,
  obtainTokens,
  type Party,
  postForm,
  REDIRECT_URI,
  redeem,
  refresh,
  userinfo,
  withoutWriting,
} from '../../identity/relying-party.ts'
import { formsIn } from '../../web/form-markup.ts'

const HOUR_MS = 3_600_000

let alice: Person
let client: Browser

const test = await useTestApp()
await switchMandates(test)
const merchant = await makeMandateMerchant(test)
const party = await appOf(merchant)
afterAll(() => expectSoundBooks(test.db))
beforeEach(async () => {
  alice = await makePerson(test, { points: 5_000n })
  client = await alice.signIn()
})

/** Registers an OAuth application of a merchant. */
async function appOf({ owner }: Merchant): Promise<Party> {
  const facts = { name: 'Tea House', description: '', allow_groups: [], deny_groups: [] }
  const app = await registerApp(test.db, { owner_id: owner.id, redirect_uris: [REDIRECT_URI], ...facts })
  return { ...app, redirect_uri: REDIRECT_URI, owner: owner.username }
}

const link = ({ payment_id, owner }: Merchant, client_id: string | null) =>
  linkSignInApp(test.deps, payment_id, client_id, { user_id: owner.id, ip: IP })
const offered = (over: Partial<OfferedTerms> = {}) => offer(test, merchant, over)
const stored = (mandate_id: string) => findMandate(test.db, { mandate_id }, test.clock.now())
const naming = (identifier: string) => ({
  authorization_details: JSON.stringify([{ type: 'points_mandate', identifier }]),
})
const ask = (identifier: string, more: Record<string, string> = {}, by = client) =>
  by.get(authorizationUrl(party, { ...naming(identifier), ...more }))
const decide = async (
  identifier: string,
  decision: 'charge' | 'only' | 'deny',
  fields: Record<string, string> = {},
  by = client,
) => {
  const page = await ask(identifier, {}, by)
  return answer(page, decision, fields, by)
}
/** Sends the form of a page with this answer. */
const answer = (
  page: { body: string },
  decision: string,
  fields: Record<string, string> = {},
  by = client,
) => {
  const { action, values } = formIn(page)
  return by.post(action, { ...values, decision, ...fields })
}
const formIn = ({ body }: { body: string }) =>
  formsIn(body).find(({ action }) => action.startsWith('/oauth2/auth/mandate?'))!
/** Allows charges, and exchanges the code. */
async function allowed(identifier: string) {
  const { code } = answerOf(await decide(identifier, 'charge'))
  return (await exchange(test, party, code)).body
}
const detailsOf = (identifier: string, over: object = {}) => ({
  type: 'points_mandate',
  identifier,
  payment_id: merchant.payment_id,
  status: 'active',
  reason: null,
  kind: 'up_to',
  charge_max: 100,
  period_max: 250,
  period: 'month',
  starts_on: '2026-01-01',
  ends_on: '2026-12-31',
  purpose: 'A service',
  ...over,
})
const introspect = async (token: unknown) => {
  const fields = { token: String(token), client_id: party.client_id, client_secret: party.client_secret }
  return (await postForm(test, '/oauth2/introspect', fields)).body
}

await link(merchant, party.client_id)

describe('the parameter', () => {
  it('is announced and read while mandates are on, and unknown while they are off', async () => {
    const announced = async () =>
      (await getJson(test, '/.well-known/openid-configuration')).body.authorization_details_types_supported
    expect(await announced()).toEqual(['points_mandate'])
    await switchMandates(test, 'off')
    expect(await announced()).toBeUndefined()
    const { access_token, ...tokens } = await obtainTokens(test, client, party, {
      authorization_details: 'nonsense',
    })
    expect(tokens).not.toHaveProperty('authorization_details')
    expect(await introspect(access_token)).not.toHaveProperty('authorization_details')
    const fields = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
    const refreshed = await redeem(test, party, { ...fields, authorization_details: '[]' })
    expect([refreshed.status, refreshed.body]).toEqual([200, expect.not.objectContaining({ error: '' })])
    await switchMandates(test)
  })

  const id = 'mdt_000000000000000000000000'
  it.each([
    ['no JSON', 'points_mandate'],
    ['an object', `{"type":"points_mandate","identifier":"${id}"}`],
    ['no element', '[]'],
    ['two elements', JSON.stringify([1, 2].map(() => ({ type: 'points_mandate', identifier: id })))],
    ['an unknown type', `[{"type":"points","identifier":"${id}"}]`],
    ['an unknown member', `[{"type":"points_mandate","identifier":"${id}","actions":[]}]`],
    ['a repeated member', `[{"type":"points_mandate","identifier":"x","identifier":"${id}"}]`],
    ['no type', `[{"identifier":"${id}"}]`],
    ['no identifier', '[{"type":"points_mandate"}]'],
    ['a number as identifier', '[{"type":"points_mandate","identifier":1}]'],
    ['more than 200 bytes', `[{"type":"points_mandate","identifier":"${id}"}]`.padEnd(201)],
    ['an unknown mandate', `[{"type":"points_mandate","identifier":"${id}"}]`],
    ['no mandate_id', '[{"type":"points_mandate","identifier":"mdt_x"}]'],
    ['null', 'null'],
  ])('with %s is invalid_authorization_details, and nothing is written', async (_, authorization_details) => {
    const page = await withoutWriting(test, () =>
      client.get(authorizationUrl(party, { authorization_details })),
    )
    expect(answerOf(page)).toEqual({
      error: 'invalid_authorization_details',
      error_description: expect.any(String),
      state: 'a state',
      iss: test.url,
    })
  })

  it('is checked before a sign-in, and given once', async () => {
    const url = authorizationUrl(party, { authorization_details: '[]' })
    expect(answerOf(await browser(test).get(url)).error).toBe('invalid_authorization_details')
    const twice = await client.get(`${authorizationUrl(party, naming(id))}&authorization_details=x`)
    expect(answerOf(twice).error).toBe('invalid_request')
    expect((await ask(await offered(), {}, browser(test))).location).toMatch(/^\/sign-in\?/)
    const spaced = `\n[ {"identifier": "${await offered()}", "type": "points_mandate"} ]`
    const page = await client.get(authorizationUrl(party, { authorization_details: spaced }))
    expect(page.status).toBe(200)
  })

  it('is refused where no member can be asked: at the endpoints for tokens and devices', async () => {
    const { refresh_token } = await obtainTokens(test, client, party)
    const fields = { grant_type: 'refresh_token', refresh_token, ...naming(await offered()) }
    const refused = { status: 400, body: { error: 'invalid_authorization_details' } }
    expect(await redeem(test, party, fields)).toMatchObject(refused)
    expect((await refresh(test, party, refresh_token)).status).toBe(200)
    const authorization = basic(party.client_id, party.client_secret)
    const device = await postForm(test, '/oauth2/device_authorization', naming('x'), { authorization })
    expect(device).toMatchObject(refused)
  })

  it('costs requests without it no statement', async () => {
    await authorize(client, party)
    const page = await expectStatements(4, () => client.get(authorizationUrl(party)), 303)
    await expectStatements(2, () => exchange(test, party, answerOf(page).code))
  })
})

describe('a mandate', () => {
  const refused = async (identifier: string, by = client) =>
    answerOf(await withoutWriting(test, () => ask(identifier, {}, by))).error

  it('is refused that has ended or lapsed, or is another member’s', async () => {
    const bob = await makePerson(test)
    const declined = await offered()
    await decide(declined, 'only')
    const revoked = await makeMandate(test, merchant, alice)
    await revokeOwn(test.deps, revoked, { user_id: alice.id, ip: IP })
    const lapsed = await offered()
    await setRows(test, 'mandates', { mandate_id: lapsed }, { offer_expires_at: test.clock.now() })
    for (const mandate_id of [
      declined,
      revoked,
      lapsed,
      await offered({ user_id: bob.id }),
      await makeMandate(test, merchant, bob),
    ])
      expect(await refused(mandate_id)).toBe('invalid_authorization_details')
  })

  it('is refused of a payment application that does not name this client_id, or has another owner', async () => {
    const mandate_id = await offered()
    await link(merchant, null)
    expect(await refused(mandate_id)).toBe('invalid_authorization_details')
    await link(merchant, (await appOf(merchant)).client_id)
    expect(await refused(mandate_id)).toBe('invalid_authorization_details')
    await link(merchant, party.client_id)
    const setOwner = (owner_id: bigint) => setRows(test, 'oauth_apps', { id: party.id }, { owner_id })
    await setOwner(alice.id)
    expect(await refused(mandate_id)).toBe('invalid_authorization_details')
    await setOwner(merchant.owner.id)
    expect((await ask(mandate_id)).status).toBe(200)
    const others = await makeParty(test)
    const page = await client.get(authorizationUrl(others, naming(mandate_id)))
    expect(answerOf(page).error).toBe('invalid_authorization_details')
  })
})

describe('the page', () => {
  const { mandateOffer: t, identity, mandates } = messages.en
  it('folds the details of a reviewed application, and of no other', async () => {
    const headOf = (body: string) => textOf(body).split(identity.consent.details)
    const level = `· ${messages.en.common.trustLevel(2)}`
    const [unreviewed] = headOf((await ask(await offered())).body)
    expect(unreviewed).toContain(level)
    const setReviewed = (reviewed_at: Date | null) =>
      test.db
        .updateTable('oauth_apps')
        .set({ reviewed_at, reviewed_by: reviewed_at && alice.id })
        .where('client_id', '=', party.client_id)
        .execute()
    await setReviewed(test.clock.now())
    const [head, more] = headOf((await ask(await offered())).body)
    await setReviewed(null)
    expect(head).not.toContain(level)
    expect(more).toContain(level)
    expect(head).toContain(messages.en.consents.lookUpAgain)
    expect(more).toContain(` ${identity.consent.use} `)
  })

  it('shows sign-in and charges together, with three answers', async () => {
    const { body } = await ask(await offered({ purpose: 'Daily <tea>', with_token: true }))
    const words = textOf(body)
    expect(words).toContain(identity.consent.titleBoth('Tea House'))
    const most = `250${mandates.unitUpTo(250n, 'month', false)}`
    const { reviewed } = messages.en.common
    expect(words).toContain(`1 ${t.mayCharge} `)
    expect(words).toContain(`${reviewed} ${most}`)
    expect(words).toContain(`2 ${identity.consent.signsIn} ${identity.consent.who} `)
    expect(words).toContain(
      `${most} Daily <tea> ${t.eachCharge} ${t.eachFrom('100', undefined)} ${t.untilThen('31 Dec 2026')}`,
    )
    expect(words).toContain(`${t.upToEach('3,000 points')} ${t.withToken} ${t.balanceOf('5,000', 5000n)}`)
    expect(words).toContain(`${t.month} ${t.ofAllowed('250', '10,000')} ${t.owesNothing}`)
    // One line says where to revoke both.
    const { authorisedApps } = messages.en.common
    expect(words).toContain(
      `${identity.consent.neverBesides} ${identity.consent.revokeEach} ${mandates.own} and ${authorisedApps} .`,
    )
    const answersIn = ({ consent }: typeof identity) =>
      `${consent.deny} ${consent.allowBoth} ${consent.signInOnlyLink}`
    expect(words).toContain(answersIn(identity))
    expect(words).not.toContain(identity.consent.never)
    const url = authorizationUrl(party, naming(await offered()))
    const chinese = await client.get(url, { 'accept-language': 'zh-CN' })
    expect(textOf(chinese.body)).toContain(answersIn(messages['zh-CN'].identity))
  })

  it('is shown whatever is remembered, and prompt=none is consent_required', async () => {
    await authorize(client, party)
    const mandate_id = await offered()
    expect((await ask(mandate_id)).status).toBe(200)
    expect(answerOf(await ask(mandate_id, { prompt: 'none' })).error).toBe('consent_required')
    expect(await stored(mandate_id)).toMatchObject({ status: 'pending' })
  })

  it('asks for nothing more under a mandate that this member has accepted', async () => {
    const mandate_id = await makeMandate(test, merchant, alice)
    await authorize(client, party)
    const { code } = answerOf(await ask(mandate_id, { prompt: 'none' }))
    expect((await exchange(test, party, code)).body.authorization_details).toEqual([detailsOf(mandate_id)])
    await pauseOwn(test.deps, mandate_id, { user_id: alice.id, ip: IP })
    const paused = answerOf(await ask(mandate_id, { prompt: 'none' }))
    expect((await exchange(test, party, paused.code)).body.authorization_details).toEqual([
      detailsOf(mandate_id, { status: 'paused', reason: 'member' }),
    ])
  })

  it('needs its own answer: that of the page without a mandate is asked again', async () => {
    const mandate_id = await offered()
    const page = await ask(mandate_id)
    const { action, values } = formIn(page)
    const again = await client.post('/oauth2/consent', {
      ...values,
      query: action.split('?')[1]!,
      decision: 'allow',
    })
    expectPage(again, 200, messages.en.identity.consent.allowBoth)
    expect((await answer(page, 'allow')).status).toBe(400)
    expect((await client.post(action, { decision: 'charge' })).status).toBe(403)
    expect(await stored(mandate_id)).toMatchObject({ status: 'pending' })
    await switchMandates(test, 'off')
    const plain = await answer(page, 'charge')
    expect([plain.status, textOf(plain.body)]).toEqual([
      200,
      expect.not.stringContaining(identity.consent.allowBoth),
    ])
    await switchMandates(test)
  })
})

describe('sign in and allow charges', () => {
  it('accepts the mandate, remembers the scopes, and gives tokens that say so', async () => {
    const mandate_id = await offered()
    const page = await decide(mandate_id, 'charge')
    const { code } = answerOf(page)
    const { body: tokens } = await exchange(test, party, code)
    expect(tokens.authorization_details).toEqual([detailsOf(mandate_id)])
    expect(Object.keys((tokens.authorization_details as object[])[0]!)).toEqual(
      Object.keys(detailsOf(mandate_id)),
    )
    expect(await stored(mandate_id)).toMatchObject({ status: 'active', user_id: alice.id })
    expect((await rowOf(test, 'mandates', { mandate_id })).oauth_app_id).toBe(party.id)
    const { detail } = await rowOf(test, 'audit_log', { subject: mandate_id, action: 'mandate.accept' })
    expect(detail).toMatchObject({ by: 'member', from: 'consent' })
    expect((await client.get(authorizationUrl(party))).status).toBe(303)

    const claims = JSON.parse(
      Buffer.from(String(tokens.id_token).split('.')[1]!, 'base64url').toString(),
    ) as object
    const { body: about } = await userinfo(test, tokens.access_token)
    for (const told of [claims, about]) expect(told).not.toHaveProperty('authorization_details')
  })

  it('tells at each refresh and introspection what holds then', async () => {
    const mandate_id = await offered({ with_token: true })
    const tokens = await allowed(mandate_id)
    for (const token of [tokens.access_token, tokens.refresh_token])
      expect((await introspect(token)).authorization_details).toEqual([detailsOf(mandate_id)])
    await pauseOwn(test.deps, mandate_id, { user_id: alice.id, ip: IP })
    const paused = [detailsOf(mandate_id, { status: 'paused', reason: 'member' })]
    const refreshed = (await refresh(test, party, tokens.refresh_token)).body
    expect(refreshed.authorization_details).toEqual(paused)
    expect((await introspect(refreshed.access_token)).authorization_details).toEqual(paused)
    await revokeOwn(test.deps, mandate_id, { user_id: alice.id, ip: IP })
    const ended = await refresh(test, party, refreshed.refresh_token)
    expect(ended.body.authorization_details).toEqual([
      detailsOf(mandate_id, { status: 'ended', reason: 'member' }),
    ])
  })

  it('permits less where the member lowers the terms, and shows what is wrong with them', async () => {
    const mandate_id = await offered()
    const wrong = await decide(mandate_id, 'charge', { charge_max: '101', period_max: '60' })
    expect(wrong.status).toBe(400)
    expect(wrong.body).toMatch(/id="charge_max-problem">[^<]*from 1 to 100/)
    expect(wrong.body).toContain('name="period_max" value="60"')
    expect(await stored(mandate_id)).toMatchObject({ status: 'pending' })
    const lower = { charge_max: '20', period_max: '60', ends_on: '2026-02-01' }
    expect(await decide(mandate_id, 'charge', lower)).toMatchObject({ status: 303 })
    expect(await stored(mandate_id)).toMatchObject({
      charge_max: 20n,
      period_max: 60n,
      ends_on: '2026-02-01',
    })
  })

  it('needs a fresh sign-in, and the chosen terms wait', async () => {
    const mandate_id = await offered()
    const page = await ask(mandate_id)
    test.clock.advance(HOUR_MS)
    const stale = await ask(mandate_id)
    expect(textOf(stale.body)).toContain(messages.en.mandateOffer.signInAgain)
    expect(stale.body).not.toContain('value="charge"')
    const lower = { charge_max: '7', period_max: '9' }
    const refused = await withoutWriting(test, () => answer(page, 'charge', lower))
    expectPage(refused, 409, messages.en.security.signInAgain.title)
    expect(await stored(mandate_id)).toMatchObject({ status: 'pending' })
    await setRows(test, 'sessions', {}, { auth_time: test.clock.now() })
    const again = await ask(mandate_id)
    expect(formIn(again).values).toMatchObject(lower)
    test.clock.advance(HOUR_MS)
    expect(answerOf(await answer(page, 'only'))).toHaveProperty('code')
  })

  it('ends the mandate that it replaces', async () => {
    const before = await makeMandate(test, merchant, alice)
    const mandate_id = await offered({ replaces: before })
    expect(textOf((await ask(mandate_id)).body)).toContain(messages.en.mandateOffer.replaces)
    await allowed(mandate_id)
    expect(await stored(before)).toMatchObject({ status: 'ended', reason: 'replaced' })
  })
})

describe('the other answers', () => {
  it('sign in only: declines the mandate, and the tokens say that nothing was allowed', async () => {
    const mandate_id = await offered()
    const { code } = answerOf(await decide(mandate_id, 'only'))
    expect(await stored(mandate_id)).toMatchObject({ status: 'ended', reason: 'declined' })
    const { body: tokens } = await exchange(test, party, code)
    expect(tokens.authorization_details).toEqual([])
    expect((await introspect(tokens.access_token)).authorization_details).toEqual([])
    await test.db.deleteFrom('mandates').where('mandate_id', '=', mandate_id).execute()
    expect((await refresh(test, party, tokens.refresh_token)).body.authorization_details).toEqual([])
  })

  it('refuse: declines the mandate, and signs nobody in', async () => {
    const mandate_id = await offered()
    expect(answerOf(await decide(mandate_id, 'deny'))).toEqual({
      error: 'access_denied',
      error_description: expect.any(String),
      state: 'a state',
      iss: test.url,
    })
    expect(await stored(mandate_id)).toMatchObject({ status: 'ended', reason: 'declined' })
    const consents = test.db.selectFrom('consents').where('user_id', '=', alice.id)
    expect(await consents.selectAll().execute()).toEqual([])
  })

  const { states, noneAtLevel, canSignIn } = messages.en.mandateOffer
  const { consent } = messages.en.identity
  it.each([
    ['payments_paused', () => setSetting(test, 'payments_read_only', 'on')],
    ['no_right', () => decideRight(test, merchant, { decision: 'withdraw' })],
    ['app_changed', () => setApp({ unreviewed_change_at: test.clock.now() })],
    ['app_unusable', () => setApp({ status: 'suspended' })],
    ['wallet_frozen', () => setFrozen(test, alice)],
    ['charge_max', () => changePerson(test, alice, { trust_level: 0 })],
  ] as const)('are the only ones in the state %s', async (state, act) => {
    const reason = state === 'charge_max' ? noneAtLevel(0) : states[state].title
    const [kept, refused] = [await offered(), await offered()]
    const before = await ask(kept)
    await act()
    try {
      const page = await ask(kept)
      expectPage(page, 200, reason)
      if (state === 'charge_max') expect(textOf(page.body)).toContain(`${reason} ${canSignIn}`)
      expect(textOf(page.body)).toContain(`${consent.deny} ${consent.signInOnly}`)
      expect(page.body).not.toContain('value="charge"')
      const late = await answer(before, 'charge')
      expect([late.status < 500, late.location, textOf(late.body)]).toEqual([
        true,
        undefined,
        expect.stringContaining(reason),
      ])
      expect(await stored(kept)).toMatchObject({ status: 'pending' })
      expect(answerOf(await decide(kept, 'only'))).toHaveProperty('code')
      expect(answerOf(await decide(refused, 'deny')).error).toBe('access_denied')
      for (const id of [kept, refused])
        expect(await stored(id)).toMatchObject({ status: 'ended', reason: 'declined' })
    } finally {
      await setSetting(test, 'payments_read_only', 'off')
      await decideRight(test, merchant, { decision: 'grant', daily_max: 1_000_000n })
      await setApp({ unreviewed_change_at: null, status: 'approved' })
    }
  })
})

const setApp = (values: object) => setRows(test, 'payment_apps', { id: merchant.id }, values)

describe('taking the application back', () => {
  const path = () => `/account/applications/${party.client_id}/revoke`

  it('says how many mandates end, and ends those that were accepted with it', async () => {
    const [first, second] = [await offered(), await offered()]
    const tokens = await allowed(first)
    await allowed(second)
    const byHand = await makeMandate(test, merchant, alice)
    const bob = await makePerson(test)
    const others = await offered()
    await decide(others, 'charge', {}, await bob.signIn())

    const list = await client.get('/account/applications')
    const asked = await client.submit(list, path())
    expect(textOf(asked.body)).toContain(`${messages.en.authorised.liveMandates} 2`)
    expect(textOf(asked.body)).toContain('The mandates that you accepted while signing in to it end too')
    expect(await stored(first)).toMatchObject({ status: 'active' })
    const done = await client.submit(asked, path())
    expect(textOf((await client.get(done.location!)).body)).toContain('2 mandates ended.')
    for (const id of [first, second])
      expect(await stored(id)).toMatchObject({ status: 'ended', reason: 'member' })
    for (const id of [byHand, others]) expect(await stored(id)).toMatchObject({ status: 'active' })
    expect((await refresh(test, party, tokens.refresh_token)).status).toBe(400)
    const { detail } = await rowOf(test, 'audit_log', { subject: first, action: 'mandate.end' })
    expect(detail).toMatchObject({ by: 'member', from: 'applications', reason: 'member' })
    expect(textOf((await ask(await offered())).body)).toContain(messages.en.identity.consent.allowBoth)
  })

  it('says nothing of mandates where there are none', async () => {
    await authorize(client, party)
    const asked = await client.submit(await client.get('/account/applications'), path())
    expect(textOf(asked.body)).not.toContain(messages.en.authorised.liveMandates)
    const done = await client.submit(asked, path())
    expect(textOf((await client.get(done.location!)).body)).not.toContain('mandates ended')
  })
})

describe('at once', () => {
  it('the same answer twice accepts once, and both sign in', async () => {
    const mandate_id = await offered()
    const page = await ask(mandate_id)
    const answers = await Promise.all([1, 2, 3].map(() => answer(page, 'charge')))
    for (const each of answers) {
      const { code } = answerOf(each)
      expect((await exchange(test, party, code)).body.authorization_details).toEqual([detailsOf(mandate_id)])
    }
    const accepted = await rowsOf(test, 'audit_log', { subject: mandate_id, action: 'mandate.accept' })
    expect(accepted).toHaveLength(1)
  })

  it('of two members one accepts, and the other is not signed in with it', async () => {
    const mandate_id = await offered()
    const bob = await (await makePerson(test, { points: 1_000n })).signIn()
    const pages = await Promise.all([client, bob].map((by) => ask(mandate_id, {}, by)))
    const answers = await Promise.all([client, bob].map((by, n) => answer(pages[n]!, 'charge', {}, by)))
    const told = answers.map((each) => answerOf(each))
    expect(told.filter(({ code }) => code !== undefined)).toHaveLength(1)
    expect(told.map(({ error }) => error).filter((error) => error !== undefined)).toEqual([
      'invalid_authorization_details',
    ])
  })

  it('accepting and taking the application back leave no mandate without its consent', async () => {
    const kept = await offered()
    await allowed(kept)
    const revoking = await client.submit(
      await client.get('/account/applications'),
      `/account/applications/${party.client_id}/revoke`,
    )
    const mandate_id = await offered({ replaces: kept })
    const page = await ask(mandate_id)
    await Promise.all([
      answer(page, 'charge'),
      client.submit(revoking, `/account/applications/${party.client_id}/revoke`),
    ])
    const consents = await rowsOf(test, 'consents', { user_id: alice.id, app_id: party.id })
    const { status, reason } = (await stored(mandate_id))!
    expect([
      ['active', null, 1],
      ['pending', 'not_accepted', 0],
      ['ended', 'member', 0],
    ]).toContainEqual([status, reason, consents.length])
    expect(await stored(kept)).toMatchObject({ status: 'ended' })
  })

  it('a mandate that was accepted on its own page meanwhile still signs in', async () => {
    const mandate_id = await offered()
    const page = await ask(mandate_id)
    await acceptMandate(test.deps, mandate_id, { user_id: alice.id, ip: IP, isFresh: true })
    const again = await answer(page, 'charge')
    // The sign-in alone is asked for now.
    expect(textOf(again.body)).toContain(messages.en.identity.consent.title('Tea House'))
    expect(textOf(again.body)).not.toContain(messages.en.identity.consent.allowBoth)
  })
})
