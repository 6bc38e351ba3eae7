/** The reference of the demo: every example of its pages and its OpenAPI document works as copied. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATIONS, operationId } from '../../src/docs/openapi.ts'
import type { Operation } from '../../src/docs/operation.ts'
import { cleanUp, type DemoProcess, makeDataDir, startDemoProcess } from '../harness/demo-process.ts'
import { samplesShown } from '../harness/samples-shown.ts'
import { TIMES } from '../harness/thoroughness.ts'

const AREAS = ['identity', 'payment', 'v1', 'v2'] as const
const LANGUAGES = ['en', 'zh-CN'] as const
const PROGRAM_MS_MAX = 120_000

type Runtime = { command: string; given: string[]; file: string; isSlow?: true; isInstalled?: true }
/** The programs that run the samples, by the label of their tab. Continuous integration installs some of them. */
const RUNTIMES: Record<string, Runtime> = {
  'Node.js': { command: process.execPath, given: [], file: 'sample.mjs', isInstalled: true },
  Python: { command: 'python3', given: [], file: 'sample.py', isInstalled: true },
  PHP: { command: 'php', given: [], file: 'sample.php', isInstalled: true },
  Go: { command: 'go', given: ['run'], file: 'sample.go', isSlow: true },
  Java: { command: 'java', given: [], file: 'Sample.java', isSlow: true },
}

let dataDir: string
let started: DemoProcess
let base: string

beforeAll(async () => {
  dataDir = await makeDataDir()
  started = await startDemoProcess({ dataDir })
  base = started.demo.base_url
})
afterAll(() => cleanUp(started, dataDir))

async function read(path: string, language: string): Promise<string> {
  const answer = await fetch(`${base}${path}`, {
    headers: { 'accept-language': language, accept: 'text/html' },
  })
  expect(answer.status, path).toBe(200)
  return answer.text()
}

/** The samples of a page by the label of their tab, and the variables that they read from the environment. */
function samplesOn(page: string): { samples: Map<string, string>; environment: Record<string, string> } {
  const tabs = samplesShown(page)
  const exported = tabs.flatMap(({ code }) => [...code.matchAll(/^export (\w+)=(\S+)$/gm)])
  return {
    samples: new Map(tabs.map(({ label, code }) => [label, code])),
    environment: Object.fromEntries(exported.map(([, name, value]) => [name, value])),
  }
}

/** Runs a script in a shell, and returns its output. */
async function paste(script: string, values: Record<string, string> = {}): Promise<string> {
  const environment = { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, ...values }
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-uc', script], {
    env: environment,
  })
  expect(stderr).toBe('')
  return stdout
}

/** Expects the output of a successful request of an area. */
function expectSuccess(area: (typeof AREAS)[number], printed: string): void {
  if (/^\d{3} /.test(printed)) {
    expect(printed).toMatch(/^(200|30[23]) /)
    return
  }
  const answer = JSON.parse(printed)
  if (area === 'payment') expect(answer).toMatchObject({ success: true })
  else if (area === 'v1') expect(answer).toMatchObject({ code: 1 })
  else if (area === 'v2') expect(answer).toMatchObject({ code: 0, sign_type: 'RSA' })
  else expect(answer).not.toHaveProperty('error')
}

type Document = {
  paths: Record<string, Record<string, DocumentOperation>>
  webhooks: Record<string, unknown>
}
type DocumentOperation = {
  operationId: string
  tags: [(typeof AREAS)[number]]
  servers: [{ url: string }]
  parameters?: { name: string; in: string; example?: string }[]
  requestBody?: { content: Record<string, { example: Record<string, string> }> }
  security?: Record<string, unknown>[]
  'x-codeSamples': [{ source: string }]
}

