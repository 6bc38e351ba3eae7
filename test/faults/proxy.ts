/**
 * A way to Postgres that can be cut: a TCP proxy on loopback, told where the server is now, that reads the messages it
 * passes on only as far as to count them.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type PostgresProxy = {
  /** The address of a database as seen through the proxy. */
  through(databaseUrl: string): string
  /** Leads new connections to another server. */
  leadTo(databaseUrl: string): void
  /** Ends every connection now. */
  cut(): void
  /**
   * Ends the connection that carries the nth message from now, in either direction, in place of passing it on; or in
   * the middle of it.
   */
  cutAt(nth: number, options?: { inTheMiddle?: boolean }): void
  /** Whether the cut that was asked for has been made. Forgets it otherwise. */
  hasCut(): boolean
  close(): Promise<void>
}

export async function startProxy(databaseUrl: string): Promise<PostgresProxy> {
  let target = Number(new URL(databaseUrl).port)
  let countdown = 0
  let inTheMiddle = false
  const sockets = new Set<Socket>()

  const server = createServer((client) => {
    const upstream = connect({ port: target, host: '127.0.0.1' })
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    const pass = (to: Socket, bytes: Buffer) => {
      if (countdown === 0 || --countdown > 0) return to.write(bytes)
      if (inTheMiddle) to.write(bytes.subarray(0, bytes.length / 2))
      end()
    }
    // Only the first message of a client has no letter before its length.
    client.on(
      'data',
      splitMessages({ hasType: false }, (message) => pass(upstream, message)),
    )
    upstream.on(
      'data',
      splitMessages({ hasType: true }, (message) => pass(client, message)),
    )
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', end).on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    through: (url) => Object.assign(new URL(url), { port: String(port) }).href,
    leadTo(url) {
      target = Number(new URL(url).port)
    },
    cut,
    cutAt(nth, options = {}) {
      countdown = nth
      inTheMiddle = options.inTheMiddle ?? false
    },
    hasCut() {
      const isDone = countdown === 0
      countdown = 0
      return isDone
    },
    async close() {
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}

/** Calls back for each whole message of the protocol: a letter, then a length that counts itself, then the rest. */
function splitMessages(
  { hasType }: { hasType: boolean },
  onMessage: (message: Buffer) => void,
): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let letters = hasType ? 1 : 0
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= letters + 4) {
      const length = letters + rest.readUInt32BE(letters)
      if (rest.length < length) return
      onMessage(rest.subarray(0, length))
      rest = rest.subarray(length)
      letters = 1
    }
  }
}
