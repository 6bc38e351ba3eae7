/** The record of security decisions: who was refused what, for whoever looks into an attack. Nothing secret is in it. */
import { sql } from 'kysely'
import type { Db } from './database/connection.ts'

/** Of one kind and one address, so that nobody fills the record. */
const RECORDED_PER_MINUTE_MAX = 60

export type RefusalKind =
  | 'sign_in_failed'
  | 'sign_in_throttled'
  | 'second_factor_failed'
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

export async function recordRefusal(db: Db, refusal: RefusalRecord): Promise<void> {
  const { kind, address, at, user_id = null, client_id, detail = {} } = refusal
  const since = new Date(at.getTime() - 60_000)
  await sql`
    insert into security_events (kind, user_id, client_id, address, detail, at)
    select ${kind}, ${user_id}::bigint, ${client_id?.slice(0, CLIENT_ID_LENGTH_MAX) ?? null}, ${address},
      ${JSON.stringify(detail)}::jsonb, ${at}
    where (
      select count(*) from (
        select from security_events where address = ${address} and kind = ${kind} and at > ${since}
        limit ${RECORDED_PER_MINUTE_MAX}
      ) as recent
    ) < ${RECORDED_PER_MINUTE_MAX}
  `.execute(db)
}
