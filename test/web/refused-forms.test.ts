/**
 * A refused form keeps what was typed, and marks the field at fault. Every form of the application is tried with a fault in
 * each of its fields. The tests of pages find forms that the list lacks. spec/accounts 3.3. spec/pages 3.2.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NEVER_KEPT } from '../../src/web/forms/kept-forms.ts'
import type { Page } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { formsOf } from '../harness/reported-acts.ts'
import { thisPart } from '../harness/thoroughness.ts'
import { type Field, type Form, faultsOf, formsIn } from './form-markup.ts'
import { makeWorld, type World } from './pages/world.ts'
import { BUTTONS, FORMS, openForm, type TypedForm } from './typed-forms.ts'

const { forms, security } = messages.en

let world: World

beforeAll(async () => {
  world = await makeWorld()
})
afterAll(() => world?.close())

const listed = Object.entries(FORMS).flatMap(([route, forms]) =>
  [forms]
    .flat()
    .map((form) => ({ route, form, name: `${route} ${Object.values(form.hidden ?? {})}`.trim() })),
)

test('every form is listed as one to type in or as a button', () => {
  const known = [...Object.keys(FORMS), ...BUTTONS]
  expect(known.sort()).toEqual(formsOf(world.test.app).sort())
})

describe('a fault in each field', () => {
  test.each(listed)('$name', async ({ route, form }) => {
    const { client, page } = await openForm(world, form)
    const shown = formOn(page, route, form)
    const typed = shown.fields.filter(({ isTyped }) => isTyped)
    expect(typed.length).toBeGreaterThan(0)
    for (const field of typed)
      for (const fault of faultsOf(field).filter((each) => !form.takes?.includes(each))) {
        const sent = { ...shown.values, ...form.fields, [field.name]: fault }
        const answer = await client.post(shown.action + (form.button ?? ''), sent)
        expect(answer.status, `${field.name}: ${fault.slice(0, 20)}`).toSatisfy(isRefusal)
        const again = formOn(answer, route, form)
        const named = (mark: 'isWrong' | 'hasFocus') =>
          again.fields.filter((each) => each[mark]).map(({ name }) => name)
        expect([fault.slice(0, 20), named('isWrong')]).toEqual([
          fault.slice(0, 20),
          expect.arrayContaining([field.name]),
        ])
        expect([field.name, named('hasFocus').length]).toEqual([field.name, 1])
        expectTyped(again.fields, sent)
      }
  })
})

/** The token of a form of a version that derives it in another way. */
const OF_OTHER_VERSION = 'v9.another-way'
/** These say by themselves what was typed, or hold codes only. */
const OF_THEIR_OWN = ['/sign-in', '/sign-in/second-factor', '/account/data/close']
const kept = listed.filter(({ route }) => !OF_THEIR_OWN.includes(route))
/** `npm test` tries every fourth form, because all are kept by the same code. */
const part = (isFirst: boolean) => kept.filter((_, index) => (index % 4 === 0) === isFirst)
const keptHere = thisPart('LOOKS', part(true), part(false))

describe('the switch of languages, another version, the end of a session, and a fresh sign-in keep what was typed', () => {
  const signedInAt = (auth_time: Date) => world.test.db.updateTable('sessions').set({ auth_time }).execute()

  test.each(keptHere)('$name', async ({ route, form }) => {
    const { client, page } = await openForm(world, form)
    const shown = formOn(page, route, form)
    const [first] = shown.fields.filter(({ isTyped }) => isTyped)
    const sent = { ...shown.values, ...form.fields, [first!.name]: 'x'.repeat(5_000) }
    const send = () => client.post(shown.action + (form.button ?? ''), sent)

    const refused = await send()
    for (const { name, isSecret } of formOn(refused, route, form).fields)
      if (isSecret) expect(NEVER_KEPT).toContain(name)
    for (const [from, language] of [[refused, 'zh-CN'] as const, [undefined, 'en'] as const]) {
      const { location } = await client.submit(from ?? (await send()), '/language', { language })
      const again = await client.get(location!)
      expect(again).toMatchObject({ status: 200, body: expect.stringContaining(`<html lang="${language}">`) })
      expectTyped(formOn(again, route, form).fields, sent)
    }
    const { location: own } = await client.post(shown.action + (form.button ?? ''), {
      ...sent,
      form_token: OF_OTHER_VERSION,
    })
    if (!NEVER_KEPT.includes(first!.name))
      expectTyped(formOn(await client.get(own!), route, form).fields, sent)
    if (form.as === 'visitor') return
    const session = client.cookies.get('tessera_session')!
    client.cookies.delete('tessera_session')
    const late = await send()
    client.cookies.set('tessera_session', session)
    if (!NEVER_KEPT.includes(first!.name))
      expectTyped(formOn(await client.get(returnOf(late)), route, form).fields, sent)
    const now = world.test.clock.now()
    await signedInAt(new Date(now.getTime() - 86_400_000))
    const asked = await send()
    await signedInAt(now)
    if (!asked.body.includes(`<h1>${security.signInAgain.title}`))
      return expect(asked.status).toSatisfy(isRefusal)
    const back = await client.get(returnOf(asked))
    expect(back.body).toContain(forms.kept)
    expectTyped(formOn(back, route, form).fields, sent)
  })
})

test('a taken name is marked, and the rest of the form stays', async () => {
  const form = FORMS['/admin/groups'] as TypedForm
  const { client, page } = await openForm(world, form)
  const { values, action } = formOn(page, '/admin/groups', form)
  const answer = await client.post(action, { ...values, name: 'founders', description: 'The first ten' })
  expect(answer.status).toBe(409)
  const [name, description] = formOn(answer, '/admin/groups', form).fields
  expect(name).toMatchObject({ value: 'founders', isWrong: true, hasFocus: true })
  expect(description).toMatchObject({ value: 'The first ten', isWrong: false, hasFocus: false })
})

/** Where the sign-in that a page offers leads. */
function returnOf({ body }: Page): string {
  const link = /href="(\/sign-in\?[^"]+)"/.exec(body)![1]!.replaceAll('&amp;', '&')
  return new URL(link, world.test.url).searchParams.get('return_to')!
}

function expectTyped(fields: Field[], sent: Record<string, string>): void {
  for (const { name, value, isSecret } of fields)
    expect([name, value]).toEqual([name, isSecret ? '' : (sent[name] ?? '')])
}

const isRefusal = (status: number) => status >= 400 && status < 500

function formOn({ body, status }: Page, route: string, { hidden, fields, button }: TypedForm): Form {
  const own = button === undefined ? route : route.replace(button, '')
  const found = formsIn(body).find(
    (form) =>
      form.isOf(own, hidden) &&
      Object.keys(fields).every((name) => form.fields.some((field) => field.name === name)),
  )
  if (found === undefined) throw new Error(`The page has no such form: ${status} ${/<h1>.*/.exec(body)?.[0]}`)
  return found
}
