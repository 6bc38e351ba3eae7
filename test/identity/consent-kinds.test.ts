/** What the consent page says, in its order and in both languages, for each kind of application (spec/sign-in 1.7). */
import { describe, expect, it } from 'vitest'
import { GRANT_TYPES } from '../../src/identity/apps/apps.ts'
import type { Language } from '../../src/web/languages.ts'
import { makePerson } from '../harness/cast.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { unescaped } from '../harness/markup.ts'
import { messages } from '../harness/messages.ts'
import {
  authorizationUrl,
  changeApp,
  makeParty,
  type Party,
  postForm,
  storeDocumentClient,
} from './relying-party.ts'

const SERVICE = 'https://tools.example/mcp'
const PKCE = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' }

const test = await useTestApp()
const person = await makePerson(test, { email: 'alice@example.org' })
const member = await person.signIn()
await makeParty(test, {
  name: 'Tool Shed',
  redirect_uris: ['https://tools.example/callback'],
  resource_uri: SERVICE,
})

/** The texts of a page's main part, one a line, without those of names that differ in each run. */
function linesOf(body: string, language: Language, { owner }: { owner?: string } = {}): string[] {
  const { number } = messages[language].consents
  const main = /<main[\s\S]*?<\/main>/.exec(body)![0]
  const words = main
    .replace(/<time[^>]*>[^<]*<\/time>/g, 'TIME')
    .replace(/<(?:svg|span class="tile|span class="avatar)[\s\S]*?<\/(?:svg|span)>/g, '')
    .replace(/<\/(?:p|h1|li|dt|dd|button|summary)>|<br>/g, '\n')
    .replace(/<[^>]*>/g, '')
    .replaceAll(`@${person.username}`, '@MEMBER')
    .replaceAll(owner === undefined ? '\0' : `@${owner}`, '@OWNER')
    .replace(number(String(person.id)), number('N'))
  const lines = unescaped(words).split('\n').map(folded)
  return lines.filter((line) => line !== '')
}

/** White space is folded, and goes after a punctuation mark of Chinese. */
const folded = (line: string) =>
  line
    .replace(/\s+/g, ' ')
    .replace(/([：？]) /g, '$1')
    .trim()

async function reviewed(): Promise<Party> {
  const party = await makeParty(test)
  await changeApp(test, party, { reviewed_at: test.clock.now(), reviewed_by: person.id })
  return party
}

const unreviewed = () => makeParty(test, { description: '' })

/** An application that Bot has registered in its owner's name. */
async function unconfirmed(): Promise<Party> {
  const [party, by] = await Promise.all([unreviewed(), makeParty(test, { name: 'Bot' })])
  await changeApp(test, party, { confirmed_at: null, registered_by_app_id: by.id })
  return party
}

const onDevice = (redirect_uri: string) =>
  makeParty(test, { description: '', redirect_uris: [redirect_uri], token_endpoint_auth_method: 'none' })

/** A client that is known by its document, which is fresh. */
async function byDocument(): Promise<Party> {
  await setSetting(test, 'client_id_metadata_documents', 'any')
  return (await storeDocumentClient(test, person)) as Party
}

/** A device that waits, and the page of its code. */
async function device(language: Language) {
  const party = await makeParty(test, { description: '', grant_types: [...GRANT_TYPES] })
  const { client_id, client_secret } = party
  const fields = { client_id, client_secret, scope: 'openid profile' }
  const { user_code } = (await postForm(test, '/oauth2/device_authorization', fields)).body
  const entered = await member.get('/device')
  const sent = { ...entered.form('/device'), user_code: String(user_code) }
  const page = await member.post('/device', sent, { 'accept-language': language })
  return { party, user_code, lines: linesOf(page.body, language, party) }
}

