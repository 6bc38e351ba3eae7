/** The request that created an order, kept for its merchant: without secrets and signatures, and of bounded size. */
import type { FastifyRequest } from 'fastify'
import type { ReceivedRequest } from '../../database/tables/payments.ts'
import type { FlatParameters } from '../wire-fields/fields.ts'

/** Names of signatures and secrets, which some shops send by mistake. `sign_type` does not match. */
const HIDDEN = /^(sign|signature)$|key|token|secret|passw|pwd|credential/i
const VALUE_LENGTH_MAX = 1_000
const LENGTH_MAX = 8_000

/** @param parameters the verified parameters. */
export function receivedRequest(request: FastifyRequest, parameters: FlatParameters): ReceivedRequest {
  const { method, url, ip } = request
  const kept: ReceivedRequest['parameters'] = []
  let [length, left_out] = [0, 0]
  for (const [name, value] of Object.entries(parameters)) {
    const shown = HIDDEN.test(name) ? null : cut(value)
    length += name.length + (shown?.length ?? 0)
    if (length > LENGTH_MAX) left_out += 1
    else kept.push([name, shown])
  }
  return { method, path: url.split('?')[0]!, ip, parameters: kept, left_out }
}

function cut(value: string): string {
  return value.length <= VALUE_LENGTH_MAX ? value : `${value.slice(0, VALUE_LENGTH_MAX).toWellFormed()}…`
}
