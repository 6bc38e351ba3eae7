/** Two applications of one owner that members meet as one shop. spec/registry 3.4. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { getApp, markReviewed, reviewedVersion, updateApp } from '../../src/identity/apps/acts.ts'
import { acceptOffer, offerApplication } from '../../src/payment/apps/handover.ts'
import { setLogo } from '../../src/payment/apps/own-app.ts'
import {
  type Linking,
  linkApps,
  linkablePaymentApps,
  linkableSignInApps,
  unlinkApps,
} from '../../src/shops/links.ts'
import { makePerson } from '../harness/cast.ts'
import { browser, useTestApp } from '../harness/harness.ts'
import { decideReview, joinTeam, type Merchant, makeMerchant, settingsForm } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'
import { TYPED } from '../identity/owned-app.ts'
import { changeApp, makeParty, obtainTokens, type Party } from '../identity/relying-party.ts'

const test = await useTestApp()
const { shopLink: t } = messages.en
const staff = await makePerson(test, { is_admin: true })
const HOMEPAGE = 'https://tea.example/'
const LOGO = 'https://tea.example/logo.png'

type Pair = { merchant: Merchant; party: Party }

/** A sign-in application of this name with a logo, and a payment application of the same owner. */
async function makePair(name = 'Tea Club'): Promise<Pair> {
  const merchant = await makeMerchant(test)
  const party = await makeParty(test, { name, homepage: HOMEPAGE }, merchant.owner)
  const reviewed = { reviewed_at: test.clock.now(), reviewed_by: staff.id, is_listed: true }
  await changeApp(test, party, { logo_url: LOGO, ...reviewed })
  return { merchant, party }
}
const linking = ({ merchant, party }: Pair, over: Partial<Linking> = {}): Linking => ({
  client_id: party.client_id,
  payment_id: merchant.payment_id,
  named_by: 'sign_in',
  actor: { user_id: merchant.owner.id, ip: '127.0.0.1' },
  ...over,
})
async function makeLinked(name?: string): Promise<Pair> {
  const pair = await makePair(name)
  await linkApps(test.deps, linking(pair))
  return pair
}

const ownedBy = (pair: Pair) => {
  const { client_id, actor } = linking(pair)
  const { user_id, ip } = actor
  return { client_id, owner_id: user_id, actor_id: user_id, now: test.clock.now(), ip }
}
const pagesOf = ({ merchant, party }: Pair) => ({
  signIn: `/apps/${party.client_id}`,
  payment: `/payment/applications/${merchant.payment_id}`,
})
const facesOf = async ({ merchant, party }: Pair) =>
  Promise.all([
    rowOf(test, 'oauth_apps', { id: party.id }, ['name', 'logo_url']),
    rowOf(test, 'payment_apps', { id: merchant.id }, ['name', 'logo_url']),
  ])
const linksOf = ({ party }: Pair) => rowsOf(test, 'shop_links', { oauth_app_id: party.id })
const actsOn = async (subject: string) =>
  (await rowsOf(test, 'audit_log', { subject })).map(({ action }) => action.split('.')[1])

