/** The first two commands for a new key, with its own values. */
import type { AccessScope } from '../../database/tables/access-keys.ts'
import { API_PATH, TOKEN_PATH } from './token.ts'

type Credentials = { client_id: string; client_secret: string; scopes: AccessScope[] }

/** A request that a scope allows, after the address of the API. A request that only reads comes first. */
const REQUESTS: Record<AccessScope, string> = {
  'orders:read': '/orders',
  mandates: '/mandates',
  payouts: '/payouts',
  'orders:write': `/orders -H 'Content-Type: application/json' -d '{"order_id":"first-1","amount":10,"description":"A first order"}'`,
  transfers: `/transfers -H 'Content-Type: application/json' -d '{"order_id":"first-1","amount":1,"to_user_id":1,"to_username":"alice"}'`,
}

/** Gets a token in a shell, and uses it for the first of REQUESTS that the key may send. */
export function firstCalls(url: string, { client_id, client_secret, scopes }: Credentials): string {
  const [, request] = Object.entries(REQUESTS).find(([scope]) => (scopes as string[]).includes(scope))!
  return [
    `TOKEN=$(curl -sS -u ${client_id}:${client_secret} \\`,
    `  -d grant_type=client_credentials \\`,
    `  ${url}${TOKEN_PATH} \\`,
    `  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    `curl -sS -H "Authorization: Bearer $TOKEN" \\`,
    `  ${url}${API_PATH}${request}`,
  ].join('\n')
}
