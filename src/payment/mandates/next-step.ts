/** Describes the offer behind the address of a mandate page, for the sign-in page before it. */
import type { Core } from '../../core/core.ts'
import type { NextStep } from '../../web/next-steps.ts'
import { findMandate } from './mandates.ts'
import { findShop } from './shop.ts'

const MANDATE_PAGE = /^\/payment\/mandate\/(mdt_[a-z0-9]{24})(?![a-z0-9])/

/** Makes the description of mandate pages. It tells terms only while any member may accept them. */
export function makeDescribeOffer({ db, settings, clock }: Core) {
  return async (path: string): Promise<NextStep | undefined> => {
    const mandate_id = MANDATE_PAGE.exec(path)?.[1]
    if (mandate_id === undefined || (await settings.read()).mandates !== 'on') return undefined
    const mandate = await findMandate(db, { mandate_id }, clock())
    if (mandate === undefined) return undefined
    const { name, logo_url, exit } = await findShop(db, mandate.app_id)
    const { kind, charge_max, period_max, period, purpose, book, status, only_user_id } = mandate
    const asked = { kind, charge_max, period_max, period, purpose, isTest: book === 'test' }
    const isForAll = status === 'pending' && only_user_id === null
    return {
      app: { name, logo_url },
      order: undefined,
      ...(isForAll ? { mandate: asked } : {}),
      isPayment: true,
      exit,
    }
  }
}
