/** The service over real HTTP with the real clock, a client's own program, and a browser that goes between the two. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { browserAt } from '../../harness/browser.ts'
import { makePerson, type Person } from '../../harness/cast.ts'
import { freePort } from '../../harness/free-port.ts'
import { startTestApp, type TestApp } from '../../harness/harness.ts'
import { until } from '../../harness/waiting.ts'
import { listen, type Provider, type UserAgent, userAgent } from '../conformance-client.ts'
import { makeParty } from '../relying-party.ts'
import { filledIn } from './recipes.ts'

const STEPS_MAX = 12
const TICK_MS = 1_000

export type World = { test: TestApp; op: Provider; person: Person; close(): Promise<void> }

/** Starts the service on a free port, with one member. */
export async function startWorld(): Promise<World> {
  const test = await startTestApp({
    PUBLIC_URL: `http://127.0.0.1:${await freePort()}`,
    NOTIFY_ALLOW_CIDRS: '127.0.0.0/8',
  })
  // The clients use the real clock, and some of them wait.
  const keepUp = () => test.clock.advance(Date.now() - test.clock.now().getTime())
  keepUp()
  const ticking = setInterval(keepUp, TICK_MS)
  const op = await listen(test)
  const person = await makePerson(test, {
    name: 'Alice Archer',
    email: 'alice@example.org',
    groups: ['book-lovers'],
  })
  return {
    test,
    op,
    person,
    close() {
      clearInterval(ticking)
      return test.close()
    },
  }
}

/** An address for a client's site, which nothing listens at yet. */
export async function freeSite(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`
}

export type Program = {
  output(): string
  /** Resolves with nothing when the program ends. */
  ended: Promise<undefined>
  stop(): Promise<void>
}

/** Starts a client's program, which gets only `env`. */
export function startProgram(
  command: string,
  given: string[],
  { cwd, env }: { cwd?: string; env: Record<string, string> },
): Program {
  const child: ChildProcess = spawn(command, given, {
    ...(cwd !== undefined && { cwd }),
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (output += chunk))
  const ended = once(child, 'close').then(
    () => undefined,
    (error: Error) => {
      output += error.message
    },
  )
  return {
    output: () => output,
    ended: ended as Promise<undefined>,
    async stop() {
      child.kill()
      await ended
    },
  }
}

/** A site's program: its command, its recipe's code, and the path of its redirect URI. */
export type Site = { command: string[]; code: string; callback: string; alg?: 'RS256' | 'ES256' }

/**
 * Starts a site's program with an application of its own, and ends it after the act. The program gets its host and port
 * as its last argument, and in the environment SITE, CLIENT_SECRET and RECIPE, the code.
 */
export async function visit<T>(
  world: World,
  { command: [command = '', ...given], code, callback, alg = 'RS256' }: Site,
  act: (browser: SiteBrowser, program: Program) => Promise<T>,
): Promise<T> {
  const site = await freeSite()
  const app = await makeParty(world.test, {
    redirect_uris: [site + callback],
    id_token_signed_response_alg: alg,
  })
  const RECIPE = filledIn(code, { 'https://YOUR-TESSERA': world.op.issuer, 'YOUR-CLIENT-ID': app.client_id })
  const program = startProgram(command, [...given, new URL(site).host], {
    env: {
      SITE: site,
      CLIENT_SECRET: app.client_secret,
      RECIPE: RECIPE.replaceAll('https://app.example', site),
    },
  })
  const died = program.ended.then(() => {
    throw new Error(`The program of the site ended: ${program.output()}`)
  })
  try {
    return await Promise.race([act(siteBrowser(site, world), program), died])
  } finally {
    await program.stop()
  }
}

export type Visited = { status: number; url: string; body: string; headers: Record<string, unknown> }

export type SiteBrowser = {
  /** Goes on from page to page, signs in and consents at the service, until a page leads no further. */
  go(url: string, form?: Record<string, string>): Promise<Visited>
}

/** A browser that goes to a client's site, from there to the service, and back. */
export function siteBrowser(
  site: string,
  { op, person, agent = userAgent(op, person) }: World & { agent?: UserAgent },
): SiteBrowser {
  const browser = browserAt(site)

  /** The first request may come before the program listens. */
  const send = (url: string, form: Record<string, string> | undefined) =>
    until(() =>
      (form === undefined ? browser.get(url) : browser.post(url, form)).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'ECONNREFUSED') throw error
          return undefined
        },
      ),
    )

  const isHere = (url: string) => new URL(url).origin === site

  return {
    async go(start, form) {
      let url = new URL(start, site).href
      let fields = form
      for (let steps = 0; steps < STEPS_MAX; steps += 1) {
        if (!isHere(url)) {
          const arrival = await agent.visit(url)
          if (!isHere(arrival.url)) return { ...arrival, headers: {} }
          url = arrival.url
        }
        const answer = await send(url, fields)
        const { location } = answer
        if (location === undefined) return { ...answer, url }
        url = new URL(location, url).href
        fields = undefined
      }
      throw new Error(`No end of redirects at ${url}`)
    },
  }
}
