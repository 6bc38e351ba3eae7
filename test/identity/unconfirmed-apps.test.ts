/** Applications that other applications registered in a member's name, until their owner confirms them (spec/registry 2.3). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UNCONFIRMED_APPS_MAX } from '../../src/identity/apps/apps.ts'
import { deleteExpiredRows } from '../../src/operations/retention.ts'
import { type MailedApp, startMailedApp } from '../accounts/mailed-app.ts'
import { changePerson, makePerson, type Person } from '../harness/cast.ts'
import { browser, setSetting, type TestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { rowsOf } from '../harness/rows.ts'
import {
  authorizationUrl,
  authorize,
  changeApp,
  exchange,
  getJson,
  makeParty,
  obtainTokens,
  type Party,
  REDIRECT_URI,
  registerByApi,
  userinfo,
} from './relying-party.ts'

const t = messages.en

const DAY_MS = 86_400_000

let mailed: MailedApp
let test: TestApp
let bot: Party

beforeAll(async () => {
  mailed = await startMailedApp()
  test = mailed.test
  bot = await makeParty(test, { name: 'Builder Bot' })
})
afterAll(() => mailed.close())

/** Registers an application as a script does, with an access token of the member. */
async function register(person: Person, { scope = 'openid profile', by = bot, name = 'Night Market' } = {}) {
  const { access_token } = await obtainTokens(test, await person.signIn(), by, { scope })
  return registerWith(access_token, name)
}

async function registerWith(access_token: string, name = 'Night Market') {
  const fields = { name, description: 'Stalls', redirect_uris: [REDIRECT_URI] }
  const { status, body } = await registerByApi(test, access_token, fields)
  return { status, body: body as Record<string, string> }
}

function partyOf({ client_id, client_secret }: Record<string, string>): Party {
  return {
    id: 0n,
    client_id: client_id!,
    client_secret: client_secret!,
    redirect_uri: REDIRECT_URI,
    owner: '',
  }
}

const auditOf = async (subject: string) =>
  (await rowsOf(test, 'audit_log', { subject })).map(({ action }) => action)

