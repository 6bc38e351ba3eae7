/** The upper limit for a server on node:http: it serves on PORT the bytes and headers of OURS, and reads only the path. */
import { createServer } from 'node:http'

const { PORT, OURS, PATHS } = process.env
const answers = new Map<string | undefined, { headers: Record<string, string>; body: Buffer }>()
for (const path of PATHS!.split(' ')) {
  const answer = await fetch(OURS! + path)
  const body = Buffer.from(await answer.arrayBuffer())
  const { date, connection, 'keep-alive': kept, ...headers } = Object.fromEntries(answer.headers)
  answers.set(path, { headers, body })
}

const server = createServer((request, response) => {
  const { headers, body } = answers.get(request.url)!
  response.writeHead(200, headers).end(body)
})
server.listen(Number(PORT), '127.0.0.1', () => process.stdout.write('ready\n'))
process.on('SIGTERM', () => process.exit(0))
