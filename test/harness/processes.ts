/**
 * Makes many processes act as one (TEST_PROCESSES=4): every request of a test goes over real HTTP to the next
 * process. The test's own process keeps its parts for direct access to the database.
 */
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type OutgoingHttpHeaders, type RequestListener, request as send } from 'node:http'
import { join } from 'node:path'
import { inject } from 'light-my-request'
import { type Application, forgetfulSettings } from './application.ts'

/** The header in which a test names the sender's address to a process. */
export const PEER_HEADER = 'x-peer-of-the-test'
/** Headers of a single connection, between the test and a process. */
const HOP_HEADERS = ['connection', 'keep-alive', 'transfer-encoding']

/** Tests send longer headers than Node accepts by default. */
const HEADERS_BYTES_MAX = 256 * 1024

/** An order to a process about the application of a test. */
export type Order = { id: string } & (
  | { act: 'open'; url: string; env: Record<string, string>; now: number }
  | { act: 'set clock'; now: number }
  | { act: 'start notifier' }
  | { act: 'close' }
)

/** Starts this many processes, and returns their addresses for orders. They end with this process. */
export async function startProcesses(count: number): Promise<{ urls: string[]; stop: () => Promise<void> }> {
  const children = Array.from({ length: count }, () =>
    fork(join(import.meta.dirname, 'app-process.ts'), {
      execArgv: [`--max-http-header-size=${HEADERS_BYTES_MAX}`],
    }),
  )
  const urls = await Promise.all(children.map(async (child) => (await once(child, 'message'))[0] as string))
  return {
    urls,
    async stop() {
      const ended = children.map((child) => once(child, 'exit'))
      for (const child of children) child.disconnect()
      await Promise.all(ended)
    },
  }
}

export type Spread = {
  /** Sends an order, which takes effect before the next request. */
  tell(order: { act: 'set clock'; now: number } | { act: 'start notifier' }): void
  close(): Promise<void>
}

/** Lets these processes answer every request to this application in turn. */
export async function spreadRequests(
  { app, deps }: Application,
  { processes, env, now }: { processes: string[]; env: Record<string, string>; now: number },
): Promise<Spread> {
  const id = randomUUID()
  const url = deps.config.DATABASE_URL!
  const answers = await Promise.all(processes.map((each) => obey(each, { act: 'open', id, url, env, now })))
  const ports = answers.map(({ port }) => port as number)
  const agent = new Agent({ keepAlive: true })
  const forget = forgetfulSettings(deps)
  let told = Promise.resolve()
  let turn = 0

  const forward: RequestListener = (request, response) => {
    const lost = (cause: unknown) =>
      response.headersSent ||
      response.destroy(new Error(`No process answers ${request.method} ${request.url}`, { cause }))
    told
      .then(() => {
        forget()
        const { method, url: path, socket } = request
        const headers: OutgoingHttpHeaders = { ...request.headers, [PEER_HEADER]: socket.remoteAddress }
        for (const name in headers) if (headers[name] === undefined || isHop(name)) delete headers[name]
        const port = ports[turn++ % ports.length]
        const maxHeaderSize = HEADERS_BYTES_MAX
        const onward = send({ agent, host: '127.0.0.1', port, method, path, headers, maxHeaderSize })
        onward.on('response', (answer) => {
          const lines = answer.rawHeaders.filter((_, i, all) => !isHop(all[i - (i % 2)]!))
          response.writeHead(answer.statusCode!, answer.statusMessage, lines)
          answer.on('error', (error) => response.destroy(error)).pipe(response)
        })
        onward.on('error', lost)
        response.on('close', () => response.writableFinished || onward.destroy())
        request.pipe(onward)
      })
      .catch(lost)
  }
  app.server.removeAllListeners('request').on('request', forward)
  app.inject = ((options: Parameters<typeof inject>[1]) => inject(forward, options)) as typeof app.inject
  return {
    tell(order) {
      told = told.then(async () => {
        await Promise.all(processes.map((each) => obey(each, { id, ...order })))
      })
    },
    async close() {
      await told
      agent.destroy()
      await Promise.all(processes.map((each) => obey(each, { act: 'close', id })))
    },
  }
}

const isHop = (name: string) => HOP_HEADERS.includes(name.toLowerCase())

async function obey(process: string, order: Order): Promise<{ port?: number }> {
  const response = await fetch(process, { method: 'POST', body: JSON.stringify(order) })
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as { port?: number }
}
