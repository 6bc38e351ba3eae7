/** Keeps what happens as it happens, and asks the service on behalf of clients. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Act, Facts, Kind, Outcome } from './history.ts'

/** A client gives up after this time, and does not know what came of its request. */
const PATIENCE_MS = 12_000
const PAUSE_MS = 200

export type Recorder = {
  acts: Act[]
  /** Milliseconds since the run began. */
  now(): number
  add(act: Omit<Act, 'id'>): Act
}

export function makeRecorder(): Recorder {
  const acts: Act[] = []
  const began = performance.now()
  return {
    acts,
    now: () => performance.now() - began,
    add(rest) {
      const act = { id: acts.length + 1, ...rest }
      acts.push(act)
      return act
    },
  }
}

export type Answer = { status: number; location: string; text: string }
export type Verdict = { outcome: Outcome; told?: Facts }

/** A request, and what its answer means. An error of the server never gets to `read`. */
export type Wish = {
  kind: Kind
  subject: string
  asked: Facts
  path: string
  init?: RequestInit
  read: (answer: Answer) => Verdict
}

/** One client of the service. */
export type Client = {
  name: string
  /** Asks once. */
  ask(wish: Wish): Promise<Act>
  /** Asks again until there is an answer, or the run has ended. */
  insist(wish: Wish): Promise<Act>
}

export function makeClient(
  name: string,
  { url, recorder, hasEnded }: { url: string; recorder: Recorder; hasEnded: () => boolean },
): Client {
  const ask = async ({ kind, subject, asked, path, init, read }: Wish, since: number): Promise<Act> => {
    const from = recorder.now()
    let [status, process]: [number, string] = [0, '']
    let verdict: Verdict = { outcome: 'unknown' }
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS)
      const response = await fetch(`${url}${path}`, { redirect: 'manual', signal, ...init })
      status = response.status
      process = response.headers.get('x-served-by') ?? ''
      const text = await response.text()
      const location = response.headers.get('location') ?? ''
      if (status < 500 && status !== 429) verdict = read({ status, location, text })
    } catch {
      // An answer that was cut off says nothing.
      verdict = { outcome: 'unknown' }
    }
    const to = recorder.now()
    const { outcome, told = {} } = verdict
    return recorder.add({
      client: name,
      kind,
      subject,
      from,
      to,
      outcome,
      status,
      process,
      asked: { ...asked, since },
      told,
    })
  }
  return {
    name,
    ask: (wish) => ask(wish, Math.round(recorder.now())),
    async insist(wish) {
      const since = Math.round(recorder.now())
      for (;;) {
        const act = await ask(wish, since)
        if (act.outcome !== 'unknown' || hasEnded()) return act
        await sleep(PAUSE_MS)
      }
    },
  }
}