describe('an application that another one registers in a member’s name', () => {
  it('works at once for its owner and for other members, and waits for its owner', async () => {
    const owner = await makePerson(test)
    const { status, body } = await register(owner)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      name: 'Night Market',
      status: 'unconfirmed',
      confirm_url: `${test.deps.config.PUBLIC_URL}/apps`,
    })
    const party = partyOf(body)
    for (const person of [owner, await makePerson(test)]) {
      const { code } = await authorize(await person.signIn(), party)
      const tokens = (await exchange(test, party, code)).body
      expect((await userinfo(test, String(tokens.access_token))).body.sub).toBe(person.id.toString())
    }
    const { access_token } = await obtainTokens(test, await owner.signIn(), bot)
    const listed = await getJson(test, '/api/apps', { authorization: `Bearer ${access_token}` })
    expect(listed.body).toMatchObject([{ client_id: body.client_id }])
    expect(await auditOf(party.client_id)).toEqual(['oauth_app.registered_unconfirmed'])
  })

  it('is confirmed from the first with the scope apps, and by the member’s own application', async () => {
    const asked = await register(await makePerson(test), { scope: 'openid apps' })
    expect(asked).toMatchObject({ status: 201, body: { name: 'Night Market' } })
    expect(asked.body).not.toHaveProperty('status')

    const owner = await makePerson(test)
    const by = await makeParty(test)
    await changeApp(test, by, { owner_id: owner.id })
    const own = await register(owner, { by })
    expect(own.body).not.toHaveProperty('status')
    expect(await auditOf(own.body.client_id!)).toEqual(['oauth_app.registered'])
  })

  it('tells its owner at once: one alert each, and one mail a day from each application', async () => {
    const email = 'told@example.org'
    const owner = await makePerson(test, { email })
    await changePerson(test, owner, { email_verified: true })
    const { access_token } = await obtainTokens(test, await owner.signIn(), bot)
    await registerWith(access_token, 'First')
    await registerWith(access_token, 'Second')
    const mails = () => rowsOf(test, 'outgoing_mails', { user_id: owner.id, kind: 'app_registered' })
    expect(await mails()).toHaveLength(1)
    const client = await owner.signIn()
    const alerts = await client.get('/account/alerts')
    const createdIn = (app: string) => t.alerts.mails.app_registered({ app, by: 'Builder Bot' }).text
    expect(alerts.body).toContain(createdIn('Second'))
    expect(alerts.body).toContain(createdIn('First'))
    expect(alerts.body).toContain('href="/apps"')

    test.clock.advance(DAY_MS + 1_000)
    const later = await obtainTokens(test, await owner.signIn(), bot)
    await registerWith(later.access_token, 'Third')
    expect(await mails()).toHaveLength(2)
  })

  it('says so on its consent page and to reviewers, until its owner confirms it', async () => {
    const owner = await makePerson(test)
    const { body } = await register(owner, { name: 'Lantern' })
    const party = partyOf(body)
    const member = await (await makePerson(test)).signIn()
    const said = t.identity.consent.unconfirmed(owner.username, 'Builder Bot')
    const consent = await member.get(authorizationUrl(party))
    expect(consent.body).toContain(said)
    expect(consent.body.indexOf(said)).toBeLessThan(consent.body.indexOf('>Allow</button>'))
    const admin = await (await makePerson(test, { is_admin: true })).signIn()
    const found = await admin.get('/admin/apps?status=unconfirmed')
    expect(found.body).toContain(`/admin/apps/${party.client_id}`)
    expect((await admin.get(`/admin/apps/${party.client_id}`)).body).toContain(t.registry.unconfirmed)

    const client = await owner.signIn()
    const page = await client.get('/apps')
    expect(page.body).toContain(t.registry.unconfirmedText('Builder Bot'))
    const stranger = await (await makePerson(test)).signIn()
    const act = `/apps/${party.client_id}/confirm`
    const { body: _, ...own } = await stranger.get('/apps')
    expect((await stranger.post(act, own.form('/apps'))).status).toBe(404)

    const confirmed = await client.submit(page, act, {})
    expect(confirmed.location).toBe(`/apps/${party.client_id}`)
    expect((await client.get(confirmed.location!)).body).toContain(t.registry.confirmed('Lantern'))
    expect((await client.submit(page, act, {})).status).toBe(409)
    expect((await client.get('/apps')).body).not.toContain(t.registry.unconfirmedText('Builder Bot'))
    expect((await member.get(authorizationUrl(party))).body).not.toContain(said)
    expect(await auditOf(party.client_id)).toEqual([
      'oauth_app.registered_unconfirmed',
      'oauth_app.confirmed',
    ])
  })

  it('is confirmed only after a recent sign-in', async () => {
    const owner = await makePerson(test)
    const { body } = await register(owner)
    const client = await owner.signIn()
    const page = await client.get('/apps')
    test.clock.advance(60 * 60_000)
    const answer = await client.submit(page, `/apps/${body.client_id}/confirm`, {})
    expect(answer.body).toContain(t.security.signInAgain.title)
    expect(await auditOf(body.client_id!)).toEqual(['oauth_app.registered_unconfirmed'])
  })

  it('is the first on the owner’s page, and deleted by a way from there', async () => {
    const owner = await makePerson(test)
    const { body } = await register(owner, { name: 'Lantern' })
    const client = await owner.signIn()
    await client.submit(await client.get('/apps'), '/apps', { name: 'Newer', redirect_uris: REDIRECT_URI })
    const page = await client.get('/apps')
    expect(page.body.indexOf('Lantern')).toBeLessThan(page.body.indexOf('Newer'))
    const path = `/apps/${body.client_id}`
    expect(page.body).toContain(`href="${path}/settings#remove"`)
    const own = await client.get(`${path}/settings`)
    const gone = await client.submit(own, `${path}/delete`, { typed_name: 'Lantern' })
    expect(gone).toMatchObject({ status: 303, location: '/apps' })
    expect((await client.get('/apps')).body).not.toContain('>Lantern<')
    const member = await (await makePerson(test)).signIn()
    expect((await member.get(authorizationUrl(partyOf(body)))).status).toBe(401)
  })

  it('is refused as the eleventh that waits', async () => {
    const owner = await makePerson(test)
    const { access_token } = await obtainTokens(test, await owner.signIn(), bot)
    for (let n = 0; n < UNCONFIRMED_APPS_MAX; n += 1) {
      expect((await registerWith(access_token, `No. ${n}`)).status).toBe(201)
    }
    const eleventh = await registerWith(access_token)
    expect(eleventh).toMatchObject({ status: 403, body: { error: 'access_denied' } })
    const asked = await register(owner, { scope: 'openid apps' })
    expect(asked.status).toBe(201)
  })

  it('ends after 30 days if nobody uses it and its owner does not confirm it', async () => {
    const owner = await makePerson(test)
    const registered = []
    for (const name of ['Unused', 'Used', 'Confirmed'])
      registered.push((await register(owner, { name })).body)
    const [unused, used, confirmed] = registered as [
      Record<string, string>,
      Record<string, string>,
      Record<string, string>,
    ]
    const client = await owner.signIn()
    await authorize(client, partyOf(used))
    await client.submit(await client.get('/apps'), `/apps/${confirmed.client_id}/confirm`, {})
    const left = async () => {
      await deleteExpiredRows(test.deps)
      return (await rowsOf(test, 'oauth_apps', { owner_id: owner.id })).map(({ client_id }) => client_id)
    }
    test.clock.advance(29 * DAY_MS)
    expect(await left()).toEqual([unused.client_id, used.client_id, confirmed.client_id])
    test.clock.advance(2 * DAY_MS)
    expect(await left()).toEqual([used.client_id, confirmed.client_id])
  })
})

