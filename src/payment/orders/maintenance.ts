/** The site's read-only setting, which pauses new orders, payments and transfers. spec/points 3.3. */
import type { Core } from '../../core/core.ts'
import type { SettingValues } from '../../core/setting-values.ts'
import { AppError } from '../../platform/errors.ts'

/** The retry delay that a refusal suggests. */
const RETRY_SECONDS = 60

/** Whether payments are paused. A change takes effect in every process within 2 s. */
export async function isPaused({ settings }: Pick<Core, 'settings'>): Promise<boolean> {
  return isReadOnly(await settings.read())
}

function isReadOnly({ payments_read_only }: SettingValues): boolean {
  return payments_read_only === 'on'
}

/** Throws payments_paused while payments are paused. */
export function requireUnpaused(settings: SettingValues): void {
  if (!isReadOnly(settings)) return
  const options = { retry_after_seconds: RETRY_SECONDS }
  throw new AppError('payments_paused', 'Payments are paused for maintenance', options)
}
