/**
 * Checks pages on a phone with the highest amounts and long names, also from right to left: nothing is cut off, wider than the
 * page, spread to a letter a line, or broken within a number or a short word.
 */
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changePerson } from '../../harness/cast.ts'
import { sharedChromium } from '../../harness/chromium.ts'
import type { ListedPage } from './list.ts'
import { reach } from './ways.ts'
import { LOOKS, openWindow } from './windows.ts'
import type { Role, World } from './world.ts'

const POINTS_MAX = 2n ** 53n - 1n
/** Names of 40 characters: from right to left, without a space, and in Chinese. */
const NAMES = [
  'متجر الكتب والقهوة والشاي والهدايا الجميل',
  'Donaudampfschifffahrtsgesellschaftskapit',
  '星火论坛贴纸与明信片和书签以及所有其他可爱小物件的官方合作专卖店暨读书会会员服务中心',
].map((name) => [...name].slice(0, 40).join(''))
const LONG = `${NAMES[1]} ${NAMES[0]} ${NAMES[2]}`

/** Declares a test for each page. They change the site, so they come last. */
export function testExtremes(pages: ListedPage[], worldOf: () => World): void {
  const windows = new Map<Role, Promise<Page>>()

  beforeAll(() => makeExtreme(worldOf()))
  afterAll(async () => {
    for (const window of windows.values()) await (await window).context().close()
  })

  async function windowOf(role: Role): Promise<Page> {
    const window = windows.get(role) ?? openWindow(await sharedChromium(), worldOf(), role, LOOKS[0])
    windows.set(role, Promise.resolve(window))
    return window
  }

  test.each(pages)('$name', async (listed) => {
    const page = await windowOf(listed.as)
    const failed: string[] = []
    page.on('response', (answer) => answer.status() >= 500 && failed.push(answer.url()))
    await reach(page, listed, worldOf())
    page.removeAllListeners('response')
    expect(failed).toEqual([])
    expect(await layoutFaults(page)).toEqual([])
  })
}

/** Gives every wallet, movement, order and mandate of the site the highest amount, and everybody a long name. */
async function makeExtreme({ test, people }: World): Promise<void> {
  for (const person of [people.buyer, people.merchant]) {
    person.username = `${person.username}-${NAMES[1]}`.slice(0, 40)
    await changePerson(test, person, { username: person.username })
  }
  const max = sql`${POINTS_MAX}::bigint`
  const name = sql`(${NAMES}::text[])[1 + id % 3]`
  await test.db.transaction().execute(async (tx) => {
    // No act leads to these states, so the triggers that guard the acts are out of the way.
    await sql`set local session_replication_role = replica`.execute(tx)
    for (const change of [
      sql`update users set name = ${name}`,
      sql`update oauth_apps set name = ${name}`,
      sql`update payment_apps set name = ${name}, description = ${LONG}, daily_payments_max = ${max}`,
      sql`update ledger_accounts set balance = ${max} where kind = 'wallet' and balance > 0`,
      sql`update entries set amount = sign(amount) * ${max}`,
      // The charges of a mandate keep their amounts, which add up.
      sql`update orders set description = ${LONG}`,
      sql`update orders set amount = ${max}, fee = fee - fee + 1, merchant_points = fee - fee + ${max} - 1,
        refunded_amount = case refunded_amount when 0 then 0 when amount then ${max} else ${max} - 1 end
        where mandate_id is null`,
      sql`update transfers set amount = ${max} - 1, fee = 1`,
      sql`update refunds set amount = ${max}, fee_part = 1, reason = ${LONG}`,
      sql`update refund_requests set amount = ${max}, reason = ${LONG}`,
      sql`update mandates set purpose = ${LONG}, asked_charge_max = ${max}, asked_period_max = ${max},
        charge_max = ${max}, period_max = ${max}`,
      sql`update payment_app_takings set points = ${max}, merchant_points = ${max}`,
    ])
      await change.execute(tx)
  })
}

/** What is wrong with how a page lays out its text: cut off or wider than the page, a letter a line, broken within a number. */
async function layoutFaults(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const faults: string[] = []
    const excess = document.documentElement.scrollWidth - innerWidth
    const sticksOut = (element: Element) => element.getBoundingClientRect().right > innerWidth
    const widest = [...document.body.querySelectorAll('*')].filter(sticksOut).at(-1)
    if (excess > 0) faults.push(`${excess} pixels too wide: ${widest && where(widest)}`)
    const range = document.createRange()
    /** The lines over which a part of a text is spread. */
    const linesOf = (node: Node, from: number, to: number) => {
      range.setStart(node, from)
      range.setEnd(node, to)
      return new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom / 4))).size
    }
    /** The nearest element around a text that cuts off what does not fit, unless it is said to do so. */
    const cutterOf = (start: Element) => {
      for (let at: Element | null = start; at !== null; at = at.parentElement) {
        const { overflowX, textOverflow } = getComputedStyle(at)
        if (overflowX === 'auto' || overflowX === 'scroll' || textOverflow === 'ellipsis') return undefined
        if (at.matches('.clip, .tile, .avatar, svg')) return undefined
        if (overflowX === 'hidden' || overflowX === 'clip') return at
      }
      return undefined
    }
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
      const node = texts.currentNode as Text
      const parent = node.parentElement!
      const text = node.data
      if (text.trim() === '' || !parent.checkVisibility() || parent.closest('.hush, thead, script, option'))
        continue
      const found = (fault: string) =>
        faults.push(`${fault}: ${text.trim().slice(0, 60)} in ${where(parent)}`)
      const lines = linesOf(node, 0, text.length)
      if (lines > 2 && text.trim().length / lines < 4) found('few letters a line')
      const { left, right } = range.getBoundingClientRect()
      const cutter = cutterOf(parent)?.getBoundingClientRect()
      if (cutter !== undefined && (left < cutter.left - 1 || right > cutter.right + 1)) found('cut off')
      const isCode = parent.closest('code, pre, .code') !== null
      const whole = isCode ? [] : text.matchAll(/(?<=^|[\s“(+−@])[A-Za-z]{2,14}(?=$|[\s.,:;)”])/g)
      for (const { 0: word, index } of [
        ...whole,
        ...text.matchAll(/(?<![\w.-])\d{1,3}(?=,|$|\s)|(?<=,\u200b?)\d{3}\b/g),
      ])
        if (linesOf(node, index, index + word.length) > 1) found(`“${word}” is broken`)
    }
    return [...new Set(faults)]

    function where(element: Element): string {
      const names = [element, element.parentElement!].map(
        ({ tagName, className }) => `${tagName}.${className}`,
      )
      return names.join(' < ').toLowerCase()
    }
  })
}
