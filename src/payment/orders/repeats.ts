/**
 * Answers a repeated request with the result of the first one, even if new acts are refused now: spec/points 3.2. The site's
 * read-only setting refuses new orders, payments and transfers: spec/points 3.3.
 */

import type { Core } from '../../core/core.ts'
import type { SettingValues } from '../../core/setting-values.ts'
import { AppError } from '../../platform/errors.ts'

/** The retry delay that a refusal suggests. */
const RETRY_SECONDS = 60

/**
 * Runs the checks that only a new act must pass. If they pass, returns undefined without a look-up. If one refuses,
 * returns the result of the first request by `find`, or throws the refusal.
 */
export async function madeBefore<Made>(
  requireAllowed: () => Promise<void>,
  find: () => Promise<Made | undefined>,
): Promise<Made | undefined> {
  try {
    await requireAllowed()
    return undefined
  } catch (refused) {
    const made = refused instanceof AppError ? await find() : undefined
    if (made === undefined) throw refused
    return made
  }
}

/** Whether payments are paused. A change takes effect in every process within 2 s. */
export async function isPaused({ settings }: Pick<Core, 'settings'>): Promise<boolean> {
  return isReadOnly(await settings.read())
}

/** Whether the site's settings refuse new orders, payments and transfers. */
export function isReadOnly({ payments_read_only }: SettingValues): boolean {
  return payments_read_only === 'on'
}

/** Throws payments_paused while payments are paused. */
export function requireUnpaused(settings: SettingValues): void {
  if (!isReadOnly(settings)) return
  const options = { retry_after_seconds: RETRY_SECONDS }
  throw new AppError('payments_paused', 'Payments are paused for maintenance', options)
}