describe('linking', () => {
  it.each(['sign_in', 'payment'] as const)(
    'on the page of a %s application gives both its face',
    async (kind) => {
      const pair = await makePair()
      const { signIn, payment } = pagesOf(pair)
      const owner = await pair.merchant.owner.signIn()
      const [page, base, other] =
        kind === 'sign_in'
          ? [`${signIn}/settings`, signIn, pair.merchant.payment_id]
          : [`${payment}/settings`, payment, pair.party.client_id]
      const name = kind === 'sign_in' ? 'Tea Club' : `Shop of ${pair.merchant.owner.username}`
      const shown = await owner.get(page)
      expect(shown.body).toContain(`<option value="${other}">`)
      const asks = `${base}/link?other=${other}`
      const choice = await owner.get(asks)
      // The staff has approved both, and the payment application is older.
      expect(choice.body).toContain('name="named_by" value="payment" checked')
      for (const text of ['Tea Club', `Shop of ${pair.merchant.owner.username}`])
        expect(choice.body).toContain(`<ins><b><bdi>${text}</bdi></b></ins>`)
      expect((await owner.submit(choice, asks, { named_by: 'x' })).status).toBe(400)
      expect(await linksOf(pair)).toEqual([])
      expect(await owner.submit(choice, asks, { named_by: kind })).toMatchObject({
        status: 303,
        location: page,
      })
      const after = (await owner.get(page)).body
      expect(after).toContain(t.done.linked(name))
      expect(after).toContain(t.done.waits)
      expect(after).toContain(t.linkedWith[kind])
      const face = { name, logo_url: LOGO }
      expect(await facesOf(pair)).toEqual([face, face])
      // What has changed is reviewed again, and only that.
      const { reviewed_at } = await rowOf(test, 'oauth_apps', { id: pair.party.id })
      const { unreviewed_change_at } = await rowOf(test, 'payment_apps', { id: pair.merchant.id })
      expect([reviewed_at === null, unreviewed_change_at === null]).toEqual([kind === 'payment', false])
      expect(await actsOn(pair.party.client_id)).toContain('linked')
      expect(await actsOn(pair.merchant.payment_id)).toContain('linked')
    },
  )

  it('asks only for what differs', async () => {
    const pair = await makePair()
    const owner = await pair.merchant.owner.signIn()
    const asks = `${pagesOf(pair).signIn}/link?other=${pair.merchant.payment_id}`
    const shown = async () => (await owner.get(asks)).body
    await test.db
      .updateTable('payment_apps')
      .set({ name: 'Tea Club' })
      .where('id', '=', pair.merchant.id)
      .execute()
    const faces = await facesOf(pair)
    const isSame = (faces[0].logo_url ?? faces[1].logo_url) === (faces[1].logo_url ?? faces[0].logo_url)
    expect(isSame).toBe(true)
    const body = await shown()
    expect([body.includes(t.chooses.nothing), body.includes('type="radio"')]).toEqual([true, false])
  })

  it('offers only the owner’s own live applications that can be linked', async () => {
    const pair = await makePair()
    const [stranger, test_app] = [
      await makeMerchant(test),
      await makeMerchant(test, { twinOf: pair.merchant }),
    ]
    const owner = await pair.merchant.owner.signIn()
    const settings = `${pagesOf(pair).signIn}/settings`
    const page = await owner.get(settings)
    for (const { payment_id } of [stranger, test_app]) expect(page.body).not.toContain(payment_id)
    const token = { form_token: page.form(settings).form_token!, named_by: 'payment' }
    const refused = async (other: string) => {
      const asks = `${pagesOf(pair).signIn}/link?other=${other}`
      const { status } = await owner.get(asks)
      expect((await owner.post(asks, token)).status).toBe(status)
      return status
    }
    for (const id of [stranger.payment_id, test_app.payment_id, '']) expect(await refused(id)).toBe(404)
    await setRows(test, 'payment_apps', { id: pair.merchant.id }, { status: 'suspended' })
    expect(await refused(pair.merchant.payment_id)).toBe(409)
    expect(await linkablePaymentApps(test.db, pair.merchant.owner.id)).toEqual([])
    const suspended = { suspended_at: test.clock.now(), suspended_by: staff.id, suspended_reason: 'x' }
    for (const values of [suspended, { confirmed_at: null }]) {
      const unusable = await makePair()
      await changeApp(test, unusable.party, values)
      await expect(linkApps(test.deps, linking(unusable))).rejects.toMatchObject({ code: 'conflict' })
      expect(await linkableSignInApps(test.db, unusable.merchant.owner.id)).toEqual([])
      expect(await linksOf(unusable)).toEqual([])
    }
    expect(await linksOf(pair)).toEqual([])
  })

  it.each(['link', 'unlink'] as const)(
    'or unlinking is for the owner only, and needs the form token: %s',
    async (act) => {
      const pair = act === 'link' ? await makePair() : await makeLinked()
      const { client_id, payment_id } = linking(pair)
      const { signIn, payment } = pagesOf(pair)
      const manager = await (await joinTeam(test, pair.merchant, 'manager')).signIn()
      const settings = await manager.get(`${payment}/settings`)
      expect(settings.body).not.toMatch(new RegExp(`${payment}/${act}["?]`))
      const token = { form_token: settings.form(`${payment}/edit`).form_token! }
      const mallory = await makePerson(test)
      const client = await mallory.signIn()
      const own = { form_token: (await client.get('/apps')).form('/apps').form_token! }
      const owner = await pair.merchant.owner.signIn()
      const state = async () => [
        await linksOf(pair),
        await facesOf(pair),
        await actsOn(client_id),
        await actsOn(payment_id),
      ]
      const before = await state()
      const fields = { named_by: 'payment', gives_back: 'yes' }
      const [onSignIn, onPayment] = [
        `${signIn}/${act}?other=${payment_id}`,
        `${payment}/${act}?other=${client_id}`,
      ]
      const answers = [
        await manager.post(onPayment, { ...token, ...fields }),
        await client.post(onPayment, { ...own, ...fields }),
        await client.post(onSignIn, { ...own, ...fields }),
        await owner.post(onSignIn, fields),
        await owner.post(onPayment, fields),
      ]
      expect(answers.map(({ status }) => status)).toEqual([403, 404, 404, 403, 403])
      const actor = { user_id: mallory.id, ip: '127.0.0.1' }
      const refused = { code: 'not_found' }
      if (act === 'link')
        await expect(linkApps(test.deps, linking(pair, { actor }))).rejects.toMatchObject(refused)
      else
        for (const which of [{ client_id }, { payment_id }])
          await expect(unlinkApps(test.deps, which, actor)).rejects.toMatchObject(refused)
      expect(await state()).toEqual(before)
    },
  )

  it('of one application with two others at once succeeds once', async () => {
    const pair = await makePair()
    const others = await Promise.all(
      ['One', 'Two', 'Three'].map((name) => makeParty(test, { name }, pair.merchant.owner)),
    )
    const outcomes = await Promise.allSettled(
      others.map(({ client_id }) => linkApps(test.deps, linking(pair, { client_id }))),
    )
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(refused.map(({ reason }) => reason.code)).toEqual(['conflict', 'conflict'])
    const [link, ...rest] = await rowsOf(test, 'shop_links', { payment_app_id: pair.merchant.id })
    expect(rest).toEqual([])
    const { name } = await rowOf(test, 'oauth_apps', { id: link!.oauth_app_id })
    expect((await rowOf(test, 'payment_apps', { id: pair.merchant.id })).name).toBe(name)
  })
})

