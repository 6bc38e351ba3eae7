/** The plan of faults follows from its seed, and waits are counted only for those whom no fault touched. */
import { describe, expect, it } from 'vitest'
import type { Act } from './history.ts'
import { KINDS, nameOf, plan } from './plan.ts'
import { type Made, recoveriesOf, type Touch, waitsOf } from './waits.ts'

const first = <Item>(items: Iterator<Item>, count: number) =>
  Array.from({ length: count }, () => items.next().value as Item)

describe('a plan', () => {
  const rounds = (seed: number) => first(plan(seed, { kinds: KINDS, processes: 4 }), 500)

  it('is the same for a seed, and another for the next', () => {
    expect(rounds(7)).toEqual(rounds(7))
    expect(rounds(7)).not.toEqual(rounds(8))
  })

  it('has every kind, alone and in pairs, with pauses of 5 to 20 s', () => {
    const all = rounds(7)
    expect(new Set(all.flatMap(({ faults }) => faults.map(({ kind }) => kind)))).toEqual(new Set(KINDS))
    expect(new Set(all.map(({ faults }) => faults.length))).toEqual(new Set([1, 2]))
    for (const { pause, faults } of all) {
      expect(pause).toBeGreaterThanOrEqual(5_000)
      expect(pause).toBeLessThan(20_000)
      for (const fault of faults) expect(nameOf(fault)).toContain(fault.kind.split(' ')[0])
    }
  })

  it('sets clocks off by 1 s to 10 min, either way', () => {
    const amounts = rounds(7).flatMap(({ faults }) =>
      faults.filter(({ kind }) => kind === 'clock').map(({ amount }) => amount),
    )
    expect(Math.min(...amounts.map(Math.abs))).toBeGreaterThanOrEqual(1)
    expect(Math.max(...amounts.map(Math.abs))).toBeLessThanOrEqual(600)
    expect(new Set(amounts.map(Math.sign))).toEqual(new Set([1, -1]))
  })
})

describe('waits', () => {
  let id = 0
  const act = (from: number, to: number, rest: Partial<Act> = {}): Act => {
    id += 1
    const subject = `txn_${id}`
    return {
      id,
      client: 'c',
      kind: 'look',
      subject,
      from,
      to,
      outcome: 'done',
      status: 200,
      process: 'process1',
      asked: { shop: 'tea', since: from },
      told: {},
      ...rest,
    }
  }
  const fault = (touch: Touch, from: number, to: number, round = 1): Made => ({
    name: 'stop',
    kind: 'stop',
    from,
    to,
    touch,
    round,
  })

  it('count with their repeats, and only at processes that no fault touched', () => {
    const stopped = fault({ process: 'process2' }, 100_000, 105_000)
    const again = { subject: 'txn_x', asked: { since: 101_000 } }
    const acts = [
      act(0, 40),
      act(101_000, 101_300, { ...again, outcome: 'unknown', status: 503 }),
      act(101_500, 101_900, again),
      act(101_000, 104_000, { process: 'process2' }),
      act(101_000, 104_500, { process: '' }),
    ]
    const { quiet, beside } = waitsOf(acts, [stopped])
    expect([quiet.count, quiet.longest]).toEqual([1, 40])
    expect([beside.count, beside.longest]).toEqual([1, 900])
  })

  it('leave out everybody while a fault touches everybody', () => {
    const { quiet, beside } = waitsOf([act(101_000, 104_000)], [fault({ everybody: true }, 100_000, 105_000)])
    expect([quiet.count, beside.count]).toEqual([0, 0])
  })

  it('leave out the shops of a server that misbehaves', () => {
    const hangs = fault({ shops: new Set(['tea']) }, 100_000, 105_000)
    const acts = [act(101_000, 104_000), act(101_000, 101_050, { asked: { shop: 'mugs', since: 101_000 } })]
    expect(waitsOf(acts, [hangs]).beside.longest).toBe(50)
  })

  it('after a fault end with the first success that it had touched', () => {
    const made = [
      fault({ process: 'process1' }, 0, 5_000),
      fault({ everybody: true }, 2_000, 6_000),
      fault({ everybody: true }, 20_000, 21_000, 2),
    ]
    const acts = [
      act(5_500, 5_600),
      act(6_100, 6_200, { process: 'process2' }),
      act(6_500, 7_000),
      act(21_100, 23_000, { outcome: 'unknown' }),
      act(23_200, 23_500),
    ]
    expect(recoveriesOf(acts, made).map(({ ms }) => ms)).toEqual([1_000, 200, 2_500])
  })
})
