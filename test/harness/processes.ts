/**
 * Many processes as one (TEST_PROCESSES=4): every request of a test goes over real HTTP to the next of them, also those that a
 * browser sends, while the test's own process keeps its parts for direct looks at the database.
 */
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type OutgoingHttpHeaders, type RequestListener, request as send } from 'node:http'
import { join } from 'node:path'
import { inject } from 'light-my-request'
import { type Application, forgetfulSettings } from './application.ts'

/** Where a request comes from, between a test and its processes: they hear it as the address of the sender. */
export const PEER_HEADER = 'x-peer-of-the-test'
/** Said of one connection only, the one between us and a process. */
const HOP_HEADERS = ['connection', 'keep-alive', 'transfer-encoding']

/** Tests send longer ones than Node reads, which hangs up on them. */
const HEADERS_BYTES_MAX = 256 * 1024

/** What a process is told to do with the application of a test. */
export type Order = { id: string } & (
  | { act: 'open'; url: string; env: Record<string, string>; now: number }
  | { act: 'set clock'; now: number }
  | { act: 'start notifier' }
  | { act: 'close' }
)

/** Starts so many, and answers where each takes its orders. They end with this process. */
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
  /** What they are told is in force before the next request is sent. */
  tell(order: { act: 'set clock'; now: number } | { act: 'start notifier' }): void
  close(): Promise<void>
}

/** Has every request to this application answered by one like it in these processes, each in its turn. */
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