describe('a linked shop', () => {
  it('changes its name and logo on either page', async () => {
    const pair = await makeLinked()
    const { signIn, payment } = pagesOf(pair)
    const owner = await pair.merchant.owner.signIn()
    const fields = { ...TYPED, redirect_uris: pair.party.redirect_uri, homepage: HOMEPAGE }
    const settings = `${signIn}/settings`
    await owner.submit(await owner.get(settings), settings, { ...fields, name: 'Green Tea' })
    await owner.submit(await owner.get(settings), `${signIn}/logo/address`, { logo_url: LOGO })
    const green = { name: 'Green Tea', logo_url: LOGO }
    expect(await facesOf(pair)).toEqual([green, green])
    const edited = settingsForm({ name: 'Black Tea', callback_url: pair.merchant.callbackUrl })
    await changeApp(test, pair.party, { reviewed_at: test.clock.now(), reviewed_by: staff.id })
    const answer = await owner.submit(await owner.get(`${payment}/settings`), `${payment}/edit`, edited)
    expect(answer.status).toBe(303)
    const black = { name: 'Black Tea', logo_url: null }
    expect(await facesOf(pair)).toEqual([black, black])
    expect((await rowOf(test, 'oauth_apps', { id: pair.party.id })).reviewed_at).toBeNull()
    expect((await actsOn(pair.party.client_id)).slice(-2)).toEqual(['updated', 'review_withdrawn'])
  })

  it('keeps them from a manager, who may change the rest', async () => {
    const pair = await makeLinked()
    const { payment } = pagesOf(pair)
    const client = await (await joinTeam(test, pair.merchant, 'manager')).signIn()
    const page = await client.get(`${payment}/settings`)
    expect(page.body).toContain(t.onlyOwner)
    const { logo_url: _, ...fields } = settingsForm({ callback_url: pair.merchant.callbackUrl })
    const edit = (over: Record<string, string>) =>
      client.submit(page, `${payment}/edit`, { ...fields, name: 'Tea Club', ...over })
    expect((await edit({ name: 'Other' })).status).toBe(403)
    expect((await edit({ logo_url: 'https://other.example/logo.png' })).status).toBe(403)
    expect(
      (await client.post(`${payment}/logo`, { ...page.form(`${payment}/edit`), remove: 'yes' })).status,
    ).toBe(403)
    expect((await edit({ description: 'Leaves' })).status).toBe(303)
    const face = { name: 'Tea Club', logo_url: LOGO }
    expect(await facesOf(pair)).toEqual([face, face])
  })

  it('keeps its name while its payment application is suspended', async () => {
    const pair = await makeLinked()
    const { signIn } = pagesOf(pair)
    await setRows(test, 'payment_apps', { id: pair.merchant.id }, { status: 'suspended' })
    const owner = await pair.merchant.owner.signIn()
    const fields = { ...TYPED, redirect_uris: pair.party.redirect_uri, homepage: HOMEPAGE }
    const settings = `${signIn}/settings`
    const answer = await owner.submit(await owner.get(settings), settings, { ...fields, name: 'Renamed' })
    expect(answer.status).toBe(409)
    expect(answer.body).toContain(t.suspended)
    expect((await facesOf(pair))[0]!.name).toBe('Tea Club')
  })

  it('is one tile on home', async () => {
    const pair = await makeLinked('Cocoa Club')
    await setRows(test, 'payment_apps', { id: pair.merchant.id }, { homepage: 'https://pay.tea.example/' })
    await decideReview(await staff.signIn(), pair.merchant, { decision: 'approve' })
    const tiles = (body: string) => body.split('>Cocoa Club<').length - 1
    const visitor = browser(test)
    expect(tiles((await visitor.get('/')).body)).toBe(1)
    const client = await (await makePerson(test)).signIn()
    await obtainTokens(test, client, pair.party)
    for (const path of ['/', '/launch']) expect(tiles((await client.get(path)).body)).toBe(1)
    await unlinkApps(test.deps, { client_id: pair.party.client_id }, linking(pair).actor)
    // The home page shows the first few only.
    expect(tiles((await client.get('/launch')).body)).toBe(2)
  })

  it('is shown to the staff, and to its owner in the export', async () => {
    const pair = await makeLinked()
    const admin = await staff.signIn()
    const [signIn, payment] = [
      `/admin/apps/${pair.party.client_id}`,
      `/admin/payment-applications/${pair.merchant.payment_id}`,
    ]
    expect((await admin.get(signIn)).body).toContain(`href="${payment}"`)
    expect((await admin.get(payment)).body).toContain(`href="${signIn}"`)
    for (const page of [payment, '/admin/reviews'])
      expect((await admin.get(page)).body).toContain(`<code>${HOMEPAGE}</code>`)
    const owner = await pair.merchant.owner.signIn()
    const data = '/account/data'
    const { body } = await owner.submit(await owner.get(data), `${data}/export`)
    expect(body).toContain(`"linked_payment_id":"${pair.merchant.payment_id}"`)
  })

  it('is no look-alike of itself, nor of its owner’s other applications', async () => {
    const pair = await makeLinked('Coffee Club')
    await makeParty(test, { name: 'Coffee-Club' }, pair.merchant.owner)
    const admin = await staff.signIn()
    const page = `/admin/payment-applications/${pair.merchant.payment_id}`
    const warning = messages.en.console.review.likeNamed
    expect((await admin.get(page)).body).not.toContain(warning)
    expect((await admin.get(`/admin/apps/${pair.party.client_id}`)).body).not.toContain(warning)
    await makeParty(test, { name: 'COFFEE CLUB' })
    expect((await admin.get(page)).body).toContain(warning)
  })

  it.each(['sign_in', 'payment'])(
    'is separate again after its owner unlinks it, once, from %s',
    async (kind) => {
      const pair = await makeLinked()
      const { signIn, payment } = pagesOf(pair)
      const [page, base] =
        kind === 'sign_in' ? [`${signIn}/settings`, signIn] : [`${payment}/settings`, payment]
      const owner = await pair.merchant.owner.signIn()
      expect((await owner.get(page)).body).toContain(`href="${base}/unlink"`)
      const shown = await owner.get(`${base}/unlink`)
      const faces = await facesOf(pair)
      const keep = () => owner.submit(shown, `${base}/unlink`, { gives_back: 'no' })
      expect(await keep()).toMatchObject({ status: 303, location: page })
      expect((await owner.get(page)).body).toContain(t.done.keep('Tea Club'))
      expect(await facesOf(pair)).toEqual(faces)
      expect((await keep()).status).toBe(404)
      expect(await linksOf(pair)).toEqual([])
      expect((await actsOn(pair.merchant.payment_id)).at(-1)).toBe('unlinked')
      expect((await actsOn(pair.party.client_id)).at(-1)).toBe('unlinked')
    },
  )

  it('gets its earlier name and logo back when its owner asks for them', async () => {
    const pair = await makePair()
    const { payment } = pagesOf(pair)
    const before = await rowOf(test, 'payment_apps', { id: pair.merchant.id }, ['name', 'logo_url'])
    await linkApps(test.deps, linking(pair))
    await setLogo(test.deps, pair.merchant.payment_id, 'https://tea.example/2.png', linking(pair).actor)
    const owner = await pair.merchant.owner.signIn()
    const asks = `${payment}/unlink`
    const shown = await owner.get(asks)
    expect(shown.body).toContain(
      `<del><bdi>Tea Club</bdi></del> → <ins><b><bdi>${before.name}</bdi></b></ins>`,
    )
    const suspend = (status: 'suspended' | 'approved') =>
      setRows(test, 'payment_apps', { id: pair.merchant.id }, { status })
    await suspend('suspended')
    expect((await owner.submit(shown, asks, { gives_back: 'yes' })).status).toBe(409)
    expect(await linksOf(pair)).toHaveLength(1)
    await suspend('approved')
    const { unreviewed_change_at } = await rowOf(test, 'payment_apps', { id: pair.merchant.id })
    expect((await owner.submit(shown, asks, { gives_back: 'yes' })).status).toBe(303)
    const renamed = t.done.renamed.payment('Tea Club', before.name)
    expect((await owner.get(`${payment}/settings`)).body).toContain(renamed)
    // The sign-in application gave the shop its name, so it keeps what it has.
    expect(await facesOf(pair)).toEqual([{ name: 'Tea Club', logo_url: 'https://tea.example/2.png' }, before])
    const after = await rowOf(test, 'payment_apps', { id: pair.merchant.id })
    expect(after.unreviewed_change_at!.getTime()).toBeGreaterThan(unreviewed_change_at!.getTime())
    const edits = await rowsOf(test, 'audit_log', {
      subject: pair.merchant.payment_id,
      action: 'payment_app.edit',
    })
    expect(edits.map(({ detail }) => detail)).toMatchObject([
      { before, after: { name: 'Tea Club', logo_url: LOGO } },
      { before: { logo_url: LOGO }, after: { logo_url: 'https://tea.example/2.png' } },
      { before: { name: 'Tea Club' }, after: before },
    ])
  })

  it('shows reviewers the old and the new name until they approve it', async () => {
    const pair = await makePair()
    const { name } = await rowOf(test, 'payment_apps', { id: pair.merchant.id })
    await linkApps(test.deps, linking(pair))
    await updateApp(test.db, { ...ownedBy(pair), values: { name: 'Green Tea' } })
    const admin = await staff.signIn()
    const pages = [`/admin/payment-applications/${pair.merchant.payment_id}`, '/admin/reviews']
    const changed = (before: string) => `<del><bdi>${before}</bdi></del> → <ins><bdi>Green Tea</bdi></ins>`
    for (const page of pages) expect((await admin.get(page)).body).toContain(changed(name))
    expect((await admin.get(`/admin/apps/${pair.party.client_id}`)).body).toContain(changed('Tea Club'))
    await decideReview(admin, pair.merchant, { decision: 'approve' })
    for (const page of pages) expect((await admin.get(page)).body).not.toContain(changed(name))
    const seen = reviewedVersion(await getApp(test.db, pair.party))
    await markReviewed(test.db, { ...ownedBy(pair), actor_id: staff.id, isReviewed: true, seen })
    const [signIn, payment] = await Promise.all([
      rowOf(test, 'oauth_apps', { id: pair.party.id }),
      rowOf(test, 'payment_apps', { id: pair.merchant.id }),
    ])
    expect([signIn.reviewed_values, payment.reviewed_values]).toEqual([null, null])
  })

  it('ends with its sign-in application, which is recorded with the other', async () => {
    const pair = await makeLinked()
    const { signIn } = pagesOf(pair)
    const owner = await pair.merchant.owner.signIn()
    await owner.submit(await owner.get(`${signIn}/settings`), `${signIn}/delete`, { typed_name: 'Tea Club' })
    expect(await rowsOf(test, 'shop_links', { payment_app_id: pair.merchant.id })).toEqual([])
    expect((await actsOn(pair.merchant.payment_id)).at(-1)).toBe('unlinked')
  })
})

