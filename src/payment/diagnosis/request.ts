/** A request to judge, and what its application has. */
import type { Field } from './pasted.ts'
import type { OwnKeys } from './schemes.ts'

export type Door = 'hmac' | 'v1' | 'v2'

export type Request = {
  fields: readonly Field[]
  /** Of a request that came in, where it came in. */
  door?: 'hmac' | 'gateway' | undefined
  /** The Payment ID in its address. */
  payment_id?: string | undefined
  charset?: string | undefined
  nested?: readonly string[]
}

export type Standing = { keys: OwnKeys; accepts: { v1: boolean; v2: boolean }; now: Date }
