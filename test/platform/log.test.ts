/** The content of the log, and the secrets that it never contains. */
import Fastify, { type FastifyBaseLogger } from 'fastify'
import { expect, it } from 'vitest'
import { loggerOptions } from '../../src/platform/log.ts'

function linesOf(write: (log: FastifyBaseLogger) => void): Record<string, unknown>[] {
  const lines: string[] = []
  const stream = { write: (line: string) => lines.push(line) }
  write(Fastify({ logger: { ...loggerOptions({ LOG_LEVEL: 'info' }), stream } }).log)
  return lines.map((line) => JSON.parse(line))
}

it('credentials are blotted out everywhere, also in request lines', () => {
  const [line, ofRequest] = linesOf((log) => {
    const told = { password: 'p', a: { code: 'c', b: { token: 't', n: 1 } }, list: [{ sign: 's', k: 2 }] }
    log.info(told, 'told')
    log.child({ reqId: 'req-1' }).info({ headers: { authorization: 'Basic x', accept: '*/*' } })
  })
  expect(line).toMatchObject({
    msg: 'told',
    password: '[redacted]',
    a: { code: '[redacted]', b: { token: '[redacted]', n: 1 } },
    list: [{ sign: '[redacted]', k: 2 }],
  })
  expect(ofRequest).toMatchObject({
    reqId: 'req-1',
    headers: { authorization: '[redacted]', accept: '*/*' },
  })
})

it('an error shows its kind, not the row it quotes', () => {
  const error = Object.assign(new Error('duplicate key'), {
    code: '23505',
    constraint: 'users_username_key',
    detail: 'Key (username)=(alice) already exists.',
  })
  const [line] = linesOf((log) => log.error({ err: error }, 'request failed'))
  expect(line).toMatchObject({ err: { error_code: '23505', constraint: 'users_username_key' } })
  expect(JSON.stringify(line)).not.toContain('alice')
})
