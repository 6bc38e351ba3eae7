/**
 * Random histories of links against a model: members order, pay, are refunded; the team makes, publishes, edits, pauses, ends and deletes
 * links, adds and takes back codes, and hands the shop over; the staff stops links, switches them all off, bans the owner and changes
 * levels and groups; time passes. Every act must end as the model says, every sale must hold what the model gave it, and the books
 * pass. MODEL_SEED sets the seed. spec/links 1.1–1.4, 2.1–2.4, 3.1–3.4.
 */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { createUser } from '../../../src/accounts/people/users.ts'
import type { Core } from '../../../src/core/core.ts'
import { openLimits } from '../../../src/core/limits.ts'
import { grantPoints } from '../../../src/ledger/points.ts'
import { balanceOf } from '../../../src/ledger/wallet.ts'
import { applyForPaymentApp } from '../../../src/payment/apps/apps.ts'
import { acceptOffer, offerApplication } from '../../../src/payment/apps/handover.ts'
import { reviewPaymentApp } from '../../../src/payment/apps/review.ts'
import {
  changeLink,
  createLink,
  deleteDraft,
  editLink,
  type LinkChange,
  stopLink,
} from '../../../src/payment/links/acts.ts'
import { addCodes, takeBackCodes } from '../../../src/payment/links/codes.ts'
import { deliveryOf } from '../../../src/payment/links/delivery.ts'
import { placeLinkOrder } from '../../../src/payment/links/place.ts'
import { expireOrders } from '../../../src/payment/orders/orders.ts'
import { makePayOrder } from '../../../src/payment/orders/pay.ts'
import { refundOrder } from '../../../src/payment/orders/refunds.ts'
import type { AppError } from '../../../src/platform/errors.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { details, IP } from '../../harness/links.ts'
import { openModelWorld } from '../../harness/model-world.ts'
import { makeRandom, type Random } from '../../harness/random.ts'
import { times } from '../../harness/thoroughness.ts'

const SEED = Number(process.env.MODEL_SEED ?? 3)
/** Histories that share a database. */
const SEQUENCES_A_DATABASE = 20
const SEQUENCES = times(400, SEQUENCES_A_DATABASE)
const STEPS = 100
const EXPIRY_MS = 30 * 60_000
const RATE = 0.05
const GROUP = 'club'
/** Links of a history that are not ended. */
const LINKS_OPEN = 4

/** The ends that each act must have had, because a history proves only what it reaches. */
const ENDS = {
  place: [
    ...['placed', 'exists', 'not_found', 'unusable', 'not_on_sale', 'not_yet', 'over', 'out_of_bounds'],
    ...['not_allowed', 'sold_out', 'member_limit', 'too_many_open'],
  ],
  pay: [
    ...['paid', 'paid_before', 'not_found', 'expired', 'unusable', 'wallet_frozen', 'not_on_sale'],
    ...['not_allowed', 'sold_out', 'member_limit', 'insufficient'],
  ],
  publish: ['done', 'conflict'],
  pause: ['done', 'conflict'],
  resume: ['done', 'conflict'],
  end: ['done', 'conflict'],
  stop: ['done', 'conflict'],
  edit: ['done', 'conflict'],
  delete: ['done', 'conflict'],
} as const
const reached = new Set<string>()
function note<Act extends keyof typeof ENDS>(act: Act, end: string): void {
  reached.add(`${act}: ${end}`)
}

type Member = {
  id: bigint
  username: string
  level: number
  isInGroup: boolean
  isBanned: boolean
  balance: bigint
}
type Code = { text: string; state: 'free' | 'taken' | 'withdrawn' }
/** What the form of a link holds. */
type Details = {
  sells: 'none' | 'codes' | 'text'
  text: string
  /** Of a unit, or the bounds of what the buyer chooses. */
  price: bigint | { min: bigint; max: bigint }
  stock: number | null
  member_max: number | null
  min_level: number
  isOfGroup: boolean
  from: number | null
  until: number | null
}
type Model = Details & {
  slug: string
  state: 'draft' | 'on_sale' | 'paused' | 'ended' | 'stopped'
  codes: Code[]
  sold: number
  soldTo: Map<Member, number>
}
type Order = {
  transaction_id: string
  /** The form that placed it. */
  form: { units: number; amount: bigint | undefined; key: string }
  link: Model
  buyer: Member
  units: number
  amount: bigint
  expiresAt: number
  paid: { delivered: string[]; payee: Member; fee: bigint; isRefunded: boolean } | undefined
}
type World = {
  deps: Core
  members: Member[]
  admin: bigint
  payment_id: string
  app_id: bigint
  advance(ms: number): void
}