describe('a hand-over', () => {
  async function offered(pair: Pair) {
    const heir = await makePerson(test)
    const { actor } = linking(pair)
    const { payment_id } = pair.merchant
    expect(await offerApplication(test.deps, payment_id, heir.username, actor)).toBeUndefined()
    return () => acceptOffer(test.deps, payment_id, { user_id: heir.id, ip: '127.0.0.1' })
  }

  it('ends the link, which is recorded with both', async () => {
    const pair = await makeLinked()
    const accept = await offered(pair)
    await accept()
    expect(await linksOf(pair)).toEqual([])
    expect(await actsOn(pair.merchant.payment_id)).toContain('unlinked')
    expect((await actsOn(pair.party.client_id)).at(-1)).toBe('unlinked')
    const face = { name: 'Tea Club', logo_url: LOGO }
    expect(await facesOf(pair)).toEqual([face, face])
  })

  it('beside a link leaves no link of two owners', async () => {
    for (let round = 0; round < 4; round++) {
      const pair = await makePair()
      const accept = await offered(pair)
      const acts = [accept(), linkApps(test.deps, linking(pair))]
      const outcomes = await Promise.allSettled(round % 2 === 0 ? acts : acts.reverse())
      // A link that comes too late finds the application no longer with this owner.
      const reasons = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [outcome.reason.code] : [],
      )
      expect(reasons.filter((code) => code !== 'not_found')).toEqual([])
      const { applicant_id } = await rowOf(test, 'payment_apps', { id: pair.merchant.id })
      expect(applicant_id).not.toBe(pair.merchant.owner.id)
      expect(await linksOf(pair)).toEqual([])
    }
  })
})

