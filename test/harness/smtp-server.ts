/** A mail server for tests: the part of RFC 5321 that a sender needs, and a mailbox to read. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'
import type { KeyAndCertificate } from './certificate.ts'

export type ReceivedMail = {
  /** The envelope, which decides the mailbox independently of the header. */
  from: string
  to: string[]
  headers: Record<string, string>
  /** The name of the sender in the header. */
  sender: string
  subject: string
  text: string
  html: string
  /** The pictures that the HTML names by `cid:`. */
  pictures: { id: string; bytes: Buffer }[]
  isEncrypted: boolean
}

/** How the server uses TLS: from the first byte (`smtps:`), or after STARTTLS. */
export type SmtpTls = KeyAndCertificate & { from: 'start' | 'STARTTLS' }

export type SmtpServer = {
  url: string
  mails: ReceivedMail[]
  /** `name password` of every attempted sign-in. */
  signIns: string[]
  /** The answer to the end of a message. The hook may also break the connection before it. */
  onMessage: (mail: ReceivedMail) => string | Promise<string>
  /** The mails to an address since the last call. */
  take(recipient: string): ReceivedMail[]
  close(): Promise<void>
}

const ACCEPTED = '250 2.0.0 taken'

export async function startSmtpServer(tls?: SmtpTls): Promise<SmtpServer> {
  const sockets = new Set<Socket>()
  const isTlsOnly = tls?.from === 'start'
  const onConnection = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    socket.write('220 mail.test ESMTP\r\n')
    void converse(socket, smtp, isTlsOnly ? undefined : tls)
  }
  const server = isTlsOnly ? createTlsServer(tls, onConnection) : createServer(onConnection)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const smtp: SmtpServer = {
    url: `${isTlsOnly ? 'smtps' : 'smtp'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mails: [],
    signIns: [],
    onMessage: () => ACCEPTED,
    take(recipient) {
      const own = smtp.mails.filter((mail) => mail.to.includes(recipient))
      smtp.mails = smtp.mails.filter((mail) => !own.includes(mail))
      return own
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return smtp
}

/** Serves one connection: commands line by line, and a message up to the single dot. Offers STARTTLS with `tls`. */
async function converse(socket: Socket, smtp: SmtpServer, tls?: SmtpTls): Promise<void> {
  let envelope = { from: '', to: [] as string[] }
  const say = (line: string) => socket.write(`${line}\r\n`)
  const offers = ['mail.test', ...(tls === undefined ? [] : ['STARTTLS']), 'AUTH PLAIN']
  const lines = linesOf(socket)
  for await (const line of lines) {
    const [, verb = '', rest = ''] = /^(\S+) ?(.*)$/.exec(line) ?? []
    const command = verb.toUpperCase()
    if (command === 'EHLO')
      socket.write(`${offers.map((offer) => `250-${offer}\r\n`).join('')}250 SIZE 1000000\r\n`)
    else if (command === 'STARTTLS' && tls !== undefined) {
      say('220 2.0.0 go ahead')
      const encrypted = new TLSSocket(socket, { ...tls, isServer: true })
      encrypted.on('error', () => {})
      return converse(encrypted, smtp)
    } else if (command === 'AUTH') {
      const [, name, password] = Buffer.from(rest.replace(/^PLAIN /i, ''), 'base64')
        .toString()
        .split('\0')
      smtp.signIns.push(`${name} ${password}`)
      say('235 2.7.0 welcome')
    } else if (command === 'MAIL') {
      envelope = { from: addressIn(rest), to: [] }
      say(ACCEPTED)
    } else if (command === 'RCPT') {
      envelope.to.push(addressIn(rest))
      say(ACCEPTED)
    } else if (command === 'DATA') {
      say('354 go on')
      const mail = {
        ...envelope,
        ...parseMessage(await messageIn(lines)),
        isEncrypted: socket instanceof TLSSocket,
      }
      const answer = await smtp.onMessage(mail)
      if (answer.startsWith('250')) smtp.mails.push(mail)
      say(answer)
    } else if (command === 'QUIT') {
      socket.end('221 bye\r\n')
      return
    } else say('502 5.5.1 what?')
  }
}

async function* linesOf(socket: Socket): AsyncGenerator<string, void> {
  let rest = ''
  try {
    // Another reader continues after STARTTLS, so the end of this loop must not end the connection.
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      const parts = (rest + (chunk as Buffer).toString('latin1')).split('\r\n')
      rest = parts.pop()!
      yield* parts
    }
  } catch {
    // The other side closed the connection, so the conversation ends.
  }
}

async function messageIn(lines: AsyncGenerator<string, void>): Promise<string[]> {
  const message: string[] = []
  for (let next = await lines.next(); !next.done && next.value !== '.'; next = await lines.next())
    message.push(next.value.replace(/^\.\./, '.'))
  return message
}

function addressIn(text: string): string {
  return /<([^>]*)>/.exec(text)?.[1] ?? ''
}

function parseMessage(lines: string[]): Omit<ReceivedMail, 'from' | 'to' | 'isEncrypted'> {
  const { headers, parts } = partsOf(lines)
  const textOf = (type: string) =>
    (parts.find((part) => part.type === type)?.bytes.toString('utf8') ?? '').replaceAll('\r\n', '\n')
  return {
    headers,
    sender: nameIn(decodeWords(headers.from ?? '')),
    subject: decodeWords(headers.subject ?? ''),
    text: textOf('text/plain'),
    html: textOf('text/html'),
    pictures: parts.filter(({ type }) => type === 'image/png').map(({ id, bytes }) => ({ id, bytes })),
  }
}

/** The name before an address (RFC 5322, 3.4). */
function nameIn(from: string): string {
  const [, quoted, plain = ''] = /^(?:"(.*)"|(.*)) <[^<]*>$/.exec(from) ?? []
  return quoted?.replace(/\\(.)/g, '$1') ?? plain
}

type Part = { type: string; id: string; bytes: Buffer }

/** Reads a message, or a part of one, with all parts that it holds (RFC 2046). */
function partsOf(lines: string[]): { headers: Record<string, string>; parts: Part[] } {
  const end = lines.indexOf('')
  const unfolded = lines
    .slice(0, end)
    .join('\r\n')
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = Object.fromEntries(
    unfolded.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 2),
    ]),
  )
  const body = lines.slice(end + 1)
  const [, boundary] = /^multipart\/.*boundary="([^"]+)"/.exec(headers['content-type'] ?? '') ?? []
  if (boundary !== undefined) {
    const [, ...inner] = body.join('\r\n').split(`--${boundary}`)
    return {
      headers,
      parts: inner.slice(0, -1).flatMap((part) => partsOf(part.split('\r\n').slice(1)).parts),
    }
  }
  const type = (headers['content-type'] ?? '').split(';')[0]!
  const id = (headers['content-id'] ?? '').replace(/[<>]/g, '')
  const bytes = decode(body.join('\r\n'), headers['content-transfer-encoding'] ?? '7bit')
  return { headers, parts: [{ type, id, bytes }] }
}

function decode(body: string, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(body, 'base64')
  if (encoding !== 'quoted-printable') return Buffer.from(body, 'latin1')
  const text = body.replace(/=\r\n/g, '')
  return Buffer.from(
    text.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
}

/** Decodes RFC 2047 words such as `=?UTF-8?B?…?=`. White space between two of them is not part of the text. */
function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/(?:=\?UTF-8\?[BQ]\?[^?]*\?=)+/gi, (words) =>
      Buffer.concat(
        [...words.matchAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi)].map(([, kind, word]) =>
          kind!.toUpperCase() === 'B'
            ? Buffer.from(word!, 'base64')
            : decode(word!.replaceAll('_', ' '), 'quoted-printable'),
        ),
      ).toString('utf8'),
    )
}
