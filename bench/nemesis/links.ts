/** TCP links on loopback that can be cut and delayed. They run in a process of their own, so that they delay nobody. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/**
 * open passes everything on. refuse ends every connection, old and new. hold keeps them open and passes nothing on until
 * the link is open again, as a network that loses packets does. A number delays by as many ms.
 */
export type LinkState = 'open' | 'refuse' | 'hold' | number
export type LinkOrder = { id: number; link: string } & ({ to: number } | { state: LinkState })

export type Links = {
  /** Opens a link to a port of this machine and returns its own port. */
  open(link: string, to: number): Promise<number>
  set(link: string, state: LinkState): Promise<void>
  close(): Promise<void>
}

export function startLinks(): Links {
  const child = fork(join(import.meta.dirname, 'link-process.ts'))
  let count = 0
  const waiting = new Map<number, (port: number) => void>()
  child.on('message', ({ id, port }: { id: number; port: number }) => waiting.get(id)?.(port))
  const order = (
    rest: { link: string; to: number } | { link: string; state: LinkState },
  ): Promise<number> => {
    count += 1
    const id = count
    return new Promise((resolve) => {
      waiting.set(id, resolve)
      child.send({ id, ...rest } satisfies LinkOrder)
    })
  }
  return {
    open: (link, to) => order({ link, to }),
    async set(link, state) {
      await order({ link, state })
    },
    async close() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}
