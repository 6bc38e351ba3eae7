/** The programs of an operation in a guide. They have placeholders for keys and identifiers, which pages fill in for a reader. */

import type { Samples } from '../operations/samples.ts'
import { callOf } from '../programs/call.ts'
import { type Program, programsOf } from '../programs/programs.ts'
import { OPERATIONS, operationId } from '../reference/openapi.ts'

const ADDRESS = 'https://YOUR-TESSERA-PAYMENTS'
/** The keys in the programs of a guide. Each word is one that a guide explains, or that `filled` replaces. */
const WORDS: Samples = {
  isLive: false,
  client_id: 'YOUR-CLIENT-ID',
  client_secret: 'YOUR-SECRET',
  redirect_uri: 'https://app.example/callback',
  code: 'YOUR-CODE',
  access_token: 'YOUR-ACCESS-TOKEN',
  payment_id: 'YOUR-PAYMENT-ID',
  token: 'YOUR-TOKEN',
  pid: 'YOUR-PID',
  merchant_key: 'YOUR-KEY',
  merchant_private_key: 'YOUR-PRIVATE-KEY',
  mandates: { charged: 'YOUR-MANDATE-ID', revoked: 'YOUR-MANDATE-ID' },
  member: { id: '1', username: 'alice' },
}

/**
 * Writes the programs of an operation of the gateway, one per language. Programs of the HMAC API sign with a hash of the
 * token, which has no placeholder.
 * @param href the address of the operation's page.
 * @throws if no operation of the gateway has this page.
 */
export function programsAt(href: string): Program[] {
  const operation = OPERATIONS.find(
    (each) =>
      (each.area === 'v1' || each.area === 'v2') && `/docs/${each.area}/${operationId(each)}` === href,
  )
  if (operation === undefined) throw new Error(`No operation of the gateway at ${href}`)
  return programsOf(callOf(operation, WORDS, ADDRESS))
}
