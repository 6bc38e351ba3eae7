/**
 * The demo's mail server. Nobody reads mail at the members' addresses, so it prints the text of each mail with its link. It speaks
 * as much of SMTP (RFC 5321) as the service needs on loopback.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

export type Mailbox = { url: string; close(): Promise<void> }

/** Listens on a free port of loopback. `print` gets each mail as lines. */
export async function openMailbox(print: (mail: string) => void): Promise<Mailbox> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // The service sends the mail again.
    socket.on('error', () => socket.destroy())
    void converse(socket, print)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function converse(socket: Socket, print: (mail: string) => void): Promise<void> {
  const say = (line: string) => socket.write(`${line}\r\n`)
  say('220 demo')
  let recipient = ''
  let message: string[] | undefined
  for await (const line of createInterface({ input: socket.setEncoding('latin1') })) {
    if (message !== undefined && line !== '.') message.push(line.replace(/^\.\./, '.'))
    else if (message !== undefined) {
      print(
        `\nMail to ${recipient}\n${textIn(message)
          .trimEnd()
          .replace(/^(?=.)/gm, '  ')}\n`,
      )
      message = undefined
      say('250 taken')
    } else if (/^DATA$/i.test(line)) {
      message = []
      say('354 go on')
    } else if (/^QUIT$/i.test(line)) socket.end('221 bye\r\n')
    else {
      recipient = /^RCPT TO:<(.*)>/i.exec(line)?.[1] ?? recipient
      say('250 demo')
    }
  }
}

/** Finds the plain text of a message with several parts (RFC 2046), and decodes it. */
function textIn(lines: string[]): string {
  const head = lines.findIndex((line) => /^content-type: text\/plain/i.test(line))
  const boundary = lines.slice(0, head).findLast((line) => line.startsWith('--'))!
  const begin = lines.indexOf('', head)
  const end = lines.findIndex((line, i) => i > begin && line.startsWith(boundary))
  const encoding = lines.slice(head, begin).find((line) => /^content-transfer-encoding/i.test(line)) ?? ''
  const body = lines.slice(begin + 1, end).join('\n')
  if (encoding.endsWith('base64')) return Buffer.from(body, 'base64').toString()
  const bytes = encoding.endsWith('quoted-printable')
    ? body
        .replaceAll('=\n', '')
        .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : body
  return Buffer.from(bytes, 'latin1').toString()
}
