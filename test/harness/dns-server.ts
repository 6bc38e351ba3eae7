/** A name server for tests: real DNS over UDP on loopback. A test may change its answers between two queries. */
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'

const TYPE = { A: 1, AAAA: 28 } as const
const NAME_ERROR = 3

export type DnsServer = {
  /** A resolver that queries only this server. */
  resolver: Resolver
  /** The addresses of a name, of both families. A missing name does not exist. A function runs at each query. */
  names: Map<string, string[] | (() => string[])>
  /** The names whose queries get no answer. */
  silent: Set<string>
  /** Every query, as `A name`. */
  questions: string[]
  close(): Promise<void>
}

export async function startDnsServer(): Promise<DnsServer> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const resolver = new Resolver({ timeout: 500, tries: 1 })
  resolver.setServers([`127.0.0.1:${socket.address().port}`])
  const server: DnsServer = {
    resolver,
    names: new Map(),
    silent: new Set(),
    questions: [],
    async close() {
      socket.close()
      await once(socket, 'close')
    },
  }
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = readQuestion(query)
    server.questions.push(`${type === TYPE.A ? 'A' : 'AAAA'} ${name}`)
    if (server.silent.has(name)) return
    const entry = server.names.get(name)
    const all = typeof entry === 'function' ? entry() : entry
    const addresses = all?.filter((each) => isIPv4(each) === (type === TYPE.A)) ?? []
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | (all === undefined ? NAME_ERROR : 0), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(addresses.length, 6)
    const records = addresses.map((each) => record(type, bytesOf(each)))
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), port, address)
  })
  return server
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** A record for the queried name with a TTL of zero. */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  const groups = address.replace(/[\d.]+\.\d+$/, (tail) =>
    bytesOf(tail)
      .toString('hex')
      .replace(/(....)(....)/, '$1:$2'),
  )
  const [left = [], right = []] = groups
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = Array<string>(8 - left.length - right.length).fill('0')
  return Buffer.from([...left, ...zeros, ...right].map((group) => group.padStart(4, '0')).join(''), 'hex')
}