let names = 0
const QUANTITY_MAX = 3
/** More than any link sells at once. */
const TOO_MANY = 4

async function openWorld(): Promise<World & { close(): Promise<void> }> {
  const { deps: core, advance, close } = await openModelWorld()
  const deps = { ...core, limits: openLimits(core) }
  const admin = await createUser(deps.db, { username: `admin${++names}`, password_hash: 'x', is_admin: true })
  for (const name of ['limit_links_created', 'limit_link_orders', 'limit_invitations'] as const)
    await deps.settings.change({ name, value: '0', actor_id: null, ip: 'command line', now: deps.clock() })
  const members = await Promise.all(
    [1, 2, 2, 3].map(async (level): Promise<Member> => {
      const username = `member${++names}`
      const id = await createUser(deps.db, { username, password_hash: 'x', trust_level: level })
      return { id, username, level, isInGroup: false, isBanned: false, balance: 0n }
    }),
  )
  await deps.db.insertInto('local_groups').values({ name: GROUP }).execute()
  const form = {
    applicant_id: members[0]!.id,
    name: 'Shop',
    description: '',
    callback_url: 'http://127.0.0.1/cb',
  }
  const { payment_id, id: app_id } = await applyForPaymentApp(deps, form)
  await reviewPaymentApp(deps, { payment_id, decision: 'approve', reason: '', reviewer_id: admin })
  return { deps, members, admin, payment_id, app_id, advance, close }
}

