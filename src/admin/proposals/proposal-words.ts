/** Proposals in words: what each one would do, in figures. */
import type { FastifyReply } from 'fastify'
import type { SettingName } from '../../core/setting-values.ts'
import { FormRefused } from '../../web/forms/forms.ts'
import type { Locale } from '../../web/languages.ts'
import { plainText } from '../../web/parameters.ts'
import { percentOf } from '../wording/percent.ts'
import { settingLabel, settingValue } from '../wording/setting-words.ts'
import type { StoredAct } from './acts.ts'
import type { EarlierProposal } from './proposals.ts'

/** `isCode`: the value is an identifier. */
export type ProposedFact = { term: string; value: string; href?: string; isCode?: boolean }

/** Returns what a proposal would do, in one line. */
export function proposedTitle(locale: Locale, act: StoredAct): string {
  const { titles } = locale.t.console.proposals
  const { points } = locale
  switch (act.kind) {
    case 'refund':
      return titles.refund(points(BigInt(act.amount)))
    case 'reversal':
      return titles.reversal
    case 'points': {
      const [granted, taken] = sumsOf(act.lines)
      const n = act.lines.length
      if (taken === 0n) return titles.grant(points(granted), n)
      return granted === 0n
        ? titles.deduct(points(taken), n)
        : titles.points(points(granted), points(taken), n)
    }
    case 'setting':
      return titles.setting(
        settingLabel(locale, act.setting as SettingName),
        settingValue(locale, act.setting as SettingName, act.value),
      )
    case 'terms':
      return titles.terms
  }
}

function sumsOf(lines: { amount: string }[]): [bigint, bigint] {
  const amounts = lines.map(({ amount }) => BigInt(amount))
  const sum = (of: bigint[]) => of.reduce((total, amount) => total + amount, 0n)
  return [sum(amounts.filter((amount) => amount > 0n)), -sum(amounts.filter((amount) => amount < 0n))]
}

/** An order or a transfer that a proposal is about: what was bought or who sent it to whom, the shop, and the buyer of an order. */
export type Transaction = { title: string; shop: string; payer: string | null }

/** Returns the details of a proposal. `things` has the transactions by their ids. */
export function proposedFacts(
  locale: Locale,
  act: StoredAct,
  things: Map<string, Transaction>,
): ProposedFact[] {
  const { t, points } = locale
  const c = t.console.proposals
  switch (act.kind) {
    case 'refund':
    case 'reversal': {
      const { transaction_id, with_fee } = act
      const href = `/admin/${act.kind === 'refund' ? 'orders' : 'transfers'}/${transaction_id}`
      const thing = things.get(transaction_id)
      return [
        ...(thing === undefined
          ? []
          : [
              { term: c.transaction, value: plainText(thing.title), href },
              { term: t.pay.payee, value: thing.shop },
              ...(thing.payer === null ? [] : [{ term: t.merchantOrders.payer, value: `@${thing.payer}` }]),
            ]),
        { term: t.pay.transaction, value: transaction_id, href, isCode: true },
        { term: c.fee, value: with_fee ? c.withFee : c.withoutFee },
      ]
    }
    case 'points':
      return act.lines.map(({ user_id, username, amount }) => ({
        term: `@${username}`,
        value: t.common.points(locale.signed(BigInt(amount)), BigInt(amount)),
        href: `/admin/wallets/${user_id}`,
      }))
    case 'setting':
      return [{ term: c.key, value: act.setting, isCode: true }]
    case 'terms': {
      const { fee_rate, daily_payments_max, daily_transfers_max } = act.terms
      const limit = (max: string | null) => (max === null ? c.noLimit : points(BigInt(max)))
      return [
        {
          term: t.paymentApps.paymentId,
          value: act.payment_id,
          href: `/admin/payment-applications/${act.payment_id}`,
          isCode: true,
        },
        { term: c.feeRate, value: fee_rate === null ? c.siteRate : `${percentOf(fee_rate)}%` },
        { term: c.dailyPayments, value: limit(daily_payments_max) },
        { term: c.dailyTransfers, value: limit(daily_transfers_max) },
      ]
    }
  }
}

/** Answers an act that became a proposal. Throws FormRefused if another proposal blocks it. */
export function answerProposed(reply: FastifyReply, earlier: EarlierProposal | undefined): FastifyReply {
  const { locale } = reply.request
  refuseEarlier(locale, earlier)
  return reply.done('/admin/proposals', { text: locale.t.console.proposals.proposed, tone: 'warn' })
}

/** Throws FormRefused if another proposal is open. `what` names it on a page of several. */
export function refuseEarlier({ t }: Locale, earlier: EarlierProposal | undefined, what?: string): void {
  if (earlier === undefined) return
  const { proposals } = t.console
  const { decision, proposer } = earlier
  const text = proposals.earlier[decision ?? 'open'](proposer)
  const link = { href: `/admin/proposals${decision ? '?show=all' : ''}`, label: proposals.title }
  throw new FormRefused({ '': what === undefined ? text : [what, text] }, 'conflict', link)
}