describe.each(['en', 'zh-CN'] as const)('the consent page in %s', (language) => {
  const { identity, consents, common } = messages[language]
  const c = identity.consent
  const line = (...parts: string[]) => folded(parts.join(' '))
  const shown = async (party: Party, more: Record<string, string> = {}) => {
    const page = await member.get(authorizationUrl(party, more), { 'accept-language': language })
    return linesOf(page.body, language, party)
  }

  const title = [c.title('Reading Club'), line(c.by, '@OWNER ·', common.trustLevel(2), '·', c.firstUse)]
  const unknown = [line(common.unreviewed, '·', c.unreviewedText), line(c.since, 'TIME')]
  const goesTo = (...place: string[]) => line(c.destination, ...place)
  /** What every page says of the member. */
  const sees = [
    ...[c.learns, line(c.who, `@MEMBER${language === 'en' ? ', ' : '，'}${consents.number('N')}`)],
    ...[line(c.email, 'a•••@example.org'), line(c.groups, common.trustLevel(2))],
    consents.lookUpAgain,
  ]
  /** The same of an application that could create others in the member's name. */
  const seesAndMay = [...sees, consents.may, consents.couldRegister]
  /** What no application gets, and the answers. */
  const end = [
    c.never + (language === 'en' ? ' ' : '') + line(c.revoke, common.authorisedApps + common.fullStop),
    ...[c.deny, c.allow, line(c.notYou, common.switchAccount), c.details],
  ]
  const couldRegister = line(c.couldRegister, common.applications + common.fullStop)
  const technical = ({ client_id }: Party, scope = 'openid profile') => [
    'client_id',
    client_id,
    'scope',
    scope,
    c.everySignIn,
  ]

  it('of a reviewed application says nothing that frightens', async () => {
    const party = await reviewed()
    const known = [common.reviewed]
    const about = [c.remembered, couldRegister, c.about, 'Books, every Thursday', c.since, 'TIME']
    expect(await shown(party)).toEqual([
      ...[...title, ...known, ...seesAndMay, goesTo('app.example'), ...end, ...about],
      ...technical(party),
    ])
  })

  it('of an unreviewed one says so, and nothing else besides', async () => {
    const party = await unreviewed()
    expect(await shown(party)).toEqual([
      ...[...title, ...unknown, ...seesAndMay, goesTo('app.example'), ...end],
      ...[c.remembered, couldRegister, ...technical(party)],
    ])
  })

  it('of an unconfirmed one names what has registered it', async () => {
    const lines = await shown(await unconfirmed())
    const named = [...unknown, c.unconfirmed('OWNER', 'Bot')]
    expect(lines.slice(2, 5)).toEqual(named)
    expect(lines.indexOf(c.allow)).toBeGreaterThan(5)
  })

  it('of one that asks for it marks the right to create applications', async () => {
    const party = await unreviewed()
    const lines = await shown(party, { scope: 'openid apps' })
    expect(lines.slice(lines.indexOf(consents.may))).toEqual([
      ...[consents.may, consents.registerApps, goesTo('app.example'), ...end, c.remembered],
      ...technical(party, 'openid apps'),
    ])
  })

  it.each([
    ['by the loopback', 'http://127.0.0.1:8000/', ['127.0.0.1:8000', c.loopback]],
    ['by a private-use scheme', 'com.example.app:/callback', [c.answering('com.example.app')]],
  ])('of a program on the device %s asks who has started it', async (_, redirect_uri, place) => {
    const party = await onDevice(redirect_uri)
    expect((await shown(party, PKCE)).slice(2)).toEqual([
      ...[
        ...unknown,
        c.askedEachTime,
        ...seesAndMay,
        goesTo(...place),
        ...end,
        couldRegister,
        ...technical(party),
      ],
    ])
  })

  it('of tokens for another service names it and its host', async () => {
    const party = await unreviewed()
    const lines = await shown(party, { resource: SERVICE })
    expect(lines.slice(lines.indexOf(consents.may))).toEqual([
      // Such a token works at that service alone.
      ...[consents.may, c.useAt('Tool Shed', 'tools.example'), goesTo('app.example'), ...end],
      ...[c.remembered, ...technical(party)],
    ])
  })

  it('of a client that is known by its document has its host as the heading', async () => {
    const party = await byDocument()
    expect(await shown(party, PKCE)).toEqual([
      ...[c.title('agent.example'), line(consents.callsItself('Reading Agent'), '·', c.firstUse)],
      line(common.unreviewed, '·', c.unregistered('agent.example')),
      ...[line(c.firstAllowed, 'TIME'), ...sees, goesTo('agent.example'), ...end],
      ...[c.remembered, c.homepage, 'agent.example', ...technical(party)],
    ])
  })

  it('of a device warns first, and shows the code and where the request came from', async () => {
    const d = identity.device
    const { party, user_code, lines } = await device(language)
    const requested = [d.showsCode, user_code, d.from, '127.0.0.1', d.at, 'TIME']
    expect(lines).toEqual([
      ...[d.warning, d.warningText, ...title, ...unknown, ...requested, ...sees, ...end],
      ...[d.askedEachTime, ...technical(party)],
    ])
  })
})