async function runHistory(world: World & { owner?: Member }, random: Random): Promise<void> {
  const { deps, members, admin, payment_id } = world
  const pay = makePayOrder(deps)
  const now = () => deps.clock().getTime()
  world.owner ??= members[0]!
  const actor = () => ({ user_id: world.owner!.id, ip: IP })
  const codeOf = (act: Promise<unknown>) =>
    act.then(
      () => 'done',
      ({ code }: AppError) => code,
    )
  for (const member of members) {
    const amount = BigInt(1 + random.below(120))
    const grant = { user_id: member.id, amount, reference: `g:${++names}`, reason: 'start', actor_id: null }
    await grantPoints(deps.db, { ...grant, now: deps.clock() })
    member.balance += amount
  }

  const maybe = (max: number) => (random.below(3) > 0 ? null : 1 + random.below(max))
  const chooseDetails = (sells: Model['sells']): Details => ({
    ...{ sells, text: `text-${random.below(3)}` },
    price: random.chance(4) ? { min: 5n, max: 20n } : BigInt(5 + random.below(20)),
    ...{ stock: maybe(6), member_max: maybe(3), min_level: random.chance(6) ? 3 : 0 },
    isOfGroup: random.chance(8),
    from: random.chance(10) ? now() + EXPIRY_MS : null,
    until: random.chance(3) ? now() + 2 * EXPIRY_MS : null,
  })
  const detailsOf = ({ sells, text, price, from, until, isOfGroup, ...limits }: Details) =>
    details({
      ...{ stock: limits.stock, member_max: limits.member_max, min_level: limits.min_level },
      ...(typeof price === 'bigint'
        ? { amount: price, quantity_max: QUANTITY_MAX }
        : { amount: null, amount_min: price.min, amount_max: price.max }),
      ...{ allow_groups: isOfGroup ? [GROUP] : [], delivery: sells, delivered: sells === 'text' ? text : '' },
      sells_from: from === null ? null : new Date(from),
      sells_until: until === null ? null : new Date(until),
    })
  const links: Model[] = []
  const orders: Order[] = []
  let isOn = true
  const openLinks = () => links.filter(({ state }) => state !== 'ended')
  const create = async (sells: Model['sells'], state: 'draft' | 'on_sale') => {
    const chosen = chooseDetails(sells)
    const slug = await createLink(deps, payment_id, detailsOf(chosen), actor())
    if (state === 'on_sale') await changeLink(deps, payment_id, { slug, change: 'publish' }, actor())
    links.push({ slug, state, ...chosen, codes: [], sold: 0, soldTo: new Map() })
  }
  for (const sells of ['none', 'codes', 'text'] as const) await create(sells, 'on_sale')

  /** What the limits of a link say to a member. */
  const judge = (link: Model, buyer: Member, units: number) => {
    if (!isOn || link.state !== 'on_sale') return 'not_on_sale'
    if (buyer.level < link.min_level || (link.isOfGroup && !buyer.isInGroup)) return 'not_allowed'
    const free = link.codes.filter(({ state }) => state === 'free').length
    if ((link.stock !== null && link.sold + units > link.stock) || (link.sells === 'codes' && free < units))
      return 'sold_out'
    if (link.member_max !== null && (link.soldTo.get(buyer) ?? 0) + units > link.member_max)
      return 'member_limit'
    return undefined
  }
  const judgeForm = (link: Model, buyer: Member, { units, amount }: Order['form']) => {
    const judged = judge(link, buyer, units)
    const { price } = link
    const isFree = typeof price !== 'bigint'
    const isOpen = ({ buyer: other, link: at, paid, expiresAt }: Order) =>
      other === buyer && at === link && paid === undefined && expiresAt > now()
    if (link.state === 'draft') return 'not_found'
    if (world.owner!.isBanned) return 'unusable'
    if (judged === 'not_on_sale') return judged
    if (link.from !== null && now() < link.from) return 'not_yet'
    if (link.until !== null && now() >= link.until) return 'over'
    if (units > (isFree ? 1 : QUANTITY_MAX) || isFree !== (amount !== undefined)) return 'out_of_bounds'
    if (isFree && (amount! < price.min || amount! > price.max)) return 'out_of_bounds'
    return judged ?? (orders.filter(isOpen).length >= 3 ? 'too_many_open' : 'placed')
  }
  const byState = (link: Model, state: Code['state']) => link.codes.filter((code) => code.state === state)
  const send = (link: Model, buyer: Member, form: Order['form']) =>
    placeLinkOrder(deps, {
      link: { slug: link.slug, book: 'live', applicant_id: world.owner!.id },
      ...{ user_id: buyer.id, ...form },
    })

  const setBan = async (member: Member, is_banned: boolean) => {
    member.isBanned = is_banned
    await deps.db.updateTable('users').set({ is_banned }).where('id', '=', member.id).execute()
  }

  const setLinks = async (value: boolean) => {
    isOn = value
    const change = { name: 'links', value: isOn ? 'on' : 'off' } as const
    await deps.settings.change({ ...change, actor_id: null, ip: 'command line', now: deps.clock() })
  }

  const acts = {
    async place() {
      // One buyer comes often, and so reaches the limits of a member.
      const onSale = links.filter(({ state }) => state === 'on_sale')
      const link = random.pick(onSale.length === 0 || random.chance(6) ? links : onSale)
      const buyer = random.below(3) > 0 ? members[1]! : random.pick(members)
      const isFree = (typeof link.price !== 'bigint') !== random.chance(20)
      const form = {
        units: random.chance(20) ? TOO_MANY : isFree ? 1 : 1 + random.below(QUANTITY_MAX),
        amount: isFree ? BigInt(4 + random.below(18)) : undefined,
        key: `k${++names}`,
      }
      const expected = judgeForm(link, buyer, form)
      const placed = await send(link, buyer, form)
      expect(placed.refusal ?? 'placed').toBe(expected)
      note('place', expected)
      if (placed.refusal !== undefined) return
      const expiresAt = Math.min(now() + EXPIRY_MS, link.until ?? Number.POSITIVE_INFINITY)
      const amount = (form.amount ?? (link.price as bigint)) * BigInt(form.units)
      const { transaction_id } = placed
      orders.push({
        transaction_id,
        form,
        link,
        buyer,
        units: form.units,
        amount,
        expiresAt,
        paid: undefined,
      })
    },
    /** The form is sent a second time, whatever has become of the link. */
    async repeat() {
      const order = random.pick(orders)
      if (order === undefined) return
      const placed = await send(order.link, order.buyer, order.form)
      expect(placed).toEqual({ refusal: undefined, transaction_id: order.transaction_id })
      note('place', 'exists')
    },
    async pay() {
      const unpaid = orders.filter(({ paid }) => paid === undefined).slice(-6)
      const order = random.pick(random.chance(8) ? orders : unpaid)
      if (order === undefined) return
      const { transaction_id, link, buyer, units, amount } = order
      const payer = random.chance(8) ? random.pick(members) : buyer
      const payment = { transaction_id, payer_id: payer.id, expected_amount: amount }
      const outcomes = await Promise.all(random.chance(3) ? [pay(payment), pay(payment)] : [pay(payment)])
      const guard = () => {
        if (payer !== buyer) return 'not_found'
        if (order.paid !== undefined) return 'paid_before'
        if (order.expiresAt <= now()) return 'expired'
        if (world.owner!.isBanned) return 'unusable'
        if (buyer.isBanned) return 'wallet_frozen'
        return judge(link, buyer, units) ?? (buyer.balance < amount ? 'insufficient' : 'paid')
      }
      const expected = guard()
      expect(outcomes[0]).toBe(expected)
      if (outcomes.length > 1) expect(outcomes[1]).toBe(expected === 'paid' ? 'paid_before' : expected)
      note('pay', expected)
      if (expected !== 'paid') return
      const taken = link.sells === 'codes' ? byState(link, 'free').slice(0, units) : []
      for (const code of taken) code.state = 'taken'
      link.sold += units
      link.soldTo.set(buyer, (link.soldTo.get(buyer) ?? 0) + units)
      const fee = BigInt(Math.floor(Number(amount) * RATE))
      buyer.balance -= amount
      world.owner!.balance += amount - fee
      const delivered = link.sells === 'text' ? [link.text] : taken.map(({ text }) => text)
      order.paid = { delivered, payee: world.owner!, fee, isRefunded: false }
    },
    async refund() {
      const order = random.pick(orders)
      if (order?.paid === undefined || order.paid.isRefunded) return
      const { payee, fee } = order.paid
      const { amount } = order
      const isPossible = payee === order.buyer || payee.balance >= amount - fee
      const act = { transaction_id: order.transaction_id, amount, with_fee: true, key: `r${++names}` }
      const by = { reason: 'model', actor_id: admin, ip: IP }
      expect(await codeOf(refundOrder(deps, { ...act, ...by }))).toBe(isPossible ? 'done' : 'conflict')
      if (!isPossible) return
      order.buyer.balance += amount
      payee.balance -= amount - fee
      order.paid.isRefunded = true
    },
    async create() {
      if (openLinks().length < LINKS_OPEN)
        await create(random.pick(['none', 'codes', 'codes', 'text']), 'draft')
    },
    async change() {
      const link = random.pick(links)
      const choices: LinkChange[] = ['publish', 'publish', 'pause', 'resume', 'resume', 'resume']
      const change = random.chance(16) ? 'end' : random.pick(choices)
      const [from, to] = (
        {
          publish: [['draft'], 'on_sale'],
          pause: [['on_sale'], 'paused'],
          resume: [['paused'], 'on_sale'],
          end: [['on_sale', 'paused'], 'ended'],
        } as const
      )[change]
      const isThere = link.state === to
      const isPossible =
        isThere || ((from as readonly string[]).includes(link.state) && (to !== 'on_sale' || isOn))
      const expected = isPossible ? 'done' : 'conflict'
      expect(await codeOf(changeLink(deps, payment_id, { slug: link.slug, change }, actor()))).toBe(expected)
      note(change, expected)
      if (isPossible) link.state = to
    },
    async delete() {
      const link = random.pick(links)
      const expected = link.state === 'draft' ? 'done' : 'conflict'
      expect(await codeOf(deleteDraft(deps, payment_id, { slug: link.slug }, actor()))).toBe(expected)
      note('delete', expected)
      if (expected === 'done') links.splice(links.indexOf(link), 1)
    },
    async stop() {
      const link = random.pick(links)
      const reason = link.state !== 'stopped' && random.chance(3) ? 'model' : undefined
      const isPossible = (link.state === 'stopped') === (reason === undefined) && link.state !== 'ended'
      const act = stopLink(deps, { slug: link.slug, reason }, { user_id: admin, ip: IP })
      expect(await codeOf(act)).toBe(isPossible ? 'done' : 'conflict')
      note('stop', isPossible ? 'done' : 'conflict')
      if (isPossible) link.state = reason === undefined ? 'paused' : 'stopped'
    },
    async edit() {
      const link = random.pick(links)
      const chosen = chooseDetails(random.chance(5) ? random.pick(['none', 'codes', 'text']) : link.sells)
      const isPossible = link.state !== 'ended' && (chosen.sells === link.sells || link.sold === 0)
      const act = editLink(deps, payment_id, { slug: link.slug, details: detailsOf(chosen) }, actor())
      expect(await codeOf(act)).toBe(isPossible ? 'done' : 'conflict')
      note('edit', isPossible ? 'done' : 'conflict')
      if (isPossible) Object.assign(link, chosen)
    },
    async add() {
      const link = random.pick(links.filter(({ sells }) => sells === 'codes'))
      if (link === undefined) return
      const texts = Array.from({ length: 1 + random.below(5) }, () => `code-${++names}`)
      const back = byState(link, 'withdrawn').filter(() => random.chance(2))
      const known = link.codes.filter(({ state }) => state !== 'withdrawn' && random.chance(3))
      const file = [...texts, ...[...back, ...known].map(({ text }) => text)].join('\n')
      expect(await addCodes(deps, payment_id, { slug: link.slug, file }, actor())).toMatchObject({
        ...{ added: texts.length + back.length, known: known.length, empty: 0 },
      })
      for (const code of back) code.state = 'free'
      link.codes.push(...texts.map((text): Code => ({ text, state: 'free' })))
    },
    async takeBack() {
      const link = random.pick(links.filter(({ codes }) => codes.length > 0))
      if (link === undefined) return
      const count = random.chance(3) ? undefined : 1 + random.below(2)
      const expected = byState(link, 'free').slice(0, count)
      const taken = await takeBackCodes(deps, payment_id, { slug: link.slug, count }, actor())
      expect(taken).toEqual(expected.map(({ text }) => text))
      for (const code of expected) code.state = 'withdrawn'
    },
    async handOver() {
      const heir = random.pick(members.filter((member) => member !== world.owner))
      if (world.owner!.isBanned || heir.isBanned) return
      await offerApplication(deps, payment_id, heir.username, actor())
      await acceptOffer(deps, payment_id, { user_id: heir.id, ip: IP })
      world.owner = heir
      for (const link of links) if (link.state === 'on_sale') link.state = 'paused'
    },
    async ban() {
      await setBan(random.chance(2) ? world.owner! : random.pick(members), true)
    },
    async unban() {
      for (const member of members) if (member.isBanned) await setBan(member, false)
    },
    async switchOff() {
      await setLinks(false)
    },
    async switchOn() {
      await setLinks(true)
    },
    async rank() {
      const member = random.pick(members)
      member.level = 1 + random.below(3)
      member.isInGroup = !member.isInGroup
      const values = { trust_level: member.level }
      await deps.db.updateTable('users').set(values).where('id', '=', member.id).execute()
      await (member.isInGroup
        ? sql`
            insert into user_groups (user_id, name, local_group_id)
            select ${member.id}, name, id from local_groups where name = ${GROUP}`.execute(deps.db)
        : sql`delete from user_groups where user_id = ${member.id}`.execute(deps.db))
    },
    async wait() {
      world.advance(random.below(random.chance(2) ? EXPIRY_MS : 2 * EXPIRY_MS))
      if (random.below(2) === 0) await expireOrders(deps)
    },
  }
  const weights = {
    ...{
      place: 26,
      repeat: 1,
      pay: 20,
      refund: 2,
      create: 3,
      change: 12,
      delete: 2,
      stop: 2,
      edit: 3,
      add: 7,
    },
    ...{ takeBack: 2, handOver: 1, ban: 1, unban: 6, switchOff: 1, switchOn: 8, rank: 6, wait: 3 },
  } satisfies Record<keyof typeof acts, number>
  const choices = Object.entries(weights).flatMap(([name, weight]) =>
    Array<keyof typeof acts>(weight).fill(name as keyof typeof acts),
  )
  for (let step = 0; step < STEPS; step += 1) await acts[random.pick(choices)]()

  // The next history of this database begins with everything allowed.
  await acts.switchOn()
  await acts.unban()

  for (const { id, balance } of members) expect(await balanceOf(deps.db, id)).toBe(balance)
  for (const { slug, state, sold } of links) {
    const { rows } = await sql<{ state: string; sold: bigint }>`
      select state, units_sold(id) as sold from links where slug = ${slug}`.execute(deps.db)
    expect(rows).toEqual([{ state, sold: BigInt(sold) }])
  }
  for (const { transaction_id, amount, expiresAt, link, paid } of orders) {
    const order = await deps.db
      .selectFrom('orders')
      .where('transaction_id', '=', transaction_id)
      .select(['id', 'amount', 'expires_at'])
      .executeTakeFirstOrThrow()
    expect([order.amount, order.expires_at.getTime()]).toEqual([amount, expiresAt])
    const expected = paid === undefined ? undefined : { kind: link.sells, values: paid.delivered }
    expect(await deliveryOf(deps.db, deps.secrets, order.id)).toEqual(expected)
  }
  await expectSoundBooks(deps.db)
}

it(`${SEQUENCES} random histories of links end as the model says`, async () => {
  for (let done = 0; done < SEQUENCES; done += SEQUENCES_A_DATABASE) {
    const world = await openWorld()
    try {
      for (let i = done; i < Math.min(done + SEQUENCES_A_DATABASE, SEQUENCES); i += 1) {
        await runHistory(world, makeRandom(SEED + i)).catch((error: unknown) => {
          throw new Error(`History ${i} of MODEL_SEED=${SEED} differs from the model`, { cause: error })
        })
      }
    } finally {
      await world.close()
    }
  }
  const all = Object.entries(ENDS).flatMap(([act, ends]) => ends.map((end) => `${act}: ${end}`))
  expect([...reached].sort()).toEqual(all.sort())
})
