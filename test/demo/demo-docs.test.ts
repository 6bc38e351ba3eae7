/** The reference of the demo: every example of its pages and its OpenAPI document works as copied. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, type DemoProcess, makeDataDir, startDemoProcess } from '../harness/demo-process.ts'

const AREAS = ['identity', 'payment', 'v1', 'v2'] as const
const LANGUAGES = ['en', 'zh-CN'] as const
const EXAMPLE = /<pre class="sample"[^>]*><code[^>]*>(.*?)<\/code><\/pre>/s

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

/** The text that a browser shows and copies. */
function shownText(html: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return html.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name) => named[name]!)
}

/** Runs a script in a shell, and returns its output. */
async function paste(script: string): Promise<string> {
  const environment = { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR }
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

describe.each(LANGUAGES)('in %s', (language) => {
  const document = async () => JSON.parse(await read('/docs/openapi.json', language)) as Document
  const operations = async () =>
    Object.entries((await document()).paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
    )

  it.each(AREAS)('every example of /docs/%s succeeds in a shell', async (area) => {
    const listed = await read(`/docs/${area}`, language)
    const pages = [...listed.matchAll(/href="(\/docs\/\w+\/\w+)"/g)].map(([, path]) => path!)
    expect(pages.length).toBe((await operations()).filter(({ tags }) => tags[0] === area).length)
    for (const path of pages) {
      const page = await read(path, language)
      expectNoSecrets(page)
      const [, html] = EXAMPLE.exec(page)!
      expectSuccess(area, await paste(shownText(html!)))
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
