/** What the consent page says, in its order, for each kind of application (identity-2.md 10). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { storeMetadataClient } from '../../src/identity/metadata/clients.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { type Browser, setSetting, startTestApp, type TestApp } from '../harness/harness.ts'
import { authorizationUrl, changeApp, makeParty, type Party, postForm } from './relying-party.ts'

const SERVICE = 'https://tools.example/mcp'
const PKCE = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' }

let test: TestApp
let person: Person
let member: Browser

beforeAll(async () => {
  test = await startTestApp()
  person = await makePerson(test, { email: 'alice@example.org' })
  member = await person.signIn()
  await makeParty(test, {
    name: 'Tool Shed',
    redirect_uris: ['https://tools.example/callback'],
    resource_uri: SERVICE,
  })
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
    .replace(/(member number|成员编号)\s\d+/, '$1 N')
  return words
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
}

const shown = async (party: Party, more: Record<string, string> = {}, language = 'en') =>
  linesOf((await member.get(authorizationUrl(party, more), { 'accept-language': language })).body, party)

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
  return { client_id, redirect_uri } as Party
}

/** A device that waits, and the page of its code. */
async function device(language: string) {
  const party = await makeParty(test, {
    description: '',
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
  })
  const { client_id, client_secret } = party
  const fields = { client_id, client_secret, scope: 'openid profile' }
  const { user_code } = (await postForm(test, '/oauth2/device_authorization', fields)).body
  const entered = await member.get('/device')
  const sent = { ...entered.form('/device'), user_code: String(user_code) }
  const page = await member.post('/device', sent, { 'accept-language': language })
  return { client_id, user_code, lines: linesOf(page.body, party) }
}

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
    const party = await reviewed()
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
    const party = await unreviewed()
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
    const lines = await shown(await unconfirmed())
    expect(lines.slice(2, 6)).toEqual([
      UNREVIEWED,
      NEW,
      'Bot created it in the name of @OWNER, who has not confirmed it yet.',
      'You continue to app.example',
    ])
    expect(lines.indexOf('Allow')).toBeGreaterThan(6)
  })

  it('of one that asks for it marks the right to create applications', async () => {
    const party = await unreviewed()
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
    const party = await onDevice(redirect_uri)
    const lines = await shown(party, PKCE)
    expect(lines.slice(4)).toEqual([
      destination,
      ON_DEVICE,
      ...SEES,
      ...MAY,
      ...NEVER,
      ...ANSWER,
      ...folded(party.client_id, 'openid profile', COULD_REGISTER),
    ])
  })

  it('of tokens for another service names it and its host', async () => {
    const party = await unreviewed()
    const lines = await shown(party, { resource: SERVICE })
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
    const party = await byDocument()
    expect(await shown(party, PKCE)).toEqual([
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
      party.client_id,
      'scope',
      'openid profile',
    ])
  })

  it('of a device warns first, and shows the code and where the request came from', async () => {
    const { client_id, user_code, lines } = await device('en')
    expect(lines).toEqual([
      'Go on only if you have just started this yourself, on a device in front of you.',
      'Anyone who sent you a code or a link wants to get into your account.',
      'Sign in to Reading Club',
      'by @OWNER · Trust level 2',
      UNREVIEWED,
      NEW,
      'The device shows',
      user_code,
      'Requested from',
      '127.0.0.1',
      'Requested at',
      'TIME',
      ...SEES,
      ...MAY,
      ...NEVER,
      ...ANSWER,
      ...folded(client_id, 'openid profile', 'You are asked each time.'),
    ])
  })
})

