/** Words and links for the movements of an account, as administrators read them. */
import { describeMovement } from '../../accounts/movements.ts'
import type { AccountMovement } from '../../ledger/journals.ts'
import type { Locale } from '../../web/languages.ts'

/** A movement with its words. */
export type ShownMovement = Pick<AccountMovement, 'journal_id' | 'amount' | 'posted_at'> & {
  /** What was bought, to or from whom it was sent, or why. */
  title: string
  /** The page of the order, the transfer or else the journal. */
  href: string
  word: string
  app: { payment_id: string; name: string; logo_url: string | null } | undefined
  /** The other member of a payment or a refund. The title names those of tips and transfers. */
  partner: { id: bigint; username: string } | undefined
  reason: string
}

/**
 * Describes a movement of a member's wallet, from the member's side.
 * @param user_id undefined for the account of fees, which has no side.
 */
export function showMovement(
  line: AccountMovement,
  user_id: bigint | undefined,
  locale: Locale,
): ShownMovement {
  const is_payer = line.from_user_id === user_id
  const is_tip = line.is_tip && user_id !== undefined
  const unused = { balance: null, refund_asked: null, app_name: null, transaction: null }
  const { title, notes, word } = describeMovement(
    { ...line, ...unused, is_payer, is_tip },
    // A list of many years.
    { ...locale, day: locale.dayOfYear },
  )
  return {
    ...{ journal_id: line.journal_id, amount: line.amount, posted_at: line.posted_at },
    title,
    href: hrefOf(line),
    word: user_id === undefined ? locale.t.account.kinds[line.kind] : word,
    app: appOf(line),
    partner: is_tip || user_id === undefined ? undefined : partnerOf(line, is_payer),
    reason: notes.join(),
  }
}

function hrefOf({ transaction_id, description, journal_id }: AccountMovement): string {
  if (transaction_id === null) return `/admin/journals/${journal_id}`
  return `/admin/${description === null ? 'transfers' : 'orders'}/${transaction_id}`
}

function appOf({ payment_id, app_name, app_logo_url }: AccountMovement): ShownMovement['app'] {
  return payment_id === null || app_name === null
    ? undefined
    : { payment_id, name: app_name, logo_url: app_logo_url }
}

function partnerOf(line: AccountMovement, is_payer: boolean): ShownMovement['partner'] {
  if (line.description === null) return undefined
  const [id, username] = is_payer
    ? [line.to_user_id, line.to_username]
    : [line.from_user_id, line.from_username]
  return id === null || username === null ? undefined : { id, username }
}
