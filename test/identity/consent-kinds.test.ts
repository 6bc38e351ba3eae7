/** What the consent page says, in its order, for each kind of application (identity-2.md 10). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { storeMetadataClient } from '../../src/identity/metadata/clients.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { type Browser, setSetting, startTestApp, type TestApp } from '../harness/harness.ts'
import { authorizationUrl, makeParty, type Party, postForm } from './relying-party.ts'

const PKCE = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' }

let test: TestApp
let person: Person
let member: Browser

beforeAll(async () => {
  test = await startTestApp()
  person = await makePerson(test, { email: 'alice@example.org' })
  member = await person.signIn()
})
afterAll(() => test.close())

/** The texts of a page's main part, one a line, without those of names that differ in each run. */
function linesOf(body: string, { owner }: { owner?: string } = {}): string[] {
  const main = /<main[\s\S]*?<\/main>/.exec(body)![0]
  const words = main
    .replace(/<time[^>]*>[^<]*<\/time>/g, 'TIME')
    .replace(/<(?:svg|span class="tile|span class="avatar)[\s\S]*?<\/(?:svg|span)>/g, '')
    .replace(/<\/(?:p|h1|li|dt|dd|button|summary)>|<br>/g, '\n')
    .replace(/<[^>]*>/g, '')
    .replaceAll('&amp;', '&')
    .replaceAll(`@${person.username}`, '@MEMBER')
    .replaceAll(owner === undefined ? '\0' : `@${owner}`, '@OWNER')
    .replace(/member number \d+/, 'member number N')
  return words
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
}

const shown = async (party: Party, more: Record<string, string> = {}) =>
  linesOf((await member.get(authorizationUrl(party, more))).body, party)

/** What every page says of the member, and of what no application gets. */
const SEES = [
  'It will see',
  'Identity',
  '@MEMBER, member number N',
  'Email',
  'a•••@example.org',
  'Groups',
  'Trust level 2',
]
const MAY = ['It may', 'Look this up again while you are away, for up to 30 days after each sign-in']
const NEVER = [
  'It cannot see your password, your points or what you do elsewhere, and it cannot pay for you.',
  'You can revoke this at any time under Authorised apps.',
]
const ANSWER = ['Deny', 'Allow', 'Not you? Switch account']
const UNREVIEWED = 'Not reviewed by our staff · Continue only if you know and trust its owner.'
const NEW = 'Created TIME · not used by any member yet'
const ON_DEVICE =
  'Continue only if you have just started this in that program yourself. Another program on this device could take its place, so you are asked each time.'
const REMEMBERED = 'You are asked again only when it wants to see more.'
const COULD_REGISTER =
  'It could create applications in your name. You are told each time, and can delete them under Sign-in applications.'
const folded = (client_id: string, scope: string, ...first: string[]) => [
  'More about this application',
  ...first,
  'client_id',
  client_id,
  'scope',
  scope,
]

