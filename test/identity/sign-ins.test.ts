/** What an owner sees of an application's sign-ins. spec/registry 3.1. */
import { describe, expect, it } from 'vitest'
import { SIGN_IN_DAYS, signInsOf } from '../../src/identity/apps/sign-ins.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { unescaped } from '../harness/markup.ts'
import { messages } from '../harness/messages.ts'
import { makeOwnedApp } from './owned-app.ts'
import { authorize, exchange, makeParty, obtainTokens, type Party } from './relying-party.ts'

const t = messages.en.registry.signIns
const DAY_MS = 86_400_000
const zone = 'Asia/Shanghai'

const test = await useTestApp()

const signInTo = async (party: Party) => obtainTokens(test, await (await makePerson(test)).signIn(), party)
const countsOf = async ({ id }: Party) => {
  const { days, total, last } = await signInsOf(test.db, id, { zone, now: test.clock.now() })
  return { counts: days.map(({ count }) => count), total, last }
}

describe('the sign-ins of an application', () => {
  it('are counted by day of the site, for 30 days and for it alone', async () => {
    const [party, other] = [await makeParty(test), await makeParty(test)]
    await signInTo(party)
    await signInTo(other)
    test.clock.advance(DAY_MS)
    const last = test.clock.now()
    await Promise.all([signInTo(party), signInTo(party)])
    const none = Array.from({ length: SIGN_IN_DAYS - 2 }, () => 0)
    expect(await countsOf(party)).toEqual({ counts: [...none, 1, 2], total: 3, last })
    test.clock.advance((SIGN_IN_DAYS - 1) * DAY_MS)
    expect(await countsOf(party)).toEqual({ counts: [2, 0, ...none], total: 2, last })
  })

  it('do not count a code that the program never redeemed', async () => {
    const party = await makeParty(test)
    const { code } = await authorize(await (await makePerson(test)).signIn(), party)
    expect((await countsOf(party)).total).toBe(0)
    await exchange(test, party, code)
    expect((await countsOf(party)).total).toBe(1)
  })

  it('are a chart for the owner, and before the first one a list of what is left', async () => {
    const { client, party, path } = await makeOwnedApp(test)
    const before = unescaped((await client.get(path)).body)
    for (const text of [t.none, t.enterText, t.tryText]) expect(before).toContain(text)
    await signInTo(party)
    const after = unescaped((await client.get(path)).body)
    expect(after).toContain(t.title)
    expect(after).toContain('role="radiogroup"')
    expect(after).not.toContain(t.none)
  })
})