it('renames on both pages, an unlink and a hand-over at once end without a deadlock', async () => {
  const pair = await makeLinked('Race Club')
  const heir = await makePerson(test)
  const { actor, client_id, payment_id } = linking(pair)
  await offerApplication(test.deps, payment_id, heir.username, actor)
  const rename = (name: string) => updateApp(test.db, { ...ownedBy(pair), values: { name } })
  const logo = (n: number) => setLogo(test.deps, payment_id, `https://tea.example/${n}.png`, actor)
  const outcomes = await Promise.allSettled([
    ...[rename('Race One'), logo(1), rename('Race Two'), logo(2), rename('Race Three'), logo(3)],
    acceptOffer(test.deps, payment_id, { user_id: heir.id, ip: actor.ip }),
    unlinkApps(test.deps, { client_id }, actor, { givesBack: true }),
    ...[rename('Race Four'), logo(4), rename('Race Five'), logo(5)],
  ])
  // Some come too late: the link is gone, or the application has another owner.
  const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
  expect(reasons.filter((code) => code !== 'not_found' && code !== 'conflict')).toEqual([])
  expect(await linksOf(pair)).toEqual([])
  expect((await rowOf(test, 'payment_apps', { id: pair.merchant.id })).applicant_id).toBe(heir.id)
})

