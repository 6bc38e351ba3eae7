/** What important changes of settings do, in words. The page asks once more before it saves them. */
import { baseOf, type SettingBaseName } from '../../core/setting-values.ts'
import type { Locale } from '../../web/languages.ts'
import { percentOf } from '../wording/percent.ts'
import type { SettingDraft } from './setting-form.ts'

/** Points of the example of a fee. */
const EXAMPLE_POINTS = 1_000n
/** A percentage has four decimals at most. */
const DECIMALS = 4

type Switch = { on: string; off: string }

/** Returns the effect of an important change. Undefined for every other change. */
export function effectOf(locale: Locale, { name, before, after }: SettingDraft): string | undefined {
  const { effects } = locale.t.settings
  const switched = ({ on, off }: Switch) => (after === 'on' ? on : off)
  switch (baseOf(name)) {
    case 'points_payment_fee_rate':
      return effects.feeOfPayments(locale.points(feeOfExample(before)), locale.points(feeOfExample(after)))
    case 'points_transfer_fee_rate':
      return effects.feeOfTransfers
    case 'time_zone':
      return effects.time_zone
    case 'point_zh_cn':
    case 'point_one_en':
    case 'point_many_en':
      return effects.point
    case 'payments_read_only':
      return switched(effects.payments_read_only)
    case 'second_approver':
      return switched(effects.second_approver)
    case 'points_transfers':
      return switched(effects.points_transfers)
    case 'mandates':
      return switched(effects.mandates)
    case 'payouts':
      return switched(effects.payouts)
    case 'links':
      return switched(effects.links)
    case 'access_keys':
      return switched(effects.access_keys)
    case 'registration':
      return after === 'open' ? effects.registration.open : effects.registration.closed
    case 'client_id_metadata_documents':
      return after === 'listed'
        ? undefined
        : effects.client_id_metadata_documents[after === 'any' ? 'any' : 'off']
    case 'gateway_at_root':
      return switched(effects.gateway_at_root)
    case 'admins_need_second_factor':
      return switched(effects.admins_need_second_factor)
    case 'forum_points_bridge':
      return switched(effects.forum_points_bridge)
    case 'tips':
      return switched(effects.tips)
    case 'forum_points_for_past_score':
      return switched(effects.forum_points_for_past_score)
    default:
      return undefined
  }
}

/** The changes that stop something which works, or remove a guard. */
const LOSSES: Partial<Record<SettingBaseName, string>> = {
  payments_read_only: 'on',
  points_transfers: 'off',
  mandates: 'off',
  payouts: 'off',
  links: 'off',
  access_keys: 'off',
  gateway_at_root: 'off',
  client_id_metadata_documents: 'off',
  second_approver: 'off',
  admins_need_second_factor: 'off',
}

/** Whether something can be lost by a change. */
export const isLoss = ({ name, after }: SettingDraft): boolean => LOSSES[baseOf(name)] === after

/** Returns the fee of the example, rounded down as a payment does. */
function feeOfExample(share: string): bigint {
  const [whole = '0', places = ''] = percentOf(share).split('.')
  const percent = BigInt(whole + places.padEnd(DECIMALS, '0'))
  return (EXAMPLE_POINTS * percent) / (100n * 10n ** BigInt(DECIMALS))
}
