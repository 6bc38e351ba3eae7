/** What the doctor says of a service whose clock differs from Postgres', behind a proxy that writes the date itself. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { examineAddress } from '../../src/cli/doctor/addresses.ts'

it.each([
  [{ writes: true, clock: false }, expect.stringMatching(/^The clock of a process at .*: synchronise both/)],
  [{ writes: true, clock: true }, undefined],
  [{ writes: false, clock: false }, undefined],
])('a service that is ready as %j has the right finding', async (checks, fault) => {
  const server = createServer((_, answer) => answer.end(JSON.stringify({ checks }))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  expect((await examineAddress(url)) as { fault?: string }).toMatchObject(
    fault === undefined ? { state: 'good' } : { state: 'fault', fault },
  )
  server.close().closeAllConnections()
})
