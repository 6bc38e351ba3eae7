/** The plan of the demo's history. */
import { describe, expect, it } from 'vitest'
import { SHOPS } from '../../src/demo/cast.ts'
import { dayOf, planOrders } from '../../src/demo/plan.ts'

const NOW = new Date('2026-11-22T10:00:00Z')

describe('the planned history', () => {
  const orders = planOrders(NOW)

  it('is the same at every first start', () => {
    expect(planOrders(NOW)).toEqual(orders)
  })

  it('covers sixty days and stays small', () => {
    expect(new Set(orders.map(({ at }) => dayOf(at))).size).toBeGreaterThanOrEqual(60)
    expect(orders.length).toBeLessThan(350)
  })

  it.each(Object.keys(SHOPS))('sells less in the month before than in the last one (%s)', (name) => {
    const paid = orders.filter(({ shop, paidAt }) => shop === name && paidAt !== undefined)
    const sum = (all: typeof paid) => all.reduce((points, { product }) => points + Number(product.amount), 0)
    const isLast = ({ at }: { at: Date }) => NOW.getTime() - at.getTime() < 30 * 86_400_000
    const [last, before] = [sum(paid.filter(isLast)), sum(paid.filter((order) => !isLast(order)))]
    expect(before / last).toBeGreaterThan(0.6)
    expect(before / last).toBeLessThan(0.9)
  })

  it('goes forward and ends before the demo begins', () => {
    const times = orders.map(({ at }) => at.getTime())
    expect([...times].sort((a, b) => a - b)).toEqual(times)
    for (const { at, paidAt } of orders) expect((paidAt ?? at).getTime()).toBeLessThan(NOW.getTime())
  })

  it('has unpaid and refunded orders, and no owner who buys from the own shop', () => {
    expect(orders.some(({ paidAt }) => paidAt === undefined)).toBe(true)
    expect(new Set(orders.map(({ refund }) => refund))).toEqual(new Set([undefined, 'full', 'half']))
    for (const { shop, buyer } of orders) expect(buyer).not.toBe(SHOPS[shop].owner)
  })

  it.each(['2026-01-01T00:00:30Z', '2028-02-29T15:59:59Z'])('can be made at %s', (moment) => {
    expect(planOrders(new Date(moment)).length).toBeGreaterThan(150)
  })
})
