/** Payments read-only: a setting of the site, under which nothing is placed, paid or transferred. */
import type { Core } from '../../core/core.ts'
import type { SettingValues } from '../../core/setting-values.ts'
import { AppError } from '../../platform/errors.ts'

/** When those who were refused may ask whether it is over. */
const RETRY_SECONDS = 60

/** Whether payments are paused. In force in every process within 2 s of the change. */
export async function isPaused({ settings }: Pick<Core, 'settings'>): Promise<boolean> {
  return isReadOnly(await settings.read())
}

function isReadOnly({ payments_read_only }: SettingValues): boolean {
  return payments_read_only === 'on'
}

/** Throws payments_paused while they are. */
export function requireUnpaused(settings: SettingValues): void {
  if (!isReadOnly(settings)) return
  const options = { retry_after_seconds: RETRY_SECONDS }
  throw new AppError('payments_paused', 'Payments are paused for maintenance', options)
}
