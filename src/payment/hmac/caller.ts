/** The application that calls the HMAC API: its state, its allowed addresses and its tokens. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { makeBatcher } from '../../database/batcher.ts'
import { named } from '../../database/named-statements.ts'
import type { Book } from '../../database/tables/columns.ts'
import type { PaymentAppStatus } from '../../database/tables/payment-apps.ts'
import { type TokenKeys, tokenKeys } from '../signing/hmac.ts'
import { makeReadyKeys, openKey } from '../signing/keys.ts'

export type Caller = {
  id: bigint
  book: Book
  /** `suspended` while the owner is banned. */
  status: PaymentAppStatus
  /** The owner, whose points the application transfers. */
  applicant_id: bigint
  allowed_addresses: string[]
  /** The valid tokens, the current one first. A former owner knows the tokens from before a handover. */
  tokens: { id: bigint; keys: TokenKeys; last_used_at: Date | null; is_former_owners: boolean }[]
}

export type FindCaller = (payment_id: string) => Promise<Caller | undefined>

type Row = {
  payment_id: string
  id: bigint
  book: Book
  status: PaymentAppStatus
  applicant_id: bigint
  allowed_addresses: string[]
  key_id: bigint
  value_encrypted: Buffer
  last_used_at: Date | null
  is_former_owners: boolean
}

/**
 * Makes the look-up of this process. Requests that arrive together share a statement. Each look-up reads the valid tokens;
 * memory keeps only the keys of stored tokens, which never change.
 */
export function makeFindCaller(deps: Core): FindCaller {
  const ready = makeReadyKeys<TokenKeys>()
  const keysOf = ({ id, key_id, value_encrypted }: Row) =>
    ready.find(key_id) ?? ready.keep(key_id, tokenKeys(openKey(deps.secrets, id, 'token', value_encrypted)))

  return makeBatcher<string, Caller | undefined>({
    name: 'find callers',
    ...deps.batching,
    run: async (payment_ids) => {
      const { rows } = await sql<Row>`
        select ${named} * from payment_apps_with_tokens(${payment_ids}::text[], ${deps.clock()}::timestamptz)
      `.execute(deps.db)
      const found = new Map<string, Caller>()
      for (const row of rows) {
        const { payment_id, id, book, status, applicant_id, allowed_addresses } = row
        const { last_used_at, is_former_owners } = row
        const known = found.get(payment_id)
        const caller = known ?? { id, book, status, applicant_id, allowed_addresses, tokens: [] }
        caller.tokens.push({ id: row.key_id, keys: keysOf(row), last_used_at, is_former_owners })
        found.set(payment_id, caller)
      }
      return payment_ids.map((payment_id) => found.get(payment_id))
    },
  })
}
