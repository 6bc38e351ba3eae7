/** /account/applications: the applications that a member has allowed, and their revocation. spec/registry 3.2. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { revokeAuthorisation } from '../../src/identity/authorised-apps.ts'
import { makePerson } from '../harness/cast.ts'
import { sendSurely } from '../harness/confirming.ts'
import { type Browser, browser, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { trailOf } from './owned-app.ts'
import {
  authorizationUrl,
  authorize,
  changeApp,
  exchange,
  makeParty,
  obtainTokens,
  type Party,
  refresh,
  userinfo,
  withoutWriting,
} from './relying-party.ts'

const t = messages.en

const PATH = '/account/applications'
const test = await useTestApp()

const revokePath = ({ client_id }: Party) => `${PATH}/${client_id}/revoke`
const revoke = async (client: Browser, party: Party) =>
  (await sendSurely(client, await client.get(PATH), revokePath(party))).answer

describe('the list', () => {
  it('shows this member’s consents, applications and sign-ins alone', async () => {
    const party = await makeParty(test, { name: 'Club <i>' })
    const unused = await makeParty(test, { name: 'Never used' })
    const client = await (await makePerson(test)).signIn()
    const unusedPage = (await client.get(PATH)).body
    expect(unusedPage).toContain(t.authorised.none)
    expect(unusedPage).not.toContain(t.authorised.signIns)
    await obtainTokens(test, client, party, { scope: 'openid email' })
    const { body } = await client.get(PATH)
    expect(body).toContain('Club &lt;i&gt;')
    expect(body).toContain(`@${party.owner}`)
    expect(body).not.toContain(unused.client_id)
    const [, log] = body.split(`${t.authorised.signIns}</h2>`)
    expect(log!.match(/<bdi>Club &lt;i&gt;/g)).toHaveLength(1)

    const other = await (await makePerson(test)).signIn()
    expect((await other.get(PATH)).body).not.toContain('Club')
    expect((await client.get('/account/profile')).body).toContain(`href="${PATH}"`)
    expect((await browser(test).get(PATH)).status).toBe(303)
  })

  it('lists the sign-ins by their times, the newest first', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    const parties = [await makeParty(test, { name: 'Earlier' }), await makeParty(test, { name: 'Later' })]
    for (const party of parties) await obtainTokens(test, client, party)
    await sql`update grants set created_at = created_at + interval '1 minute'
      where app_id = (select id from oauth_apps where client_id = ${parties[0]!.client_id})`.execute(test.db)
    const [, log = ''] = (await client.get(PATH)).body.split(`${t.authorised.signIns}</h2>`)
    expect(log.match(/<bdi>(?:Earlier|Later)/g)).toEqual(['<bdi>Earlier', '<bdi>Later'])
  })

  it('says of applications whose sign-ins are over that none is signed in', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    await obtainTokens(test, client, await makeParty(test, { name: 'Long ago' }))
    await test.db.deleteFrom('access_tokens').execute()
    await test.db.deleteFrom('refresh_tokens').execute()
    await test.db.deleteFrom('grants').where('user_id', '=', person.id).execute()
    const { body } = await client.get(PATH)
    expect(body).toContain('Long ago')
    expect(body).toContain(t.authorised.noSignIns)
  })

  it('takes the last use from the newest token', async () => {
    const party = await makeParty(test)
    const person = await makePerson(test)
    const client = await person.signIn()
    const tokens = await obtainTokens(test, client, party)
    await refresh(test, party, tokens.refresh_token)
    const { newest } = await test.db
      .selectFrom('access_tokens')
      .innerJoin('grants', 'grants.id', 'access_tokens.grant_id')
      .where('grants.user_id', '=', person.id)
      .select((eb) => eb.fn.max('access_tokens.created_at').as('newest'))
      .executeTakeFirstOrThrow()
    const { body } = await client.get(PATH)
    expect(body).toMatch(new RegExp(`${t.authorised.lastUsed} <time datetime="${newest.toISOString()}"`))
  })
})

/** What a page says that the application learns and may do, as bytes. */
const listOn = ({ body }: { body: string }) => /<ul class="sees small">[\s\S]*?<\/ul>/.exec(body)?.[0]