describe('apps_by_any_token = draft', () => {
  beforeAll(() => setSetting(test, 'apps_by_any_token', 'draft'))
  afterAll(() => setSetting(test, 'apps_by_any_token', 'open'))

  it('lets only the owner sign in until the confirmation, and never redirects others', async () => {
    const owner = await makePerson(test)
    const { status, body } = await register(owner)
    expect(status).toBe(201)
    const party = partyOf(body)
    const member = await (await makePerson(test)).signIn()
    for (const parameters of [{}, { prompt: 'none' }]) {
      const page = await member.get(authorizationUrl(party, parameters))
      expect(page.status).toBe(403)
      expect(page.body).toContain(t.identity.unconfirmed.title('Night Market'))
    }
    const silent = await test.app.inject({
      url: authorizationUrl(party, { prompt: 'none' }),
      headers: { accept: 'text/html' },
    })
    expect(silent.statusCode).toBe(403)
    const script = await member.get(authorizationUrl(party), { accept: 'application/json' })
    expect(script.status).toBe(403)
    expect(JSON.parse(script.body).error).toBe('access_denied')

    // A visitor may be the owner.
    const visitor = await browser(test).get(authorizationUrl(party))
    expect(visitor.location).toMatch(/^\/sign-in\?/)

    const client = await owner.signIn()
    expect((await authorize(client, party)).code).toBeTruthy()
    await client.submit(await client.get('/apps'), `/apps/${party.client_id}/confirm`, {})
    expect((await authorize(member, party)).code).toBeTruthy()
  })

  it('counts between the consent page and its answer', async () => {
    const { body } = await register(await makePerson(test))
    const party = partyOf(body)
    const member = await (await makePerson(test)).signIn()
    await setSetting(test, 'apps_by_any_token', 'open')
    const page = await member.get(authorizationUrl(party))
    await setSetting(test, 'apps_by_any_token', 'draft')
    for (const decision of ['allow', 'deny'])
      expect((await member.submit(page, '/oauth2/consent', { decision })).status).toBe(403)
  })
})

describe('the consent page', () => {
  const shown = async (person: Person, scope: string) =>
    (await (await person.signIn()).get(authorizationUrl(bot, { scope }))).body

  it('says that an application learns of the member’s own ones, to those who have some', async () => {
    const person = await makePerson(test)
    const text = t.consents.ownApps
    expect(await shown(person, 'openid')).not.toContain(text)
    await register(person, { scope: 'openid apps' })
    expect(await shown(person, 'openid email')).toContain(text)
  })
})