describe('the consent page', () => {
  it('of a reviewed application says nothing that frightens', async () => {
    const party = await makeParty(test)
    await test.db
      .updateTable('oauth_apps')
      .set({ reviewed_at: test.clock.now(), reviewed_by: person.id })
      .where('id', '=', party.id)
      .execute()
    const lines = await shown(party)
    expect(lines).toEqual([
      'Sign in to Reading Club',
      'by @OWNER · Trust level 2',
      'Reviewed by our staff · TIME',
      NEW,
      'You continue to app.example',
      ...SEES,
      ...MAY,
      ...NEVER,
      ...ANSWER,
      ...folded(
        party.client_id,
        'openid profile',
        REMEMBERED,
        COULD_REGISTER,
        'About',
        'Books, every Thursday',
      ),
    ])
  })

  it('of an unreviewed one says so, and nothing else besides', async () => {
    const party = await makeParty(test, { description: '' })
    expect(await shown(party)).toEqual([
      'Sign in to Reading Club',
      'by @OWNER · Trust level 2',
      UNREVIEWED,
      NEW,
      'You continue to app.example',
      ...SEES,
      ...MAY,
      ...NEVER,
      ...ANSWER,
      ...folded(party.client_id, 'openid profile', REMEMBERED, COULD_REGISTER),
    ])
  })

  it('of an unconfirmed one names what has registered it', async () => {
    const [party, by] = await Promise.all([
      makeParty(test, { description: '' }),
      makeParty(test, { name: 'Bot' }),
    ])
    await test.db
      .updateTable('oauth_apps')
      .set({ confirmed_at: null, registered_by_app_id: by.id })
      .where('id', '=', party.id)
      .execute()
    const lines = await shown(party)
    expect(lines.slice(2, 6)).toEqual([
      UNREVIEWED,
      NEW,
      'Created in the name of @OWNER by Bot, and not confirmed by them yet.',
      'You continue to app.example',
    ])
    expect(lines.indexOf('Allow')).toBeGreaterThan(6)
  })

  it('of one that asks for it marks the right to create applications', async () => {
    const party = await makeParty(test, { description: '' })
    const lines = await shown(party, { scope: 'openid apps' })
    expect(lines.slice(lines.indexOf('It may'))).toEqual([
      ...MAY,
      'Create and list applications in your name',
      ...NEVER,
      ...ANSWER,
      ...folded(party.client_id, 'openid apps', REMEMBERED),
    ])
  })

  it.each([
    [
      'by the loopback',
      'http://127.0.0.1:8000/',
      'You continue to 127.0.0.1:8000 a program on this computer',
    ],
    [
      'by a private-use scheme',
      'com.example.app:/callback',
      'You continue to the app that answers com.example.app on this device',
    ],
  ])('of a program on the device %s asks who has started it', async (_, redirect_uri, destination) => {
    const party = await makeParty(test, {
      description: '',
      redirect_uris: [redirect_uri],
      token_endpoint_auth_method: 'none',
    })
    const lines = await shown(party, PKCE)
    expect(lines.slice(4)).toEqual([
      destination,
      ...SEES,
      ...MAY,
      ...NEVER,
      ON_DEVICE,
      ...ANSWER,
      ...folded(party.client_id, 'openid profile', COULD_REGISTER),
    ])
  })

  it('of tokens for another service names it and its host', async () => {
    const resource = 'https://tools.example/mcp'
    await makeParty(test, {
      name: 'Tool Shed',
      redirect_uris: ['https://tools.example/callback'],
      resource_uri: resource,
    })
    const party = await makeParty(test, { description: '' })
    const lines = await shown(party, { resource })
    expect(lines.slice(lines.indexOf('It may'))).toEqual([
      ...MAY,
      'Use this access at Tool Shed (tools.example), which learns your member number and username',
      ...NEVER,
      ...ANSWER,
      // Such a token works at that service alone.
      ...folded(party.client_id, 'openid profile', REMEMBERED),
    ])
  })

  it('of a client that is known by its document has its host as the heading', async () => {
    await setSetting(test, 'client_id_metadata_documents', 'any')
    const [client_id, redirect_uri] = ['https://agent.example/client.json', 'https://agent.example/callback']
    const now = test.clock.now()
    await test.db.transaction().execute((tx) =>
      storeMetadataClient(tx, {
        client_id,
        document: {
          client_name: 'Reading Agent',
          redirect_uris: [redirect_uri],
          homepage: 'https://agent.example/',
        },
        fetched_at: now,
        fresh_until: new Date(now.getTime() + 3_600_000),
        user_id: person.id,
        ip: '127.0.0.1',
        now,
      }),
    )
    expect(await shown({ client_id, redirect_uri } as Party, PKCE)).toEqual([
      'Sign in to agent.example',
      'calls itself “Reading Agent”',
      'Not reviewed by our staff · It is not registered here. Continue only if you know and trust agent.example.',
      'First allowed here TIME · not used by any member yet',
      'You continue to agent.example',
      ...SEES,
      ...MAY,
      ...NEVER,
      ...ANSWER,
      'More about this application',
      REMEMBERED,
      'Homepage',
      'agent.example',
      'client_id',
      client_id,
      'scope',
      'openid profile',
    ])
  })

  it('of a device warns first, and shows the code and where the request came from', async () => {
    const party = await makeParty(test, {
      description: '',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    })
    const { client_id, client_secret } = party
    const fields = { client_id, client_secret, scope: 'openid profile' }
    const { user_code } = (await postForm(test, '/oauth2/device_authorization', fields)).body
    const entered = { user_code: String(user_code) }
    const page = await member.submit(await member.get('/device'), '/device', entered)
    expect(linesOf(page.body, party)).toEqual([
      'Go on only if you have just started this yourself, on a device in front of you.',
      'Anyone who sent you a code or a link wants to get into your account.',
      'Sign in to Reading Club',
      'by @OWNER · Trust level 2',
      UNREVIEWED,
      NEW,
      'The device shows',
      user_code,
      'Asked from',
      '127.0.0.1',
      'Program',
      'lightMyRequest',
      'Asked',
      'TIME',
      ...SEES,
      ...MAY,
      ...NEVER,
      ...ANSWER,
      ...folded(client_id, 'openid profile', 'You are asked each time.'),
    ])
  })
})
