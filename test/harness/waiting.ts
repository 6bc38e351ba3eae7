/** Waiting outside the tests, where vitest has no part. */
import { setTimeout as sleep } from 'node:timers/promises'

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
