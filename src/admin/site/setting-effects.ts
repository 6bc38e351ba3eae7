/** What important changes of settings do, in words. The page asks once more before it saves them. */
import type { Locale } from '../../web/languages.ts'
import { percentOf } from '../wording/percent.ts'
import { baseOf } from '../wording/setting-groups.ts'
import type { SettingDraft } from './setting-form.ts'

/** Points of the example of a fee. */
const EXAMPLE_TEN_THOUSANDTHS = 1_000n * 10_000n

/** Returns the effect of an important change. Undefined for every other change. */
export function effectOf({ t, points }: Locale, { name, before, after }: SettingDraft): string | undefined {
  const base = baseOf(name)
  const { effects } = t.settings
  if (base === 'points_payment_fee_rate') {
    return effects.feeOfPayments(points(feeOfExample(before)), points(feeOfExample(after)))
  }
  if (base === 'points_transfer_fee_rate') return effects.feeOfTransfers
  if (base === 'time_zone') return effects.time_zone
  if (base === 'point_zh_cn' || base === 'point_one_en' || base === 'point_many_en') return effects.point
  const switched = (effects as Record<string, unknown>)[base]
  if (typeof switched !== 'object' || switched === null) return undefined
  return (switched as Record<string, string>)[after]
}

/** Returns the fee of 1,000 points, rounded down as a payment does. */
function feeOfExample(share: string): bigint {
  const [whole = '0', places = ''] = percentOf(share).split('.')
  const tenThousandths = BigInt(whole + places.padEnd(4, '0'))
  return (EXAMPLE_TEN_THOUSANDTHS * tenThousandths) / (100n * 10_000n) / 10_000n
}
