/** The process of the links. It ends with the process that started it. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { LinkOrder, LinkState } from './links.ts'

type Link = { port: number; set(state: LinkState): void }

const links = new Map<string, Link>()

async function openLink(to: number): Promise<Link> {
  let state: LinkState = 'open'
  const sockets = new Set<Socket>()
  const connecting = new Set<() => void>()

  const join = (from: Socket, onto: Socket) => {
    // Equal timers fire in the order in which they were set.
    const pass = (act: () => void) => (typeof state === 'number' ? setTimeout(act, state) : act())
    from.on('data', (bytes) =>
      pass(() => {
        if (onto.destroyed || onto.write(bytes)) return
        from.pause()
        onto.once('drain', () => state !== 'hold' && from.resume())
      }),
    )
    from.on('end', () => pass(() => onto.end()))
    from.on('error', () => onto.destroy())
    from.on('close', () => {
      sockets.delete(from)
      pass(() => onto.destroy())
    })
    from.setNoDelay(true)
    sockets.add(from)
    if (state === 'hold') from.pause()
  }
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const lead = () => {
      const upstream = connect({ port: to, host: '127.0.0.1', allowHalfOpen: true })
      join(client, upstream)
      join(upstream, client)
    }
    if (state === 'refuse') client.resetAndDestroy()
    else if (state === 'hold') {
      client.on('error', () => client.destroy())
      connecting.add(lead)
      client.once('close', () => connecting.delete(lead))
    } else lead()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    set(next) {
      state = next
      if (next === 'refuse') for (const socket of sockets) socket.resetAndDestroy()
      else if (next === 'hold') for (const socket of sockets) socket.pause()
      else {
        for (const socket of sockets) socket.resume()
        for (const lead of connecting) lead()
        connecting.clear()
      }
    },
  }
}

process.on('message', async (order: LinkOrder) => {
  if ('to' in order) links.set(order.link, await openLink(order.to))
  else links.get(order.link)!.set(order.state)
  process.send!({ id: order.id, port: links.get(order.link)!.port })
})
process.once('disconnect', () => process.exit())
