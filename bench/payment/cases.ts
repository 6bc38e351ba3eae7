/** The cases of the bench, and the requests of each. */
import {
  bareInserts,
  bareSelects,
  charges,
  initiations,
  type Parties,
  payments,
  queries,
  transfers,
  type Work,
} from './acts.ts'
import { type Case, keyOf, type SideName, type Target } from './rounds.ts'
import type { World } from './world.ts'

const CALLERS = 32
/** The first member without an application. A transfer to the owner of its application is refused. */
export const RECIPIENTS_FROM = 200

export function casesOf(world: World): Case[] {
  const { shops, members } = world
  const all = partiesOf(world)
  const hotMember: Parties = { shops, members: members.slice(-1) }
  const hotShop: Parties = { shops: shops.slice(0, 1), members: all.members }
  const sides = (names: SideName[], make: (count: number) => Promise<Work> | Work) =>
    Object.fromEntries(names.map((name) => [name, make])) as Case['sides']
  const transferring = (parties: Parties) => (count: number) => transfers(count, parties)
  const paying = (parties: Parties) => (count: number) => payments(world, count, parties)
  const usual = { callers: CALLERS, count: 4_000 }
  return [
    {
      ...usual,
      name: 'transfers, many recipients',
      sides: sides(['ours', 'in process', 'unbatched', 'two'], transferring(all)),
    },
    {
      ...usual,
      name: 'transfers, one recipient',
      sides: sides(['ours', 'unbatched'], transferring(hotMember)),
    },
    {
      ...usual,
      name: 'transfers, one applicant',
      sides: sides(['ours', 'unbatched'], transferring(hotShop)),
    },
    {
      name: 'transfers, one caller',
      callers: 1,
      count: 500,
      sides: sides(['ours', 'unbatched'], transferring(all)),
    },
    { ...usual, name: 'charges, many members', sides: { ours: (count) => charges(count, world) } },
    {
      ...usual,
      name: 'payments, many merchants',
      sides: sides(['ours', 'in process', 'unbatched', 'two'], paying(all)),
    },
    { ...usual, name: 'payments, one merchant', sides: sides(['ours', 'unbatched'], paying(hotShop)) },
    {
      name: 'payments, one caller',
      callers: 1,
      count: 500,
      sides: sides(['ours', 'unbatched'], paying(all)),
    },
    {
      ...usual,
      name: 'initiate',
      sides: { ours: (count) => initiations(count, all), bare: bareInserts },
    },
    { ...usual, name: 'initiate, one merchant', sides: { ours: (count) => initiations(count, hotShop) } },
    {
      ...usual,
      name: 'query',
      sides: { ours: (count) => queries(world, count, all), bare: (count) => bareSelects(world, count, all) },
    },
  ]
}

const OURS = (name: string) => keyOf(name, 'ours')
export const TARGETS: Target[] = [
  ...(['transfers, many recipients', 'payments, many merchants'] as const).map((name) => ({
    name: `${name} ÷ in process`,
    of: [OURS(name), keyOf(name, 'in process')] as [string, string],
    figure: 'per_second' as const,
    least: 0.5,
  })),
  ...(
    [
      ['transfers, many recipients', 1.8],
      ['transfers, one recipient', 4],
      ['payments, one merchant', 4],
      ['transfers, one caller', 0.95],
      ['payments, one caller', 0.95],
    ] as const
  ).map(([name, least]) => ({
    name: `${name} ÷ unbatched`,
    of: [OURS(name), keyOf(name, 'unbatched')] as [string, string],
    figure: 'per_second' as const,
    least,
  })),
  ...(['transfers, many recipients', 'transfers, one recipient', 'payments, one merchant'] as const).map(
    (name) => ({
      name: `p99 of ${name} ÷ unbatched`,
      of: [OURS(name), keyOf(name, 'unbatched')] as [string, string],
      figure: 'p99_ms' as const,
      most: 0.5,
    }),
  ),
  {
    name: 'initiate ÷ bare durable insert',
    of: [OURS('initiate'), keyOf('initiate', 'bare')],
    figure: 'per_second',
    least: 2,
  },
  {
    name: 'query ÷ bare select',
    of: [OURS('query'), keyOf('query', 'bare')],
    figure: 'per_second',
    least: 0.6,
  },
  ...(
    [
      ['transfers, one recipient', 'transfers, many recipients'],
      ['transfers, one applicant', 'transfers, many recipients'],
      ['payments, one merchant', 'payments, many merchants'],
      ['initiate, one merchant', 'initiate'],
    ] as const
  ).map(([hot, uniform]) => ({
    name: `${hot} ÷ many`,
    of: [OURS(hot), OURS(uniform)] as [string, string],
    figure: 'per_second' as const,
    least: 0.85,
  })),
  {
    name: 'charges, many members ÷ transfers, many recipients',
    of: [OURS('charges, many members'), OURS('transfers, many recipients')],
    figure: 'per_second',
    least: 0.8,
  },
  ...(['transfers, many recipients', 'payments, many merchants'] as const).map((name) => ({
    name: `${name}, two processes ÷ one`,
    of: [keyOf(name, 'two'), OURS(name)] as [string, string],
    figure: 'per_second' as const,
    least: 0.8,
  })),
]

/** The same requests to a service over an empty database and to one over a full database. */
export function casesOfSizes(empty: World, full: World): Case[] {
  const of = (
    make: (world: World, count: number, parties: Parties) => Promise<Work> | Work,
  ): Case['sides'] => ({
    empty: (count) => make(empty, count, partiesOf(empty)),
    full: (count) => make(full, count, partiesOf(full)),
  })
  const usual = { callers: CALLERS, count: 4_000 }
  return [
    { ...usual, name: 'transfers', sides: of((_, count, parties) => transfers(count, parties)) },
    { ...usual, name: 'payments', sides: of(payments) },
    { ...usual, name: 'initiate', sides: of((_, count, parties) => initiations(count, parties)) },
    { ...usual, name: 'query', sides: of(queries) },
  ]
}

export const SIZE_TARGETS: Target[] = ['transfers', 'payments', 'initiate', 'query'].map((name) => ({
  name: `${name}, full ÷ empty`,
  of: [keyOf(name, 'full'), keyOf(name, 'empty')],
  figure: 'per_second',
  least: 0.85,
}))

const partiesOf = ({ shops, members }: World): Parties => ({ shops, members: members.slice(RECIPIENTS_FROM) })
