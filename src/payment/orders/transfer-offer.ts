/** What a page shows before its form sends points: the balance, the bounds, the fee, and why nothing can be sent now. */
import type { Core } from '../../core/core.ts'
import type { SettingValues } from '../../core/setting-values.ts'
import type { Book } from '../../database/tables/columns.ts'
import { percentOf } from '../wire-fields/money.ts'
import { isReadOnly } from './repeats.ts'
import { byLevel, quoteTransfer, type TransferQuote } from './transfers.ts'

/** The amount that the worked example of a fee has, in whole points. */
const EXAMPLE_POINTS = 100n

/** Why an application can send nothing now. */
export type TransfersClosed =
  | 'payments_paused'
  | 'transfers_disabled'
  | 'application_unusable'
  | 'wallet_frozen'

export type TransferOffer = Omit<TransferQuote, 'fee' | 'need'> & {
  /** The owner's fee in percent, as decimal text. */
  fee_percent: string
  /** What leaves the wallet so that this amount arrives. Undefined where the bounds refuse the amount. */
  example: { amount: bigint; need: bigint } | undefined
  closed: TransfersClosed | undefined
}

type App = { id: bigint; applicant_id: bigint; book: Book; status: string }

/** The terms on which the owner of an application sends points now, in whole points. post_transfers decides again. */
export async function transferOffer(deps: Core, app: App): Promise<TransferOffer> {
  const settings = await deps.settings.read()
  const [{ fee: _fee, need, ...quote }, { trust_level, frozen_at }] = await Promise.all([
    quoteTransfer(deps, app.id, EXAMPLE_POINTS),
    deps.db
      .selectFrom('users')
      .leftJoin('ledger_accounts as wallet', (on) =>
        on
          .onRef('wallet.user_id', '=', 'users.id')
          .on('wallet.book', '=', app.book)
          .on('wallet.kind', '=', 'wallet'),
      )
      .where('users.id', '=', app.applicant_id)
      .select(['users.trust_level', 'wallet.frozen_at'])
      .executeTakeFirstOrThrow(),
  ])
  const isWithin = EXAMPLE_POINTS >= quote.min && EXAMPLE_POINTS <= quote.max
  return {
    ...quote,
    fee_percent: percentOf(byLevel(settings, 'points_transfer_fee_rate')[trust_level] ?? '0'),
    example: isWithin ? { amount: EXAMPLE_POINTS, need } : undefined,
    closed: transfersClosed(settings, app) ?? (frozen_at ? 'wallet_frozen' : undefined),
  }
}

/** What refuses every new transfer of an application, apart from its wallet. Undefined while it may send. */
export function transfersClosed(
  settings: SettingValues,
  { status }: Pick<App, 'status'>,
): TransfersClosed | undefined {
  if (isReadOnly(settings)) return 'payments_paused'
  if (settings.points_transfers === 'off') return 'transfers_disabled'
  return status === 'approved' ? undefined : 'application_unusable'
}
