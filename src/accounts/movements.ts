/** Words and pictures for the movements of a wallet, on the statement and on the home page. */

import type { StatementLine } from '../ledger/wallet.ts'
import type { Icon } from '../web/icons.ts'
import type { Locale, Messages } from '../web/languages.ts'
import { plainText } from '../web/parameters.ts'
import { dayOfForumScore } from './forum/score-reason.ts'

/** A movement as pages show it. */
export type Movement = StatementLine & {
  /** What kind of movement it was for this member, such as a sale or a partial refund. */
  word: string
  title: string
  /** The shop, and the reason beside a title of its own. */
  notes: string[]
  /** The page of the order, for its payer and for the owner of the application. */
  href: string | undefined
  icon: Icon
}

const ICONS = {
  grant: 'gift',
  payment: 'receipt',
  transfer: 'swap',
  refund: 'refund',
  reversal: 'refund',
  adjustment: 'sliders',
} as const satisfies Record<StatementLine['kind'], Icon>

/** Describes a movement of the live book, or of the test book with its play points. */
export function describeMovement(
  line: StatementLine,
  { t: { account: t }, day }: Pick<Locale, 't' | 'day'>,
  isTest = false,
): Movement {
  if (line.is_tip) return describeTip(line, t)
  const partner = partnerOf(line, t)
  const reason =
    line.reason === null ? undefined : reasonOf(line.reason, { t, day }, isTest && line.kind === 'grant')
  const named = line.description ?? partner
  const word = wordOf(line, t)
  return {
    ...line,
    word,
    title: plainText(named ?? reason ?? word),
    notes: [line.app_name, named && reason && plainText(reason)].filter((note) => Boolean(note)) as string[],
    href: hrefOf(line),
    icon: ICONS[line.kind],
  }
}

/** The other member of a transfer, as this one sees it. A reversal names whom the points come back from. */
function partnerOf(line: StatementLine, t: Messages['account']): string | undefined {
  const { kind, amount, from_username, to_username } = line
  if (from_username === null || to_username === null) return undefined
  const isSender = kind === 'reversal' ? amount > 0n : amount < 0n
  return isSender ? t.toMember(to_username) : t.fromMember(from_username)
}

/** A tip names the other member. Its application is the site's own, so it names none. */
function describeTip(line: StatementLine, t: Messages['account']): Movement {
  const partner = line.is_payer ? t.tipTo(line.to_username!) : t.tipFrom(line.from_username!)
  return {
    ...line,
    word: wordOf(line, t),
    ...{ app_name: null, app_logo_url: null },
    title: plainText(partner),
    notes: line.reason === null ? [] : [plainText(line.reason)],
    href: hrefOf(line),
    icon: line.kind === 'payment' ? 'gift' : ICONS[line.kind],
  }
}

function wordOf(line: StatementLine, { words }: Messages['account']): string {
  const isGain = line.amount > 0n
  switch (line.kind) {
    case 'payment':
      if (line.is_tip) return isGain ? words.tipReceived : words.tipGiven
      return isGain ? words.sale : words.payment
    case 'transfer':
      return isGain ? words.received : words.sent
    case 'refund':
      if (!line.is_payer) return line.is_tip ? words.tipReturned : words.refundedToBuyer
      return line.order_amount !== null && line.amount < line.order_amount
        ? words.partialRefund
        : words.refund
    default:
      return words[line.kind]
  }
}

/** The service's own reasons are stored in English; people's are shown as they wrote them. */
export function reasonOf(
  reason: string,
  { t, day }: { t: Messages['account']; day: Locale['day'] },
  isPlayPoints: boolean,
): string {
  if (isPlayPoints) return t.playPoints
  const scored = dayOfForumScore(reason)
  return scored === undefined ? reason : t.forumScore(day(scored))
}

function hrefOf({ transaction_id, is_payer, payment_id }: StatementLine): string | undefined {
  if (transaction_id === null) return undefined
  if (is_payer) return `/payment/pay/${transaction_id}`
  return payment_id === null ? undefined : `/payment/applications/${payment_id}/orders/${transaction_id}`
}
