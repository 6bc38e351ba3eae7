/** Waiting for events, in tests and in programs that run without vitest. */
import { setTimeout as sleep } from 'node:timers/promises'

/** How long a test waits for an event that never comes. It ends a test that hangs, and is no bound of a rule. */
export const WAIT_MS_MAX = 300_000

/** Resolves once the condition holds. Throws after `timeout` ms. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  { timeout, interval, what }: { timeout: number; interval: number; what: string },
): Promise<void> {
  const deadline = performance.now() + timeout
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Waited ${timeout} ms in vain: ${what}`)
    await sleep(interval)
  }
}

/** Resolves with the first value of the condition that is true. The time limit is the same for all, and never a rule's. */
export async function until<T>(condition: () => T | Promise<T>): Promise<NonNullable<T>> {
  let value = await condition()
  const isTrue = async () => {
    value ||= await condition()
    return Boolean(value)
  }
  await waitUntil(isTrue, { timeout: WAIT_MS_MAX, interval: 10, what: String(condition) })
  return value!
}
