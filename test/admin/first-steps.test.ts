/** The first steps: the administrators' page of a new site, whose steps are proven by what the service has seen. spec/pages 3.5. */
import { afterAll, describe, expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { useForumWorld } from '../harness/forum-world.ts'
import { type Page, setSetting, useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { messages } from '../harness/messages.ts'
import { rowsOf, setRows } from '../harness/rows.ts'
import { startSmtpServer } from '../harness/smtp-server.ts'

const t = messages.en.firstSteps
const { steps } = t
const [MAIL, FORUM, FINISH] = ['mail', 'forum', 'finish'].map((act) => `/admin/first-steps/${act}`) as [
  string,
  string,
  string,
]

const bare = await useTestApp()
const smtp = await startSmtpServer()
afterAll(() => smtp.close())
const { forum, test } = await useForumWorld(
  {},
  { SMTP_URL: smtp.url, SMTP_FROM: 'no-reply@tessera.test', DISCOURSE_WEBHOOK_SECRET: undefined },
)
const mailHost = new URL(smtp.url).host
const forumHost = new URL(forum.url).host

/** How many of the eight steps are done. */
const doneIn = ({ body }: Page) =>
  Array.from({ length: 9 }, (_, done) => done).filter((done) => textOf(body).includes(t.progress(done, 8)))

describe('a new site', () => {
  it('begins with its first steps, until an administrator finishes them', async () => {
    const person = await makePerson(bare, { is_admin: true })
    const admin = await person.signIn()
    expect(await admin.get('/')).toMatchObject({ status: 303, location: '/admin' })
    const page = await admin.get('/admin')
    expect(page.body).toContain(t.title)
    expect(page.body).toContain(steps.mail.off)
    expect(page.body).not.toContain(`action="${MAIL}"`)
    expect((await admin.get('/admin/overview')).body).toContain(messages.en.dashboard.health)
    const member = await (await makePerson(bare)).signIn()
    expect((await member.get('/')).status).toBe(200)

    expect((await admin.submit(page, FINISH)).location).toBe('/admin')
    const overview = await admin.get('/admin')
    expect(overview.body).toContain(messages.en.dashboard.health)
    expect(overview.body).not.toContain(t.nav)
    expect((await admin.get('/')).status).toBe(200)
    expect(await rowsOf(bare, 'audit_log', { subject: 'set_up_finished' }, ['actor_id'])).toEqual([
      { actor_id: person.id },
    ])
    await setSetting(bare, 'set_up_finished', 'off')
  })

  it('leads from one step to the next', async () => {
    await setSetting(bare, 'site_name_en', '')
    const admin = await (await makePerson(bare, { is_admin: true })).signIn()
    const next = async () =>
      /<li class="next" aria-current="step">.*?<b>(.*?)<\/b>/s.exec((await admin.get('/admin')).body)?.[1]
    expect(await next()).toBe(steps.name.label)
    const brand = await admin.get('/admin/settings?area=brand')
    const saved = await admin.submit(brand, '/admin/settings', { site_name_en: 'Spark', confirmed: 'yes' })
    const after = textOf((await admin.get(saved.location!)).body)
    expect(after).toContain(t.next(steps.mail.label))
    expect(await next()).toBe(steps.mail.label)
    await setSetting(bare, 'site_name_en', '')
  })

  it('links every step to a place of the guides', async () => {
    const admin = await (await makePerson(bare, { is_admin: true })).signIn()
    for (const language of ['en', 'zh-CN'] as const)
      for (const { guide } of Object.values(messages[language].firstSteps.steps)) {
        const [path, place] = guide.split('#') as [string, string?]
        const { body } = await admin.get(path, { 'accept-language': language })
        if (place !== undefined) expect(body).toContain(`id="${place}"`)
      }
  })

  it('counts what was done, and not what is left as it came', async () => {
    const person = await makePerson(bare, { is_admin: true })
    const admin = await person.signIn()
    const before = await admin.get('/admin')
    expect(textOf(before.body)).toContain(steps.fees.todo('5'))
    await setRows(bare, 'users', { is_admin: true }, { is_admin: false })
    await setRows(bare, 'users', { id: person.id }, { is_admin: true })
    expect(doneIn(await admin.get('/admin'))).toEqual([0])
    for (const [name, value] of [
      ['site_name_en', 'Spark'],
      ['points_payment_fee_rate', '0.05'],
      ['registration', 'open'],
      ['admins_need_second_factor', 'on'],
    ] as const)
      await setSetting(bare, name, value)
    await setSetting(bare, 'admins_need_second_factor', 'off')
    const after = await admin.get('/admin')
    expect(doneIn(after)).toEqual([3])
    expect(textOf(after.body)).toContain(steps.members.open)
    await makePerson(bare, { is_admin: true })
    expect(doneIn(await admin.get('/admin'))).toEqual([4])
  })
})

describe('a step', () => {
  it('of mail is proven by a mail to oneself, and shows the words of a server that refuses', async () => {
    const admin = await (await makePerson(test, { is_admin: true })).signIn()
    const page = await admin.get('/admin')
    expect(textOf(page.body)).toContain(steps.mail.todo(mailHost))
    expect((await admin.submit(page, MAIL, { email: 'nobody' })).body).toContain(t.noAddress)

    smtp.onMessage = () => '535 5.7.8 Authentication credentials invalid'
    const email = 'root@mail.test'
    const refused = await admin.submit(page, MAIL, { email })
    expect(refused.location).toBe('/admin')
    const fault = textOf((await admin.get('/admin')).body)
    expect(fault).toContain(t.fault.title)
    expect(fault).toContain('535 5.7.8 Authentication credentials invalid')

    smtp.onMessage = () => '250 taken'
    await admin.submit(page, MAIL, { email })
    const [mail] = smtp.take(email)
    expect(mail!.subject).toContain(t.testMail.subject)
    const works = textOf((await admin.get('/admin')).body)
    expect(works).toContain(t.sent(email, mailHost))
    expect(works).toContain(steps.mail.seen(mailHost))
    expect(works).not.toContain(t.fault.title)
    const more = []
    for (let i = 0; i < 4; i += 1) more.push((await admin.submit(page, MAIL, { email })).status)
    expect(more).toEqual([303, 303, 303, 429])
    expect(smtp.take(email)).toHaveLength(3)
  })

  it('of the forum is proven by a member who is found there', async () => {
    const person = await makePerson(test, { is_admin: true })
    const admin = await person.signIn()
    const page = await admin.get('/admin')
    expect(textOf(page.body)).toContain(steps.members.todo(forumHost))
    const unknown = await admin.submit(page, FORUM, { username: 'nobody-there' })
    expect(unknown.status).toBe(400)
    expect(textOf(unknown.body)).toContain(t.notFound(forumHost))
    expect(textOf((await admin.get('/admin')).body)).toContain(steps.members.todo(forumHost))

    const member = forum.join({ username: 'quokka', trust_level: 3 })
    const found = await admin.submit(page, FORUM, { username: member.username })
    expect(found.location).toBe('/admin')
    const seen = textOf((await admin.get('/admin')).body)
    expect(seen).toContain(t.found('quokka', forumHost, '3'))
    expect(seen).toContain(steps.members.seen('quokka', forumHost))
    const tests = await rowsOf(test, 'audit_log', { action: 'first_steps.member_found' })
    expect(tests).toMatchObject([{ actor_id: person.id, detail: { username: 'quokka', trust_level: 3 } }])
  })

  it('of the forum says why the forum did not answer', async () => {
    const admin = await (await makePerson(test, { is_admin: true })).signIn()
    const page = await admin.get('/admin')
    await setRows(test, 'forum_api', {}, { paused_until: new Date(test.clock.now().getTime() + 60_000) })
    const refused = await admin.submit(page, FORUM, { username: 'quokka' })
    expect(textOf(refused.body)).toContain(t.noAnswer(forumHost, 'paused'))
  })
})
