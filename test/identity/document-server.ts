/** A real HTTPS server with the documents of clients, and the name server that knows its hosts. */
import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { certificateOf } from '../harness/certificate.ts'
import { type DnsServer, startDnsServer } from '../harness/dns-server.ts'

export const HOST = 'client.test'
export const ONE_PROCESS = 'the name server and the certificate of these tests are known to one process'

type Answer = (response: ServerResponse) => void

export type DocumentServer = {
  dns: DnsServer
  /** The address of a document at a host of this server. */
  at(path: string, host?: string): string
  /** What is sent at a path: a document as JSON, or an answer. */
  pages: Map<string, object | Answer>
  /** Every request. */
  requests: { host: string | undefined; path: string; headers: IncomingHttpHeaders }[]
  close(): Promise<void>
}

/** Starts the server. Its certificate is good for HOST, other.test, and rebind.test. */
export async function startDocumentServer(): Promise<DocumentServer> {
  const tls = certificateOf(HOST, 'other.test', 'rebind.test')
  const roots = getCACertificates()
  setDefaultCACertificates([...roots, tls.cert])
  const dns = await startDnsServer()
  for (const name of [HOST, 'other.test', 'unnamed.test']) dns.names.set(name, ['127.0.0.1'])
  const server = createServer(tls, (request, response) => {
    const path = request.url!
    documents.requests.push({ host: request.headers.host, path, headers: request.headers })
    const page = documents.pages.get(path)
    if (typeof page === 'function') return page(response)
    if (page === undefined) return response.writeHead(404).end()
    response.setHeader('content-type', 'application/json').end(JSON.stringify(page))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const documents: DocumentServer = {
    dns,
    at: (path, host = HOST) => `https://${host}:${port}${path}`,
    pages: new Map(),
    requests: [],
    async close() {
      setDefaultCACertificates(roots)
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      await dns.close()
    },
  }
  return documents
}