describe('what an application sees and may do', () => {
  it('shows the consent page’s list, whatever scope was asked', async () => {
    const email = 'carol@example.org'
    const person = await makePerson(test, {
      name: 'Carol',
      email,
      is_admin: true,
      groups: ['founders'],
    })
    for (const scope of ['openid', 'openid apps']) {
      const party = await makeParty(test)
      const client = await person.signIn()
      const consent = await client.get(authorizationUrl(party, { scope }))
      const asked = listOn(consent)
      expect(asked).toMatch(/Carol[\s\S]*c•••@example.org[\s\S]*founders/)
      expect(consent.body).toContain(t.consents.lookUpAgain)
      const { couldRegister } = t.identity.consent
      expect(consent.body).toContain(scope === 'openid' ? couldRegister : t.consents.registerApps)
      expect(consent.body.includes(`<p>${t.consents.couldRegister}</p>`)).toBe(scope === 'openid')
      await obtainTokens(test, client, party, { scope })
      expect(listOn(await client.get(PATH))).toEqual(asked)
      await revoke(client, party)
    }
  })
})

describe('revoking', () => {
  it('ends consent, codes and every token at their very next use', async () => {
    const party = await makeParty(test)
    const person = await makePerson(test)
    const client = await person.signIn()
    const first = await obtainTokens(test, client, party)
    const second = await obtainTokens(test, client, party)
    const { code } = await authorize(client, party)
    const bystander = await (await makePerson(test)).signIn()
    const kept = await obtainTokens(test, bystander, party)
    const elsewhere = await makeParty(test)
    const other = await obtainTokens(test, client, elsewhere)

    expect(await revoke(client, party)).toMatchObject({ status: 303, location: PATH })
    for (const { access_token, refresh_token } of [first, second]) {
      expect(await userinfo(test, access_token)).toMatchObject({
        status: 401,
        body: { error: 'invalid_token' },
      })
      expect(await refresh(test, party, refresh_token)).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      })
    }
    expect(await exchange(test, party, code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await client.get(authorizationUrl(party))).status).toBe(200)
    expect((await userinfo(test, kept.access_token)).status).toBe(200)
    expect((await userinfo(test, other.access_token)).status).toBe(200)
    expect(await trailOf(test, party)).toEqual([
      {
        action: 'oauth_consent.revoked',
        actor_id: person.id,
        ip: '127.0.0.1',
        detail: {
          before: { user_id: person.id.toString(), scopes: ['openid', 'profile'], grants: 2 },
          after: null,
        },
      },
    ])
    const page = await client.get(PATH)
    expect(page.body).toContain(t.authorised.revoked('', '2', 2))
    expect(page.body).toContain(`<span class="badge hollow">${t.authorised.ended}</span>`)
    expect(page.body).not.toContain(revokePath(party))
  })

  it('works for a suspended application too', async () => {
    const party = await makeParty(test)
    const person = await makePerson(test)
    const client = await person.signIn()
    await obtainTokens(test, client, party)
    const suspended = {
      suspended_at: test.clock.now(),
      suspended_by: person.id,
      suspended_reason: 'why',
    }
    await changeApp(test, party, suspended)
    expect((await client.get(PATH)).body).toContain(`${t.authorised.suspended}</span>`)
    expect((await revoke(client, party)).status).toBe(303)
  })

  it('refuses what was not allowed, and repeats', async () => {
    const party = await makeParty(test)
    const client = await (await makePerson(test)).signIn()
    const tokens = await obtainTokens(test, client, party)
    const page = await client.get(PATH)
    const mallory = await (await makePerson(test, { username: 'mallory' })).signIn()
    const { form_token = '' } = (await mallory.get(PATH)).form('/sign-out')
    const foreign = await withoutWriting(test, () => mallory.post(revokePath(party), { form_token }))
    expect(foreign.status).toBe(404)
    expect((await userinfo(test, tokens.access_token)).status).toBe(200)
    await sendSurely(client, page, revokePath(party))
    const again = await withoutWriting(test, () => client.submit(page, revokePath(party)))
    expect(again.status).toBe(404)
  })

  it('while codes are exchanged and tokens refreshed leaves nothing that works', async () => {
    for (let round = 0; round < 10; round += 1) {
      const party = await makeParty(test)
      const person = await makePerson(test)
      const client = await person.signIn()
      const tokens = await obtainTokens(test, client, party)
      const { code } = await authorize(client, party)
      const revocation = {
        user_id: person.id,
        client_id: party.client_id,
        now: test.clock.now(),
        ip: '127.0.0.1',
      }
      const [exchanged, refreshed, ...revoked] = await Promise.all([
        exchange(test, party, code),
        refresh(test, party, tokens.refresh_token),
        ...[1, 2].map(() =>
          revokeAuthorisation(test.deps, revocation).then(
            () => 'revoked',
            (error) => error.code,
          ),
        ),
      ])
      expect(revoked.sort()).toEqual(['not_found', 'revoked'])
      for (const { status, body } of [exchanged, refreshed]) {
        expect([200, 400]).toContain(status)
        if (status !== 200) continue
        expect((await userinfo(test, body.access_token)).status).toBe(401)
        expect((await refresh(test, party, body.refresh_token)).status).toBe(400)
      }
    }
  })
})
