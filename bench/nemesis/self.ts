/** What every client of a run has, and how it asks. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../src/database/connection.ts'
import type { Buyer } from '../../test/faults/world.ts'
import type { Merchants } from './merchants.ts'
import type { People } from './people.ts'
import type { Random } from './plan.ts'
import type { Answer, Client, Recorder, Verdict } from './recorder.ts'

export type World = {
  people: People
  merchants: Merchants
  recorder: Recorder
  url: string
  /** Reaches the database, for sessions to end. */
  withDatabase<T>(use: (db: Db) => Promise<T>): Promise<T>
  seed: number
  /** The mean pause of a client between two acts, in ms. */
  pace: number
  /** Nobody asks again after this moment. */
  hasEnded: () => boolean
}

export type Self = World & { buyer: Buyer; client: Client; random: Random; n: number; count: number }

export const AMOUNT_MAX = 500
export const REPEATS = 0.15
export const REFUNDS = 0.15
export const ALONE = 0.5

/** Half to one and a half times the pace. */
export const think = ({ pace, random }: Self) => sleep(pace * (0.5 + random.next()))

export const form = (fields: Record<string, string>, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers,
  body: new URLSearchParams(fields),
})

export const asMember = (session: string) => ({ accept: 'text/html', cookie: `tessera_session=${session}` })

export const json =
  (read: (body: Record<string, unknown>, answer: Answer) => Verdict) =>
  (answer: Answer): Verdict =>
    read(JSON.parse(answer.text), answer)
