/**
 * The reference of the demo: every example of its pages and of its OpenAPI document works as copied. `npm test` runs those for a
 * shell, and of Node.js one of each shape. `SAMPLES=left` runs those in the other languages.
 */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../src/docs/operations/operation.ts'
import { AREAS, OPERATIONS, operationId } from '../../src/docs/reference/openapi.ts'
import { samplesShown } from '../harness/samples-shown.ts'
import { openSharedDemo, type SharedDemo } from '../harness/shared-demo.ts'
import { TIMES, thisPart } from '../harness/thoroughness.ts'

const LANGUAGES = ['en', 'zh-CN'] as const

type Area = (typeof AREAS)[number]
/** `isWhole` says whether `npm test` and continuous integration run every example, or one of each shape. */
type Runtime = { label: string; command: string; given: string[]; file: string; isWhole?: true }

/** The programs that run the samples, by the label of their tab. */
const FIRST: Runtime[] = [
  { label: 'Shell', command: 'bash', given: ['--norc', '-u'], file: 'sample.sh', isWhole: true },
  { label: 'Node.js', command: process.execPath, given: [], file: 'sample.mjs' },
]
const REST: Runtime[] = [
  { label: 'Python', command: 'python3', given: [], file: 'sample.py', isWhole: true },
  { label: 'PHP', command: 'php', given: [], file: 'sample.php', isWhole: true },
  { label: 'Go', command: 'go', given: ['run'], file: 'sample.go' },
  { label: 'Java', command: 'java', given: [], file: 'Sample.java' },
]

let opened: SharedDemo

beforeAll(async () => {
  opened = await openSharedDemo()
})
afterAll(() => opened?.close())

async function read(path: string, language: string): Promise<string> {
  const answer = await fetch(`${opened.demo.base_url}${path}`, {
    headers: { 'accept-language': language, accept: 'text/html' },
  })
  expect(answer.status, path).toBe(200)
  return answer.text()
}

const pathOf = (operation: Operation) => `/docs/${operation.area}/${operationId(operation)}`

/** The samples of a page by the label of their tab, and the variables that they read from the environment. */
function samplesOn(page: string): { samples: Map<string, string>; environment: Record<string, string> } {
  const tabs = samplesShown(page)
  const exported = tabs.flatMap(({ code }) => [...code.matchAll(/^export (\w+)=(\S+)$/gm)])
  return {
    samples: new Map(tabs.map(({ label, code }) => [label, code])),
    environment: Object.fromEntries(exported.map(([, name, value]) => [name, value])),
  }
}

/** Expects the output of a successful request of an area. */
function expectSuccess(area: Area, printed: string): void {
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

/** What a program printed. Where that is the address of a page, opens it as a browser would. */
async function followed(printed: string): Promise<string> {
  if (!URL.canParse(printed)) return printed
  const { status } = await fetch(printed, { redirect: 'manual', headers: { accept: 'text/html' } })
  return `${status} `
}

/** One operation of each shape, because the programs of a shape differ only in their parameters. */
function ofEachShape(operations: Operation[]): Operation[] {
  const shape = ({ area, method, path, security, request }: Operation) =>
    [area, method, path.includes('api.php'), security, request?.in].join()
  return [...new Map(operations.map((operation) => [shape(operation), operation])).values()]
}

describe.each(thisPart('SAMPLES', FIRST, REST))('in $label', ({ label, command, given, file, isWhole }) => {
  const isMissing = process.env.CI !== 'true' && spawnSync(command, ['--version']).error !== undefined
  const operations = isWhole || TIMES >= 1 ? OPERATIONS : ofEachShape(OPERATIONS)
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tessera-sample-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it.skipIf(isMissing).each(operations.map((operation) => [pathOf(operation), operation] as const))(
    'the example of %s succeeds',
    async (path, { area }) => {
      const { samples, environment } = samplesOn(await read(path, 'en'))
      await writeFile(join(folder, file), samples.get(label)!)
      const { stdout, stderr } = await promisify(execFile)(command, [...given, file], {
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: process.env.HOME ?? folder, ...environment },
      })
      expect(stderr).toBe('')
      expectSuccess(area, await followed(stdout))
    },
  )
})

