/**
 * The pages that ask before points move by hand: who gains and loses what, and every balance before and after.
 * Also the forms of refunds, reversals, grants and adjustments.
 */
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { PointsLine } from '../../accounts/points.ts'
import { TransactionId } from '../../payment/wire-fields/fields.ts'
import { Reason } from '../../web/forms/reason.ts'
import type { Locale } from '../../web/languages.ts'
import type { PageData } from '../../web/views.ts'
import { summaryOf } from './grants.ts'
import type { RefundQuote, ReversalQuote } from './quotes.ts'

/** Lines of a grant that the page names one by one. */
const LINES_SHOWN_MAX = 50

type Confirm = PageData['confirm']
type Fact = Confirm['facts'][number]
export type Sheet = Pick<Confirm, 'title' | 'lead' | 'facts' | 'notes' | 'button'>

/** The change of a member's wallet, and its balance before and after. */
function sideOf(locale: Locale, username: string, change: bigint, balance: bigint): Fact[] {
  const { t, points } = locale
  const tone = change < 0n ? ({ tone: 'bad' } as const) : ({ tone: 'good' } as const)
  return [
    { term: `@${username}`, value: locale.signed(change), ...tone },
    {
      term: t.adjustments.balanceOf(username),
      value: `${points(balance)} → ${points(balance + change)}`,
    },
  ]
}

/** Returns the page of a refund of some points of an order. */
export function sheetOfRefund(locale: Locale, quote: RefundQuote, amount: bigint): Sheet {
  const { t, points } = locale
  const c = t.adjustments
  const { payer, payee, fee_part, left } = quote
  const part = amount - fee_part
  const sides =
    payer === payee
      ? sideOf(locale, payer, fee_part, quote.payer_balance)
      : [
          ...sideOf(locale, payer, amount, quote.payer_balance),
          ...sideOf(locale, payee, -part, quote.payee_balance),
        ]
  return {
    title: c.sheets.refund.title(points(amount), payer),
    lead: c.sheets.refund.lead(quote.app_name, points(quote.amount)),
    facts: [
      ...sides,
      { term: c.feeBack, value: fee_part === 0n ? c.none : locale.signed(-fee_part) },
      { term: c.leftAfter, value: c.of(points(left - amount), points(quote.amount)) },
    ],
    notes: [c.sheets.refund.read],
    button: c.sheets.refund.button(points(amount)),
  }
}

/** Returns the page of a reversal of a transfer. */
export function sheetOfReversal(locale: Locale, quote: ReversalQuote): Sheet {
  const { t, points } = locale
  const c = t.adjustments
  const { sender, recipient, amount, fee_part } = quote
  return {
    title: c.sheets.reversal.title(points(amount), sender),
    lead: c.sheets.reversal.lead(quote.app_name),
    facts: [
      ...sideOf(locale, sender, amount + fee_part, quote.sender_balance),
      ...sideOf(locale, recipient, -amount, quote.recipient_balance),
      { term: c.feeBack, value: fee_part === 0n ? c.none : locale.signed(-fee_part) },
    ],
    notes: [c.sheets.reversal.read],
    button: c.sheets.reversal.button(points(amount)),
  }
}

/** Returns the page of grants and adjustments. */
export function sheetOfGrant(locale: Locale, lines: PointsLine[]): Sheet {
  const { t, points } = locale
  const c = t.adjustments
  const { granted, taken, members } = summaryOf(lines)
  const [only] = lines
  const { title, give, take } = c.sheets.points
  const one =
    only &&
    (only.amount < 0n ? take(points(-only.amount), only.username) : give(points(only.amount), only.username))
  return {
    title: lines.length === 1 && one ? one : title(members.length),
    lead: c.sheets.points.lead,
    facts: [
      { term: c.granted, value: locale.signed(granted) },
      ...(taken > 0n ? [{ term: c.taken, value: locale.signed(-taken), tone: 'bad' as const }] : []),
      { term: c.members, value: points(members.length) },
      ...lines
        .slice(0, LINES_SHOWN_MAX)
        .map(({ username, amount }) => ({ term: `@${username}`, value: locale.signed(amount) })),
      ...(lines.length > LINES_SHOWN_MAX
        ? [{ term: c.moreLines(points(lines.length - LINES_SHOWN_MAX)), value: '…' }]
        : []),
    ],
    notes: [c.sheets.points.read],
    button: c.sheets.points.button,
  }
}

/** Asks to confirm an act. Where two administrators are needed, the button makes a proposal. */
export function confirmPage(
  reply: FastifyReply,
  sheet: Sheet,
  { form, key, isProposal }: { form: PointsActForm; key: string; isProposal: boolean },
): FastifyReply {
  const { locale, url } = reply.request
  const { t } = locale
  const { proposals } = t.console
  const typed = Object.entries(form).filter((field): field is [string, string] => field[1] !== undefined)
  return reply.page('confirm', {
    ...sheet,
    notes: [
      `${t.common.reason}${t.common.colon}${form.reason}`,
      ...sheet.notes,
      ...(isProposal ? [proposals.needed] : []),
    ],
    action: url,
    fields: { ...Object.fromEntries(typed), key },
    button: isProposal ? proposals.propose : sheet.button,
    isDanger: false,
    cancel: 'transaction_id' in form ? `/admin/adjustments?id=${form.transaction_id}` : '/admin/adjustments',
  })
}

const withFee = z.literal('on').optional()
const key = z.string().regex(/^[\w-]{43}$/)
const requestId = z
  .string()
  .regex(/^\d{1,18}$/)
  .optional()

/** The first step of an act, and the second with the key. */
export const PointsActForm = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('refund'),
    transaction_id: TransactionId,
    amount: z.string().regex(/^[1-9]\d{0,15}$/),
    with_fee: withFee,
    reason: Reason,
    /** The merchant's refund request that this refund accepts. */
    request_id: requestId,
    key: key.optional(),
  }),
  z.object({
    kind: z.literal('reversal'),
    transaction_id: TransactionId,
    with_fee: withFee,
    reason: Reason,
    key: key.optional(),
  }),
  z.object({
    kind: z.literal('points'),
    lines: z.string().min(1).max(50_000),
    reason: Reason,
    key: key.optional(),
  }),
])
export type PointsActForm = z.output<typeof PointsActForm>

/** The first step of giving one member points, or of taking them. */
export const MemberForm = z.object({
  kind: z.literal('member'),
  username: z
    .string()
    .trim()
    .transform((name) => name.replace(/^@/, ''))
    .pipe(z.string().regex(/^[^\s,]{1,60}$/)),
  direction: z.enum(['give', 'take']),
  // As many digits as a line has.
  amount: z.string().regex(/^[1-9]\d{0,14}$/),
  reason: Reason,
})
export const isOfMember = (body: unknown): boolean => MemberForm.pick({ kind: true }).safeParse(body).success