describe.each(Object.entries(RUNTIMES))('in %s', (label, { command, given, file, isSlow, isInstalled }) => {
  const isMissing = spawnSync(command, ['--version']).error !== undefined
  const isSkipped = isMissing && !(isInstalled && process.env.CI === 'true')

  it.skipIf(isSkipped).each(AREAS)(
    'every example of /docs/%s succeeds',
    { timeout: PROGRAM_MS_MAX * 10 },
    async (area) => {
      const folder = await mkdtemp(join(tmpdir(), 'tessera-sample-'))
      const operations = OPERATIONS.filter((operation) => operation.area === area)
      for (const operation of isSlow && TIMES < 1 ? ofEachShape(operations) : operations) {
        const { samples, environment } = samplesOn(
          await read(`/docs/${area}/${operationId(operation)}`, 'en'),
        )
        await writeFile(join(folder, file), samples.get(label)!)
        const { stdout, stderr } = await promisify(execFile)(command, [...given, file], {
          cwd: folder,
          env: { PATH: process.env.PATH, HOME: process.env.HOME ?? folder, ...environment },
          timeout: PROGRAM_MS_MAX,
        })
        expect(stderr).toBe('')
        expectSuccess(area, await opened(stdout))
      }
      await rm(folder, { recursive: true })
    },
  )
})

/** One operation of each shape: programs that take seconds to build differ only in their parameters. */
function ofEachShape(operations: Operation[]): Operation[] {
  const shape = ({ method, path, security, request }: Operation) =>
    [method, path.includes('api.php'), security, request?.in].join()
  return [...new Map(operations.map((operation) => [shape(operation), operation])).values()]
}

/** What a program printed. Where that is the address of a page, opens it as a browser would. */
async function opened(printed: string): Promise<string> {
  if (!URL.canParse(printed)) return printed
  const { status } = await fetch(printed, { redirect: 'manual', headers: { accept: 'text/html' } })
  return `${status} `
}

describe.each(LANGUAGES)('in %s', (language) => {
  const document = async () => JSON.parse(await read('/docs/openapi.json', language)) as Document
  const operations = async () =>
    Object.entries((await document()).paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
    )

  it.each(AREAS)('every example of /docs/%s succeeds in a shell', async (area) => {
    const listed = await read(`/docs/${area}`, language)
    const [list = ''] = /<ul class="panel flush list">.*?<\/ul>/s.exec(listed) ?? []
    const pages = [...list.matchAll(/href="(\/docs\/\w+\/\w+)"/g)].map(([, path]) => path!)
    expect(pages.length).toBe((await operations()).filter(({ tags }) => tags[0] === area).length)
    for (const path of pages) {
      const page = await read(path, language)
      expectNoSecrets(page)
      const { samples, environment } = samplesOn(page)
      expect([...samples.keys()]).toEqual(['Shell', ...Object.keys(RUNTIMES)])
      expectSuccess(area, await paste(samples.get('Shell')!, environment))
    }
  })

  it('every script of the OpenAPI document succeeds in a shell', async () => {
    for (const { tags, 'x-codeSamples': samples } of await operations())
      expectSuccess(tags[0], await paste(samples[0].source))
  })

  it('every payment request succeeds as the OpenAPI document has it', async () => {
    for (const { path, method, tags, servers, parameters = [], requestBody } of await operations()) {
      if (tags[0] === 'identity') continue
      const inPlace = (place: string) =>
        parameters
          .filter((parameter) => parameter.in === place && parameter.example !== undefined)
          .map(({ name, example }): [string, string] => [name, example!])
      const filled = inPlace('path').reduce((text, [name, value]) => text.replace(`{${name}}`, value), path)
      const query = new URLSearchParams(inPlace('query')).toString()
      const body = Object.values(requestBody?.content ?? {})[0]?.example
      const answer = await fetch(`${servers[0].url}${filled}${query && `?${query}`}`, {
        method: method.toUpperCase(),
        redirect: 'manual',
        ...(body && { body: new URLSearchParams(body) }),
      })
      const { status } = answer
      expectSuccess(tags[0], [302, 303].includes(status) ? `${status} ` : await answer.text())
    }
  })

  it('neither the document nor a notification shows the shops’ keys', async () => {
    const { webhooks } = await document()
    const paths = Object.keys(webhooks).map((name) => `/docs/notifications/${name}`)
    for (const path of [...paths, '/docs/openapi.json']) expectNoSecrets(await read(path, language))
  })
})

/** The reference has its own keys and never shows those of the demo's shops. */
function expectNoSecrets(text: string): void {
  const { payment_app, gateway_app, oauth_app } = started.demo
  const secrets = [payment_app.token, payment_app.secret_key, payment_app.merchant_key]
  secrets.push(gateway_app.merchant_key, gateway_app.merchant_private_key, oauth_app.client_secret)
  for (const secret of secrets) expect(text).not.toContain(secret)
}