describe('the consent page in Chinese', () => {
  const OWNER = '提供者 @OWNER · 信任等级 2'
  const UNREVIEWED_ZH = '未经本站审核 · 仅在你了解并信任其所有者时继续。'
  const NEW_ZH = '创建于 TIME · 尚无成员使用'
  const LEARNS = [
    ...['它将看到', '身份', '@MEMBER，成员编号 N', '邮箱', 'a•••@example.org', '用户组', '信任等级 2'],
    ...['它可以', '在你离开后再次读取以上信息，每次登录后最多 30 天'],
  ]
  const NEVER_ZH = [
    '它看不到你的密码、积分和在其他应用的活动，也不能替你付款。',
    '你可以随时撤销：已授权应用。',
  ]
  const ANSWER_ZH = ['拒绝', '允许', '不是你？切换账号', '关于此应用']
  const REMEMBERED_ZH = '它请求更多信息时会再次询问你。'
  const COULD_REGISTER_ZH = '它还可以以你的名义创建应用，每次都会通知你。你可以在这里删除：登录应用。'
  const ON_DEVICE_ZH =
    '仅在你刚刚亲自在该程序中发起登录时继续。本设备上的其他程序可能冒充它，因此每次都会询问。'
  const technical = ({ client_id }: Pick<Party, 'client_id'>, scope = 'openid profile') => [
    'client_id',
    client_id,
    'scope',
    scope,
  ]
  const chinese = (party: Party, more = {}) => shown(party, more, 'zh-CN')

  it('of an application on the web', async () => {
    const known = await reviewed()
    expect(await chinese(known)).toEqual([
      ...['登录 Reading Club', OWNER, '已由本站审核 · TIME', NEW_ZH, '完成后前往 app.example'],
      ...[...LEARNS, ...NEVER_ZH, ...ANSWER_ZH, REMEMBERED_ZH, COULD_REGISTER_ZH],
      ...['简介', 'Books, every Thursday', ...technical(known)],
    ])
    const asking = await unreviewed()
    expect(await chinese(asking, { scope: 'openid apps' })).toEqual([
      ...['登录 Reading Club', OWNER, UNREVIEWED_ZH, NEW_ZH, '完成后前往 app.example', ...LEARNS],
      ...['以你的名义创建和查看应用', ...NEVER_ZH, ...ANSWER_ZH, REMEMBERED_ZH],
      ...technical(asking, 'openid apps'),
    ])
    const waiting = await unconfirmed()
    expect((await chinese(waiting)).slice(2, 6)).toEqual([
      ...[UNREVIEWED_ZH, NEW_ZH, 'Bot 以 @OWNER 的名义创建了此应用，@OWNER 尚未确认。'],
      '完成后前往 app.example',
    ])
  })

  it.each([
    ['http://127.0.0.1:8000/', '完成后前往 127.0.0.1:8000 本机上的程序'],
    ['com.example.app:/callback', '完成后前往 本设备上响应 com.example.app 的程序'],
  ])('of a program on the device at %s', async (redirect_uri, destination) => {
    const party = await onDevice(redirect_uri)
    expect(await chinese(party, PKCE)).toEqual([
      ...['登录 Reading Club', OWNER, UNREVIEWED_ZH, NEW_ZH, destination, ON_DEVICE_ZH, ...LEARNS],
      ...[...NEVER_ZH, ...ANSWER_ZH, COULD_REGISTER_ZH, ...technical(party)],
    ])
  })

  it('of tokens for another service', async () => {
    const party = await unreviewed()
    expect(await chinese(party, { resource: SERVICE })).toEqual([
      ...['登录 Reading Club', OWNER, UNREVIEWED_ZH, NEW_ZH, '完成后前往 app.example', ...LEARNS],
      '将访问权限用于 Tool Shed（tools.example），后者会获知你的成员编号和用户名',
      ...[...NEVER_ZH, ...ANSWER_ZH, REMEMBERED_ZH, ...technical(party)],
    ])
  })

  it('of a client that is known by its document', async () => {
    const party = await byDocument()
    expect(await chinese(party, PKCE)).toEqual([
      ...['登录 agent.example', '自称“Reading Agent”'],
      '未经本站审核 · 它未在本站注册，仅在你了解并信任 agent.example 时继续。',
      ...['首次获得授权 TIME · 尚无成员使用', '完成后前往 agent.example', ...LEARNS, ...NEVER_ZH],
      ...[...ANSWER_ZH, REMEMBERED_ZH, '主页', 'agent.example', ...technical(party)],
    ])
  })

  it('of a device', async () => {
    const { client_id, user_code, lines } = await device('zh-CN')
    expect(lines).toEqual([
      '仅当你刚刚在自己面前的设备上亲自发起登录时，才继续。',
      '如果代码或链接是别人发给你的，对方就是想进入你的账号。',
      ...['登录 Reading Club', OWNER, UNREVIEWED_ZH, NEW_ZH],
      ...['设备显示的代码', user_code, '请求来自', '127.0.0.1', '请求时间', 'TIME'],
      ...[...LEARNS, ...NEVER_ZH, ...ANSWER_ZH, '每次都会询问。', ...technical({ client_id })],
    ])
  })
})