type Document = {
  paths: Record<string, Record<string, DocumentOperation>>
  webhooks: Record<string, unknown>
}
type DocumentOperation = {
  operationId: string
  tags: [Area]
  servers: [{ url: string }]
  parameters?: { name: string; in: string; example?: string }[]
  requestBody?: { content: Record<string, { example: Record<string, string> }> }
  /** The entry of an operation's other method has no samples, because it has no page of its own. */
  'x-codeSamples'?: [{ source: string }]
}

const documentIn = async (language: string) =>
  JSON.parse(await read('/docs/openapi.json', language)) as Document

async function operationsIn(language: string) {
  return Object.entries((await documentIn(language)).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  )
}

/** A sample without its code and its access token, which are new on every page. */
const withoutTokens = (sample: string) => sample.replaceAll(/(?<![\w-])[\w-]{43}(?![\w-])/g, 'NEW')

it.each(AREAS)('/docs/%s lists every operation of the document', async (area) => {
  const [list = ''] = /<ul class="panel flush list">.*?<\/ul>/s.exec(await read(`/docs/${area}`, 'en')) ?? []
  const listed = [...list.matchAll(/href="(\/docs\/\w+\/\w+)"/g)].map(([, path]) => path!)
  const described = (await operationsIn('en')).filter(
    ({ tags, 'x-codeSamples': scripts }) => tags[0] === area && scripts !== undefined,
  )
  expect(listed.sort()).toEqual(described.map(({ operationId: id }) => `/docs/${area}/${id}`).sort())
})

it.each(OPERATIONS.map(pathOf))('the examples of %s are the same in both languages', async (path) => {
  const [english, chinese] = await Promise.all(
    LANGUAGES.map(async (language) => {
      const page = await read(path, language)
      expectNoSecrets(page)
      const { samples, environment } = samplesOn(page)
      return [environment, [...samples].map(([label, code]) => [label, withoutTokens(code)])] as const
    }),
  )
  expect(english![1].map(([label]) => label)).toEqual([...FIRST, ...REST].map(({ label }) => label))
  expect(chinese).toEqual(english)
})

describe.each(LANGUAGES)('the OpenAPI document in %s', (language) => {
  it('has the scripts of the pages', async () => {
    for (const { operationId: id, tags, 'x-codeSamples': scripts } of await operationsIn(language)) {
      if (scripts === undefined) continue
      const { samples, environment } = samplesOn(await read(`/docs/${tags[0]}/${id}`, 'en'))
      const exported = Object.entries(environment).map(([name, value]) => `export ${name}=${value}\n\n`)
      const script = [...exported, samples.get('Shell')].join('')
      expect(withoutTokens(scripts[0].source)).toBe(withoutTokens(script))
    }
  })

  it('has payment requests that succeed as they are', async () => {
    for (const { path, method, tags, servers, parameters = [], requestBody } of await operationsIn(
      language,
    )) {
      // Their examples have no credentials, which the header takes.
      if (tags[0] === 'identity' || tags[0] === 'rest') continue
      const inPlace = (place: string) =>
        parameters
          .filter((parameter) => parameter.in === place && parameter.example !== undefined)
          .map(({ name, example }): [string, string] => [name, example!])
      const filled = inPlace('path').reduce((text, [name, value]) => text.replace(`{${name}}`, value), path)
      const query = new URLSearchParams(inPlace('query')).toString()
      const body = Object.values(requestBody?.content ?? {})[0]?.example
      const separator = filled.includes('?') ? '&' : '?'
      const answer = await fetch(`${servers[0].url}${filled}${query && separator + query}`, {
        method: method.toUpperCase(),
        redirect: 'manual',
        ...(body && { body: new URLSearchParams(body) }),
      })
      const { status } = answer
      expectSuccess(tags[0], [302, 303].includes(status) ? `${status} ` : await answer.text())
    }
  })

  it('shows no key of the shops, nor does a notification', async () => {
    const { webhooks } = await documentIn(language)
    const paths = Object.keys(webhooks).map((name) => `/docs/notifications/${name}`)
    for (const path of [...paths, '/docs/openapi.json']) expectNoSecrets(await read(path, language))
  })
})

/** The reference has its own keys and never shows those of the demo's shops. */
function expectNoSecrets(text: string): void {
  const { payment_app, gateway_app, oauth_app } = opened.demo
  const secrets = [payment_app.token, payment_app.secret_key, payment_app.merchant_key]
  secrets.push(gateway_app.merchant_key, gateway_app.merchant_private_key, oauth_app.client_secret)
  for (const secret of secrets) expect(text).not.toContain(secret)
}
