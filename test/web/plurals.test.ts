/** English singular and plural in the texts of pages, and the words of a site for its points. */
import { expect, it } from 'vitest'
import { texts } from '../../src/texts.ts'
import { translate } from '../../src/web/languages.ts'
import { leavesOf } from '../views/texts.ts'

const PLURAL_OF_ONE =
  /\b1 (more )?(\uE002|members|lines|orders|payments|notifications|wallets|settings|rows|hosts|accounts|attempts|minutes|movements)/

/** Texts of counts that are never 1: fixed limits, and what is listed from two up. */
const NEVER_ONE = [
  'keepAccess.sent',
  'security.messages.recoverySent.text',
  'security.messages.confirmationSent.text',
  'security.messages.lockedOutSent.text',
  'letter.expires',
  'merchantOverview.newest.cut',
  'registry.members',
  'registry.bounded',
  'logoutDeliveries.attempts',
  'team.faults.full',
  'console.wallet.onlyWith',
  'console.abuse.why.byRecipient',
  'console.abuse.why.byAddress',
  'console.abuse.why.byTips',
  'console.find.newest',
  'settings.savedAll',
  'adjustments.problems.count',
]

it('a text of one thing uses the singular', () => {
  const wrong = leavesOf(texts).filter(([leaf]) => {
    if (typeof leaf !== 'function') return false
    const ones = Array.from({ length: leaf.length }, () => '1') as never[]
    try {
      return leavesOf(leaf(...ones) as object).some(([text]) => 'en' in text && PLURAL_OF_ONE.test(text.en))
    } catch {
      // It takes more than counts and names.
      return false
    }
  })
  expect(wrong.map(([, name]) => name).filter((name) => !NEVER_ONE.includes(name))).toEqual([])
})

it('an amount is counted in the words of the site', () => {
  const words = { site: 'Spark Forum', point: 'spark', points: 'sparks' }
  const { button } = translate(texts, 'en', words).adjustments.sheets.refund
  expect([button('1'), button('1,000')]).toEqual(['Refund 1 spark', 'Refund 1,000 sparks'])
})
