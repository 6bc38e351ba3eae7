/** The queue of password hashes: its bound, the refusals of each form, and the priority of the threads that hash. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { hashPassword, verifyPassword } from '../../src/accounts/security/password.ts'
import { argon2id, HASHES_WAITING_MAX, hashesWaiting } from '../../src/platform/argon2.ts'
import { makePerson } from '../harness/cast.ts'
import { freePort } from '../harness/free-port.ts'
import { browser, setSetting, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { inOneProcess, ONE_QUEUE } from '../harness/one-process.ts'
import { ROOT } from '../harness/server-process.ts'

const t = messages.en
const PASSWORD = 'correct horse battery'
const JSON_ONLY = { accept: 'application/json' }

const test = await useTestApp({ METRICS_PORT: String(await freePort()) })
const alice = await makePerson(test)
await setSetting(test, 'registration', 'open')

/** Fills the queue: no hash begins before the function that it returns is called, at the latest when the test ends. */
function fillQueue(): () => Promise<void> {
  const begin: (() => void)[] = []
  const gate = vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, job) {
    begin.push(() => this.postMessage(job))
  })
  const job = {
    message: PASSWORD,
    nonce: Buffer.alloc(16),
    tagLength: 32,
    memory: 8,
    passes: 1,
    parallelism: 1,
  }
  const hashes: Promise<Buffer>[] = []
  while (hashesWaiting() < HASHES_WAITING_MAX) hashes.push(argon2id(job))
  const open = async () => {
    gate.mockRestore()
    for (const each of begin.splice(0)) each()
    await Promise.all(hashes)
  }
  onTestFinished(open)
  return open
}

const attempts = async () => (await test.db.selectFrom('sign_in_attempts').select('id').execute()).length

describe.skipIf(inOneProcess(ONE_QUEUE))('while the queue of hashes is full', () => {
  it('one more hash is refused, and the others end', async () => {
    const open = fillQueue()
    await expect(hashPassword(PASSWORD)).rejects.toMatchObject({ code: 'overloaded', retry_after_seconds: 1 })
    await open()
    expect(hashesWaiting()).toBe(0)
    expect(await verifyPassword(PASSWORD, await hashPassword(PASSWORD))).toBe(true)
  })

  it('a sign-in is refused with 503, keeps its form, and counts as no attempt', async () => {
    const client = browser(test)
    const page = await client.get('/sign-in?return_to=/account/sessions')
    const form = { ...page.form('/sign-in'), username: alice.username, password: alice.password }
    const before = await attempts()
    fillQueue()
    const refused = await client.post('/sign-in', form)
    expect(refused.status).toBe(503)
    expect(refused.headers['retry-after']).toBe('1')
    expect(refused.form('/sign-in').return_to).toBe('/account/sessions')
    expect(refused.body).toContain(`name="username" value="${alice.username}"`)
    expect(refused.body).toContain(t.signIn.busy)
    expect(refused.body).not.toContain(alice.password)
    const asJson = await client.post('/sign-in', form, JSON_ONLY)
    expect(asJson.status).toBe(503)
    expect(JSON.parse(asJson.body)).toMatchObject({
      error: 'overloaded',
      message: 'Too many requests at once',
    })
    expect(asJson.headers['retry-after']).toBe('1')
    expect(await attempts()).toBe(before)
  })

  it('a registration is refused with 503 and keeps what was typed', async () => {
    const client = browser(test)
    const page = await client.get('/register')
    fillQueue()
    const form = { ...page.form('/register'), username: 'newcomer', password: PASSWORD }
    const refused = await client.post('/register', form)
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1'])
    expect(refused.body).toContain('value="newcomer"')
    expect(refused.body).toContain(t.errors.title.overloaded)
  })

  it('a change of the password is refused with 503, and counts as no attempt', async () => {
    const client = await alice.signIn()
    const page = await client.get('/account/password')
    const before = await attempts()
    fillQueue()
    const refused = await client.submit(page, '/account/password', {
      current_password: alice.password,
      new_password: 'another horse battery',
    })
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1'])
    expect(refused.form('/account/password')).toBeDefined()
    expect(await attempts()).toBe(before)
  })

  it('requests without a password are answered, and the metric counts the hashes', async () => {
    fillQueue()
    const { text } = await test.deps.metrics!.scrape()
    expect(text).toContain(`\ntessera_password_hashes_waiting ${HASHES_WAITING_MAX}\n`)
    expect((await browser(test).get('/sign-in')).status).toBe(200)
  })
})

/** Hashes on these cores, and prints the priority of the process and those of its threads. Field 2, the name, may contain spaces. */
const PRIORITIES = `
  const { readdirSync, readFileSync } = await import('node:fs')
  const { getPriority } = await import('node:os')
  const { argon2id } = await import(process.argv[1])
  const nonce = Buffer.alloc(16)
  await argon2id({ message: 'x', nonce, tagLength: 32, memory: 8, passes: 1, parallelism: 1 })
  const statOf = (id) => readFileSync('/proc/self/task/' + id + '/stat', 'utf8')
  const priorities = readdirSync('/proc/self/task').map((id) => Number(statOf(id).split(') ').at(-1).split(' ')[16]))
  console.log(JSON.stringify({ own: getPriority(), priorities }))
`

it.skipIf(process.platform !== 'linux')(
  'where one core serves all, the thread that hashes has a low priority',
  async () => {
    const module = join(ROOT, 'src/platform/argon2.ts')
    const script = [process.execPath, '--input-type=module', '-e', PRIORITIES, module]
    const { stdout } = await promisify(execFile)('nice', ['-n', '1', 'taskset', '-c', '0', ...script])
    const { own, priorities } = JSON.parse(stdout) as { own: number; priorities: number[] }
    const others = Array(priorities.length - 1).fill(own)
    expect(priorities.toSorted((a, b) => a - b)).toEqual([...others, Math.min(own + 5, 19)])
  },
)
