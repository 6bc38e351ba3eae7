/** Finds ports for programs that tests start, and for addresses where nothing listens. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that the system assigns, which another program may get at any moment. */
const LOWEST = 20_000
const COUNT = 12_000

let next = randomInt(COUNT)

/** Returns a port of 127.0.0.1 on which nothing listens. A process never gets the same port twice. */
export async function freePort(): Promise<number> {
  const port = LOWEST + (next++ % COUNT)
  const probe = createServer().listen(port, '127.0.0.1')
  try {
    await once(probe, 'listening')
  } catch {
    return freePort()
  }
  probe.close()
  await once(probe, 'close')
  return port
}
