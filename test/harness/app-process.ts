/**
 * One of several processes that share the requests of the tests (TEST_PROCESSES). It opens an application for each
 * one that a test file starts. It ends with the process that started it.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Application, forgetfulSettings, openApplication } from './application.ts'
import { type Order, PEER_HEADER } from './processes.ts'

/** Four processes may share a server of 300 connections with those of other test files. */
const POOL_MAX = 6

const opened = new Map<string, Application & { setClock(now: number): void }>()

async function open({ id, url, env, now }: Extract<Order, { act: 'open' }>): Promise<{ port: number }> {
  let time = now
  const all = { DATABASE_POOL_MAX: String(POOL_MAX), ...env }
  const application = await openApplication(url, { env: all, clock: () => new Date(time) })
  opened.set(id, {
    ...application,
    setClock(now) {
      time = now
    },
  })
  const { app, deps } = application
  const forget = forgetfulSettings(deps)
  app.server.prependListener('request', (request) => {
    forget()
    // Every request sets the address of its sender, because connections are reused.
    const value = request.headers[PEER_HEADER]
    delete request.headers[PEER_HEADER]
    Object.defineProperty(request.socket, 'remoteAddress', { value, configurable: true })
    // Node closes a connection whose body was refused for its size, and the answer would be lost.
    request.socket.destroySoon = () => request.socket.end()
  })
  // The sender reuses connections at any time, so the server must not close an idle one.
  app.server.keepAliveTimeout = 0
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { port: (app.server.address() as AddressInfo).port }
}

async function obey(order: Order): Promise<object> {
  if (order.act === 'open') return open(order)
  const application = opened.get(order.id)!
  if (order.act === 'set clock') application.setClock(order.now)
  if (order.act === 'start notifier') application.deps.notifier.start(application.app.log)
  if (order.act === 'close') {
    opened.delete(order.id)
    await application.close()
  }
  return {}
}

const control = createServer(async (request, response) => {
  try {
    response.end(JSON.stringify(await obey(JSON.parse(await text(request)))))
  } catch (error) {
    response.writeHead(500).end((error as Error).stack)
  }
})
control.listen(0, '127.0.0.1', () =>
  process.send!(`http://127.0.0.1:${(control.address() as AddressInfo).port}`),
)
process.once('disconnect', () => process.exit())
