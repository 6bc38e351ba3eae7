/** The least cost of a notification: its HTTP client in a bare loop. It takes its work from the channel. */
import { get, type IncomingMessage } from 'node:http'

export type Calls = { url: string; callers: number; count: number }

async function call(url: string): Promise<void> {
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    get(url, { agent: false }, resolve).once('error', reject),
  )
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString()
  if (body !== 'success') throw new Error(`${response.statusCode} ${body.slice(0, 300)}`)
}

process.on('message', async ({ url, callers, count }: Calls) => {
  let next = 0
  const caller = async () => {
    while (next++ < count) await call(url)
  }
  await Promise.all(Array.from({ length: callers }, caller))
})
process.stdout.write('ready\n')
process.on('SIGTERM', () => process.exit(0))
