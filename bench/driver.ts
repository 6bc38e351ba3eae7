/**
 * Sends requests over kept-alive connections and measures them, for all benches. It uses bare sockets, because a driver
 * on node:http would cost more per request than the cheaper endpoints.
 */
import { readdir, readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { median } from './statistics.ts'

const TICKS_PER_SECOND = 100

export type Answer = { status: number; headers: string; body: string }
export type Request = {
  method: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string
}

/** A server under test. */
export type Endpoint = { port: number; pid: number }

/** A connection that sends one request at a time. */
export type Connection = { ask(request: Request): Promise<Answer>; close(): void }

export async function openConnection(port: number): Promise<Connection> {
  const socket: Socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  let received = Buffer.alloc(0)
  let waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    const answer = readAnswer(received)
    if (answer === undefined) return
    received = Buffer.alloc(0)
    const { resolve } = waiting!
    waiting = undefined
    resolve(answer)
  })
  const fail = () => waiting?.reject(new Error('the connection ended'))
  socket.on('close', fail).on('error', fail)
  return {
    ask(request) {
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        socket.write(asText(request, port))
      })
    },
    close: () => socket.destroy(),
  }
}

function asText({ method, path, headers = {}, body }: Request, port: number): string {
  const length = { 'content-length': String(Buffer.byteLength(body ?? '')) }
  const all = {
    host: `127.0.0.1:${port}`,
    ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded', ...length }),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`
}

/** Reads an answer. Every server under test sends Content-Length. */
function readAnswer(bytes: Buffer): Answer | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const headers = bytes.toString('latin1', 0, end)
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(headers)?.[1] ?? 0)
  if (bytes.length < end + 4 + length) return undefined
  const body = bytes.toString('utf8', end + 4, end + 4 + length)
  return { status: Number(headers.slice(9, 12)), headers, body }
}

/** The result of a measurement. Processor time is per call: of the measured processes, and of Postgres if its pid was given. */
export type Measured = {
  per_second: number
  cpu_us: number
  postgres_us: number
  median_ms: number
  p99_ms: number
}

export type Calls = {
  callers: number
  count: number
  /** Number of first calls that are not counted. */
  uncounted?: number
  /** The processes whose processor time is measured. */
  pids: number[]
  /** The first process of Postgres. */
  postmaster?: number | undefined
  /** Makes the nth call for a caller, and resolves when the call ends. */
  call: (caller: number, n: number) => Promise<unknown>
}

/** Makes `count` calls. Each caller makes one call at a time. */
export async function measureCalls(calls: Calls): Promise<Measured> {
  const { callers, count, uncounted = 0, pids, postmaster, call } = calls
  const cpu = () => Promise.all([cpuSeconds(pids), postmaster === undefined ? 0 : treeSeconds(postmaster)])
  let next = 0
  const callUntil = (end: number, latencies: number[]) =>
    Promise.all(
      Array.from({ length: callers }, async (_, caller) => {
        while (next < end) {
          const start = performance.now()
          await call(caller, next++)
          latencies.push(performance.now() - start)
        }
      }),
    )
  await callUntil(uncounted, [])
  const latencies: number[] = []
  const cpuBefore = await cpu()
  const start = performance.now()
  await callUntil(count, latencies)
  const seconds = (performance.now() - start) / 1000
  const counted = count - uncounted
  const [cpu_us, postgres_us] = (await cpu()).map((after, i) => ((after - cpuBefore[i]!) * 1e6) / counted)
  return {
    per_second: counted / seconds,
    cpu_us: cpu_us!,
    postgres_us: postgres_us!,
    median_ms: median(latencies),
    p99_ms: p99(latencies),
  }
}

export type Load = {
  /** The connections are distributed over these in turn. */
  servers: Endpoint[]
  connections: number
  count: number
  uncounted?: number
  postmaster?: number
  /** The status that every answer must have. The default is 200. */
  status?: number
  /** Returns the nth request, for one of the connections. */
  request: (connection: number, n: number) => Request
  /** Receives each answer, in the order of its connection. */
  onAnswer?: (connection: number, answer: Answer) => void
}

/** Sends `count` requests, one at a time on each connection. Throws at the first answer with another status. */
export async function measure(load: Load): Promise<Measured> {
  const { servers, connections, status = 200, request, onAnswer, ...calls } = load
  const ports = Array.from({ length: connections }, (_, i) => servers[i % servers.length]!.port)
  const open = await Promise.all(ports.map(openConnection))
  try {
    return await measureCalls({
      ...calls,
      callers: connections,
      pids: servers.map(({ pid }) => pid),
      async call(i, n) {
        const asked = request(i, n)
        const answer = await open[i]!.ask(asked)
        if (answer.status !== status)
          throw new Error(`${asked.path}: ${answer.status} ${answer.headers} ${answer.body.slice(0, 300)}`)
        onAnswer?.(i, answer)
      },
    })
  } finally {
    for (const connection of open) connection.close()
  }
}

export const p99 = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)]!

/** The user and system time of processes on all cores, in seconds. */
export async function cpuSeconds(pids: number[]): Promise<number> {
  const all = await Promise.all(pids.map(processTimes))
  return all.reduce((sum, { own }) => sum + own, 0)
}

/** The processor seconds of a process and its children, including ended children. */
export async function treeSeconds(root: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const all = await Promise.all(pids.map((pid) => processTimes(pid).catch(() => undefined)))
  const children = all.reduce((sum, times) => sum + (times?.parent === root ? times.own : 0), 0)
  const { own, ended } = await processTimes(root)
  return own + ended + children
}

/** `ended` is the time of ended children. */
async function processTimes(pid: number): Promise<{ parent: number; own: number; ended: number }> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const seconds = (first: number) => (fields[first]! + fields[first + 1]!) / TICKS_PER_SECOND
  return { parent: fields[1]!, own: seconds(11), ended: seconds(13) }
}

/**
 * Sends requests at a steady rate, even when answers are slow. Returns the 99th percentile of the milliseconds from the
 * due time of a request to its answer.
 */
export async function p99AtRate(
  port: number,
  { per_second, seconds, connections }: { per_second: number; seconds: number; connections: number },
  act: (connection: Connection, n: number) => Promise<Answer>,
): Promise<number> {
  const open = await Promise.all(Array.from({ length: connections }, () => openConnection(port)))
  const latencies: number[] = []
  const start = performance.now()
  let next = 0
  await Promise.all(
    open.map(async (connection, i) => {
      for (let n = next++; n < per_second * seconds; n = next++) {
        const due = start + (n * 1000) / per_second
        const wait = due - performance.now()
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
        const { status, body } = await act(connection, i)
        if (status >= 400) throw new Error(`${status} ${body.slice(0, 300)}`)
        latencies.push(performance.now() - due)
      }
    }),
  )
  for (const connection of open) connection.close()
  return p99(latencies)
}
