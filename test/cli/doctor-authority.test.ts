/** What the doctor says of a server whose certificate comes from an authority that Node does not know. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { examineAddress } from '../../src/cli/doctor/addresses.ts'
import type { Installation } from '../../src/cli/doctor/finding.ts'
import { examineCollector, examineForum, examineMail } from '../../src/cli/doctor/services.ts'
import { connectionFault } from '../../src/database/operator-messages.ts'
import { loadConfig } from '../../src/platform/config.ts'
import { certificateOf } from '../harness/certificate.ts'

const CURE = /self-signed certificate.*: let the server send its whole chain .*NODE_EXTRA_CA_CERTS/
let server: Server
let host: string

beforeAll(async () => {
  server = createServer(certificateOf('127.0.0.1'), (_, answer) => answer.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close().closeAllConnections()
})

it('a private authority is named for each server, with NODE_EXTRA_CA_CERTS', async () => {
  const config = loadConfig({
    DISCOURSE_URL: `https://${host}`,
    DISCOURSE_SECRET: 'secret-of-the-forum-at-sign-in',
    SMTP_URL: `smtps://${host}`,
    SMTP_FROM: 'no-reply@example.org',
    OTEL_EXPORTER_OTLP_ENDPOINT: `https://${host}`,
  })
  const installation = { config } as Installation
  const findings = [
    await examineAddress(`https://${host}`),
    await examineForum(installation),
    await examineMail(installation),
    await examineCollector(installation),
  ]
  for (const finding of findings)
    expect(finding).toEqual({ state: 'fault', fault: expect.stringMatching(CURE) })
  expect(connectionFault(new Error('self-signed certificate in certificate chain'))).toContain(
    'NODE_EXTRA_CA_CERTS',
  )
})
