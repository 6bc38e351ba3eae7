/** The record of refusals, by which an administrator examines an attack. It contains no secrets. */
import { sql } from 'kysely'
import type { Db } from '../database/connection.ts'
import { networkOf } from './limits.ts'

/** Bounds of the record for one kind: from one network in a minute, and from all networks in an hour. */
export const RECORDED_OF_NETWORK_MAX = 60
export const RECORDED_OF_ALL_MAX = 1_000

export type RefusalKind =
  | 'sign_in_failed'
  | 'sign_in_throttled'
  | 'second_factor_failed'
  | 'passkey_refused'
  | 'form_refused'
  | 'group_refused'
  | 'client_refused'
  | 'client_throttled'
  | 'code_replayed'
  | 'refresh_token_replayed'

export type RefusalRecord = {
  kind: RefusalKind
  address: string
  at: Date
  user_id?: bigint | undefined
  client_id?: string | undefined
  detail?: Record<string, string>
}

const CLIENT_ID_LENGTH_MAX = 64

/**
 * Records a refusal, unless its kind has reached a bound. Simultaneous refusals do not see each other, so they exceed a bound by
 * one for each connection at most. The bounds only limit the size of the record.
 */
export async function recordRefusal(db: Db, refusal: RefusalRecord): Promise<void> {
  const { kind, address, at, user_id = null, client_id, detail = {} } = refusal
  const network = networkOf(address)
  const [minute_ago, hour_ago] = [60_000, 3_600_000].map((ms) => new Date(at.getTime() - ms))
  await sql`
    insert into security_events (kind, user_id, client_id, address, network, detail, at)
    select ${kind}, ${user_id}::bigint, ${client_id?.slice(0, CLIENT_ID_LENGTH_MAX) ?? null}, ${address}, ${network},
      ${JSON.stringify(detail)}::jsonb, ${at}
    where (
      select count(*) from (
        select from security_events where network = ${network} and kind = ${kind} and at > ${minute_ago}
        limit ${RECORDED_OF_NETWORK_MAX}
      ) as recent
    ) < ${RECORDED_OF_NETWORK_MAX} and (
      select count(*) from (
        select from security_events where kind = ${kind} and at > ${hour_ago} limit ${RECORDED_OF_ALL_MAX}
      ) as recent
    ) < ${RECORDED_OF_ALL_MAX}
  `.execute(db)
}
