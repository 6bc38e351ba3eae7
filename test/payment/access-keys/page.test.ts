/** The page of access keys, and what becomes of them when a member leaves the team: spec/access-keys 1.1–1.3. */
import { expect, it } from 'vitest'
import { createAccessKey } from '../../../src/payment/access-keys/keys.ts'
import { makePerson } from '../../harness/cast.ts'
import { type Browser, setSetting, useTestApp } from '../../harness/harness.ts'
import { textOf } from '../../harness/markup.ts'
import { joinTeam, makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { rowOf, rowsOf } from '../../harness/rows.ts'

const a = messages.en.accessKeys
const test = await useTestApp()
const merchant = await makeMerchant(test)
const page = `/payment/applications/${merchant.payment_id}/access-keys`
const owner = await merchant.owner.signIn()

/** A browser leaves out a box that is not ticked. */
const fields = ({ orders_read = 'on', ...over }: Record<string, string> = {}) => ({
  ...{ name: 'Raffle script', days: '30', allowed_addresses: '' },
  ...(orders_read !== '' && { orders_read }),
  ...over,
})
const send = async (client: Browser, path: string, form: Record<string, string>) =>
  client.post(path, { ...(await client.get('/account')).form('/sign-out'), ...form })
const keysOf = () => rowsOf(test, 'access_keys', { app_id: merchant.id })
const audited = async () =>
  (await rowsOf(test, 'audit_log', { subject: merchant.payment_id }))
    .filter(({ action }) => action.endsWith('access_key'))
    .map(({ action, detail }) => [action, (detail as { name: string }).name])

it('makes a key and shows its secret once, with calls that use it', async () => {
  const empty = await owner.get(page)
  expect(textOf(empty.body)).toContain(`${a.makeTitle} ${a.emptyText}`)
  // Before a key is made, the page names the rights that take points out of the wallet.
  const rights = textOf(empty.body)
  for (const scope of ['transfers', 'payouts'] as const)
    expect(rights).toContain(`${a.scopes[scope]} ${a.movesPoints}`)
  expect(rights).not.toContain(`${a.scopes.mandates} ${a.movesPoints}`)
  // The warning comes before the boxes that it is about, and beside the secret again.
  const at = (text: string) => rights.indexOf(text)
  const ways = [at(a.scopes['orders:write']), at(a.movesPointsText), at(a.scopes.transfers)]
  expect(ways).toEqual(ways.toSorted((one, other) => one - other))
  expect(empty.body).toMatch(/<details class="panel" open>/)
  const made = await send(owner, page, fields({ transfers: 'on', payouts: 'on', orders_read: '' }))
  expect(made.status).toBe(303)
  const shown = await owner.get(made.location!)
  const above = textOf(shown.body).split(a.clientSecret)[0]
  expect(above).toContain(a.secretMoves)
  const [secret] = /sk_[A-Za-z0-9]{40}/.exec(shown.body)!
  const { public_id, created_at, expires_at, scopes } = await rowOf(test, 'access_keys', {
    app_id: merchant.id,
  })
  expect(shown.body).toContain(
    `curl -sS -u ${public_id}:${secret} \\\n  -d grant_type=client_credentials \\\n  ${test.url}/payment/token`,
  )
  // Of what the key may do, the example only reads.
  expect(shown.body).toContain(`${test.url}/api/payment/payouts`)
  expect([scopes, expires_at.getTime() - created_at.getTime()]).toEqual([
    ['transfers', 'payouts'],
    30 * 86_400_000,
  ])
  for (const again of [await owner.get(made.location!), await owner.get(page)])
    expect(again.body).not.toContain(secret)
  const listed = (await owner.get(page)).body
  expect(textOf(listed)).toContain(`-u ${/<code>(ak_[a-z0-9]+)</.exec(listed)![1]}:…`)
  expect(listed).toContain(public_id)
  expect(listed).toContain(`<span class="tag warn">${a.scopes.transfers}</span>`)
  // Beside keys, the form is folded.
  expect(listed).not.toContain('<details class="panel" open>')
  expect(await audited()).toEqual([['payment_app.create_access_key', 'Raffle script']])
})

it.each([
  [{ name: ' ' }, 'name', a.problems.name],
  [{ name: 'x'.repeat(41) }, 'name', a.problems.name],
  [{ name: 'safe\u202eelif' }, 'name', a.problems.name],
  [{ orders_read: '' }, 'orders_read', a.problems.scopes],
  [{ days: '0' }, 'days', a.problems.days(366)],
  [{ days: '367' }, 'days', a.problems.days(366)],
  [
    { allowed_addresses: '10.0.0.0/33' },
    'allowed_addresses',
    messages.en.paymentApps.problems.allowed_addresses,
  ],
  [
    { allowed_addresses: Array(51).fill('10.0.0.1').join(' ') },
    'allowed_addresses',
    messages.en.paymentApps.problems.allowed_addresses,
  ],
])('refuses %j and keeps what was typed', async (over, field, problem) => {
  const before = (await keysOf()).length
  const refused = await send(owner, page, fields({ days: '31', ...over }))
  expect(refused.status).toBe(400)
  expect(refused.body).toContain(`id="${field}-problem">${problem}`)
  expect((await keysOf()).length).toBe(before)
})

it('shows each role what it may do', async () => {
  const manager = await joinTeam(test, merchant, 'manager')
  const client = await manager.signIn()
  const shown = (await client.get(page)).body
  expect([shown.includes('name="transfers"'), shown.includes(a.ownersOnly)]).toEqual([false, true])
  expect((await send(client, page, fields({ transfers: 'on' }))).status).toBe(403)
  const operator = await (await joinTeam(test, merchant, 'operator')).signIn()
  expect((await operator.get(page)).status).toBe(403)
  expect((await operator.get(`/payment/applications/${merchant.payment_id}`)).body).not.toContain(
    `href="${page}"`,
  )
  const stranger = await (await makePerson(test)).signIn()
  expect((await stranger.get(page)).status).toBe(404)
})

it('asks for a recent sign-in to make a key, and for none to revoke one', async () => {
  await setSetting(test, 'reauthenticate_minutes', '1')
  test.clock.advance(120_000)
  const before = (await keysOf()).length
  const asked = await send(owner, page, fields())
  expect([asked.status, asked.body.includes('/sign-in?return_to=')]).toEqual([409, true])
  expect((await keysOf()).length).toBe(before)
  const { public_id } = (await keysOf())[0]!
  const question = await send(owner, `${page}/revoke`, { key: public_id })
  expect([question.status, question.body.includes(a.ask.note)]).toEqual([200, true])
  const revoked = await owner.submit(question, `${page}/revoke`, {})
  expect(revoked).toMatchObject({ status: 303, location: page })
  expect((await owner.get(page)).body).not.toContain(public_id)
  expect((await audited()).at(-1)).toEqual(['payment_app.revoke_access_key', 'Raffle script'])
  expect((await send(owner, `${page}/revoke`, { key: public_id })).status).toBe(404)
  await setSetting(test, 'reauthenticate_minutes', '10')
})

it('revokes the ticked keys of a member who is removed from the team', async () => {
  const manager = await joinTeam(test, merchant, 'manager')
  const make = (user_id: bigint, name: string) =>
    createAccessKey(
      test.deps,
      merchant.payment_id,
      { name, scopes: ['orders:read'], days: 30, allowed_addresses: [] },
      { user_id, ip: '203.0.113.7' },
    )
  await make(manager.id, 'Leaves')
  await make(manager.id, 'Stays')
  await make(merchant.owner.id, 'Of the owner')
  const remove = `/payment/applications/${merchant.payment_id}/team/remove`
  const question = await send(owner, remove, { username: manager.username })
  const offered = [...question.body.matchAll(/name="keys" value="(ak_\w+)" checked> <bdi>(\w+)/g)]
  expect(offered.map(([, , name]) => name).sort()).toEqual(['Leaves', 'Stays'])
  const keys = offered.find(([, , name]) => name === 'Leaves')![1]!
  const foreign = (await keysOf()).find(({ name }) => name === 'Of the owner')!.public_id
  const body = new URLSearchParams({ ...question.form(remove), username: manager.username })
  for (const key of [keys, foreign]) body.append('keys', key)
  expect((await owner.post(remove, body.toString())).status).toBe(303)
  const ended = (await keysOf()).filter(({ revoked_at }) => revoked_at !== null).map(({ name }) => name)
  expect(ended).toEqual(['Raffle script', 'Leaves'])
})

it('says that access keys are off, and makes none', async () => {
  await setSetting(test, 'access_keys', 'off')
  const shown = (await owner.get(page)).body
  expect([shown.includes(a.off), shown.includes('name="days"')]).toEqual([true, false])
  const refused = await send(owner, page, fields())
  expect([refused.status, refused.body.includes(a.problems.off)]).toEqual([409, true])
})
