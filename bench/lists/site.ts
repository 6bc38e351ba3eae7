/** What the lists need of a site, made in a second: `makeWorld` makes content for every page besides. */
import { registerApp } from '../../src/identity/apps/apps.ts'
import { offerApplication } from '../../src/payment/apps/handover.ts'
import { givePoints, makePerson } from '../../test/harness/cast.ts'
import { startTestApp, type TestApp } from '../../test/harness/harness.ts'
import { makeMerchant } from '../../test/harness/merchant.ts'
import type { World } from '../../test/web/pages/world.ts'

export type Site = Pick<World, 'test' | 'open' | 'people' | 'merchant' | 'cookies' | 'close'> & {
  oauth: Pick<World['oauth'], 'open'>
}

/** Makes the site without its lists. @param prepare runs on the empty database. */
export async function makeSite(prepare: (test: TestApp) => Promise<void>): Promise<Site> {
  const test = await startTestApp()
  await prepare(test)
  const merchant = await makeMerchant(test)
  await givePoints(test, merchant.owner, 500n)
  const people: World['people'] = {
    merchant: merchant.owner,
    buyer: await makePerson(test, { points: 500n }),
    newcomer: await makePerson(test),
    careful: await makePerson(test, { groups: ['founders'] }),
    fromForum: await makePerson(test),
    admin: await makePerson(test, { is_admin: true, trust_level: 4 }),
  }
  await makePerson(test, { is_admin: true })
  const owner = { user_id: merchant.owner.id, ip: '203.0.113.7' }
  await offerApplication(test.deps, merchant.payment_id, people.careful.username, owner)
  const open = await registerApp(test.db, {
    owner_id: merchant.owner.id,
    name: 'Reading Club',
    description: '',
    redirect_uris: ['https://app.example/callback'],
    allow_groups: [],
    deny_groups: [],
  })
  const cookies = await Promise.all(
    Object.entries(people).map(async ([role, person]) => [role, (await person.signIn()).cookies] as const),
  )
  return {
    test,
    open: test,
    people,
    merchant,
    oauth: { open },
    cookies: Object.fromEntries(cookies) as World['cookies'],
    close: () => test.close(),
  }
}
