/** A request to judge, and the application's keys and versions to judge it with. */
import type { Config } from '../../platform/config.ts'
import type { Field } from '../signing/refused-requests.ts'
import type { OwnKeys } from './schemes.ts'

export type Door = 'hmac' | 'v1' | 'v2'

export type Request = {
  fields: readonly Field[]
  /** The door that refused the request; undefined for a pasted one. */
  door?: 'hmac' | 'gateway' | undefined
  /** The Payment ID in the address. */
  payment_id?: string | undefined
  nested?: readonly string[]
  /** The paste had `&amp;` between its parameters. */
  isUnescaped?: boolean | undefined
}

/** What the application accepts at a moment. */
export type Receiver = {
  keys: OwnKeys
  accepts: { v1: boolean; v2: boolean }
  /** Points for a unit of the merchant's currency, as decimal text. */
  exchange_rate: string
  /** The setting NOTIFY_ALLOW_CIDRS. */
  allowedCidrs: Config['NOTIFY_ALLOW_CIDRS']
  now: Date
}