describe('the database refuses', () => {
  const violation = (constraint: string) => expect.objectContaining({ code: '23514', constraint })

  it('a link of two owners, and of a test application', async () => {
    const [pair, other] = [await makePair(), await makePair()]
    const twin = await makeMerchant(test, { twinOf: pair.merchant })
    for (const payment_app_id of [other.merchant.id, twin.id])
      await expect(
        test.db.insertInto('shop_links').values({ oauth_app_id: pair.party.id, payment_app_id }).execute(),
      ).rejects.toEqual(violation('shop_links_one_owner'))
  })

  it('a link of two names, and another name or owner of a linked application alone', async () => {
    const pair = await makePair()
    const values = { oauth_app_id: pair.party.id, payment_app_id: pair.merchant.id }
    await expect(test.db.insertInto('shop_links').values(values).execute()).rejects.toEqual(
      violation('shop_links_one_face'),
    )
    await linkApps(test.deps, linking(pair))
    for (const [change, constraint] of [
      [sql`update oauth_apps set name = 'Alone' where id = ${pair.party.id}`, 'shop_links_one_face'],
      [sql`update payment_apps set logo_url = null where id = ${pair.merchant.id}`, 'shop_links_one_face'],
      [sql`update oauth_apps set owner_id = ${staff.id} where id = ${pair.party.id}`, 'shop_links_one_owner'],
      [
        sql`update payment_apps set applicant_id = ${staff.id} where id = ${pair.merchant.id}`,
        'shop_links_one_owner',
      ],
    ] as const)
      await expect(change.execute(test.db)).rejects.toEqual(violation(constraint))
  })
})
