/**
 * Opens pages over long lists, and fails on the rows that their statements read: time depends on the machine, and rows do not.
 * Here the lists have some thousand rows, Postgres may only plan as it does for long ones, by indexes, and the pages of lists are
 * opened. `npm run bench:lists` fills a million orders (LISTS_ORDERS), lets Postgres plan as it likes, opens every page as each role,
 * and prints how long the pages take.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { proveBooks } from '../../src/ledger/books.ts'
import { makeSealer } from '../../src/ledger/seal.ts'
import type { TestApp } from '../../test/harness/harness.ts'
import { inOneProcess, STATEMENTS } from '../../test/harness/one-process.ts'
import { type Plan, watchPlans } from '../../test/harness/plans.ts'
import { type ListedPage, PAGES } from '../../test/web/pages/list.ts'
import { fetchListed } from '../../test/web/pages/ways.ts'
import { makeWorld, type Role, type World } from '../../test/web/pages/world.ts'
import { fill, reserveIds, type Size } from './fill.ts'
import { LONG_PAYOUT, SOLD, WITH_CODES } from './selling.ts'
import { makeSite } from './site.ts'

const asked = process.env.LISTS_ORDERS
const SIZE: Size = {
  days: asked === undefined ? 40 : 400,
  orders: Number(asked ?? 4_000),
  members: asked === undefined ? 1_200 : Math.ceil(Number(asked) / 10),
  // Postgres reads a table of some thousand rows whole where it may, and the lists below do not let it.
  others: asked === undefined ? 2_400 : 900,
  own: 300,
}
/** The rows of one table that a statement of a page may read. */
const ROWS_MAX = 1_000
/** For some thousand rows Postgres reads a whole table, which it would not for long lists. */
const AS_FOR_LONG_LISTS = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  random_page_cost: '1',
}
/** The visits of a page whose time is taken. */
const VISITS = 20
/** Filling ten million orders takes an hour or more. Vitest does not pass --hookTimeout on to projects. */
const FILL_MS_MAX = asked === undefined ? undefined : 7_200_000
const ROLES: Role[] = ['merchant', 'buyer', 'careful', 'admin']

/** The pages that may read more, how much, and why. The bounds of three grow with the lists: notifications that wait, members whom words fit, and movements of a month. */
const BOUNDS: { pages: RegExp; rows: number; because: string }[] = [
  {
    pages: /^(payment\/merchant\/orders|orders, )/,
    rows: 20_000,
    because: 'a search or a count looks through so many orders',
  },
  { pages: /^transfers, /, rows: 10_000, because: 'a search looks through so many transfers' },
  {
    pages: /^admin\/points\/abuse/,
    rows: 40_001,
    because: 'it adds up the newest movements, and looks up the members of both sides',
  },
  {
    pages: /^(admin\/apps\/links|links, )/,
    rows: asked === undefined ? ROWS_MAX : 55 * SIZE.others,
    because:
      'each of some fifty links looks for a report, and Postgres reads a short table of reports whole for each',
  },
  {
    pages: /^payout of 1,000 lines/,
    rows: 2_001,
    because: 'Postgres reads a short table of lines whole',
  },
  {
    pages:
      /^(admin\/people\/groups|admin\/apps\/app|identity\/(oauth\/consent|apps\/own-(app|settings|test))|confirm ending a secret)/,
    rows: 10_001,
    because: 'members are counted up to 10,000',
  },
  {
    pages: /^wallet, middle/,
    rows: 10_001,
    because: 'newer movements are taken off the balance, up to so many',
  },
  {
    pages: /^(accounts\/wallet found|wallet, search)/,
    rows: 10_001,
    because:
      'a search looks up the memo of up to 1,000 transfers, and Postgres scans a table of a few payout lines for each',
  },
  {
    pages: /^(home|accounts|wallet, )/,
    rows: 5_001,
    because: 'the movements of a month are added up, up to so many',
  },
  {
    pages: /^(admin\/find|find,)/,
    rows: Math.max(2_001, SIZE.others + 10),
    because: 'it looks through the newest orders, and for the own number of a shop in each application',
  },
  {
    pages: /^(payment\/merchant\/mandates|mandates, search$)/,
    rows: 2_001,
    because: 'the points that the newest mandates may bring are added up',
  },
  {
    pages: /^(link with codes|codes|payment\/links\/(edit|codes))/,
    rows: 50_001,
    because: 'unsold codes are counted, of which a link has at most so many',
  },
  {
    pages: /^admin\/apps\/reviews/,
    rows: 1_001,
    because: 'decided applications are counted up to 1,000',
  },
  {
    pages: /^movements between two/,
    rows: 8_001,
    because: 'it looks through the newest 2,000 movements of a wallet with their orders and applications',
  },
  {
    pages: /^admin\/dashboard/,
    rows: 60_001,
    because: 'it adds up the entries of today’s newest 20,000 journals',
  },
  {
    pages: /^(admin\/apps\/notifications|all notifications, )/,
    rows: Math.max(ROWS_MAX, SIZE.orders / 200),
    because: 'it adds up the notifications that wait',
  },
  {
    pages: /^members, search/,
    rows: Math.max(ROWS_MAX, SIZE.members / 50),
    because: 'it sorts the members whom the words fit',
  },
  {
    pages: /^privacy\//,
    rows: Math.max(ROWS_MAX, SIZE.orders / 20),
    because: 'it looks for a refundable order among the movements of a month',
  },
  {
    pages: /^payment\/merchant\/statistics/,
    rows: 5_001,
    because: 'it reads two sums of each description that was sold, up to 2,500 here',
  },
]

const listed = (as: Role, name: string, path: (world: World) => string): ListedPage => ({ name, as, path })
const shop = (name: string, place: string) =>
  listed('merchant', name, ({ merchant }) => `/payment/applications/${merchant.payment_id}/${place}`)
const middle = SIZE.orders / 2

/** The pages that show long lists, or add them up. */
const OF_LISTS = new RegExp(
  `^(${[
    'home/home|accounts/(wallet|statement|session/sessions)|privacy/own-data|identity/(authorised-apps|apps/apps)',
    'payment/(buyer/payments|apps/(apps|team)|alerts/alerts|notifications/notifications)',
    'payment/merchant/(overview|orders|orders-export|mandates|transfers|statistics)',
    'admin/(dashboard/dashboard|proposals/proposals|apps/(reviews|reviews decided|apps|notifications|mandates))',
    'admin/(points/(abuse|wallet|fees|refund-requests)|people/(forum|members|groups|member)|site/(audit|refusals))',
  ].join('|')})$`,
)
/** Pages from the middle of long lists, filters, and searches without a result. */
const LOOKS_BACK: ListedPage[] = [
  listed('buyer', 'wallet, middle', () => `/account?before=${9 * middle}`),
  listed('buyer', 'wallet, search', () => '/account?q=nothing'),
  listed('buyer', 'wallet, kind', () => '/account?kind=refund'),
  listed('buyer', 'payments, middle', () => `/account/payments?before=${middle}`),
  listed('buyer', 'payments, search', () => '/account/payments?q=nothing'),
  listed('buyer', 'mandates, search', () => '/account/mandates?status=ended'),
  shop('orders, middle', `orders?before=${middle}`),
  shop('orders, search', 'orders?q=nothing'),
  shop('orders, number', 'orders?q=order-1000'),
  shop('orders, payer', 'orders?payer=member7'),
  shop('orders, fate', 'orders?status=closed'),
  shop('orders, days', 'orders?from=2025-03-01&until=2025-03-09'),
  shop('notifications, middle', `notifications?before=${middle}`),
  shop('notifications, failed', 'notifications?status=failed'),
  shop('notifications, confirmed', `notifications?status=delivered&before=${middle}`),
  shop('transfers, search', 'transfers?q=nothing'),
  shop('transfers, middle', `transfers?before=${Math.floor(middle / 10)}`),
  shop('mandates, search', 'mandates?status=ended'),
  shop('orders, door', 'orders?door=link'),
  shop('links', 'links'),
  shop('link', `links/${SOLD}`),
  shop('sales of a link', `links/${SOLD}/sales`),
  shop('sales of a link, middle', `links/${SOLD}/sales?before=${middle}`),
  shop('sharing a link', `links/${SOLD}/share`),
  shop('link with codes', `links/${WITH_CODES}`),
  shop('codes', `links/${WITH_CODES}/codes`),
  shop('payouts', 'payouts'),
  shop('payout of 1,000 lines', `payouts/${LONG_PAYOUT}`),
  shop('payout again', `payouts/new?again=${LONG_PAYOUT}`),
  shop('access keys', 'access-keys'),
  listed('merchant', 'links of a member', () => '/payment/links'),
  listed('buyer', 'page of a link', () => `/l/${SOLD}`),
  listed('admin', 'links, all', () => '/admin/links'),
  listed('admin', 'links, search', () => '/admin/links?q=series'),
  listed('admin', 'all notifications, due', () => '/admin/notifications?status=due'),
  listed('admin', 'all notifications, failed', () => '/admin/notifications?status=failed'),
  listed('admin', 'members, search', () => '/admin/members?q=member99'),
  listed('admin', 'members, one letter', () => '/admin/members?q=m'),
  listed('admin', 'members, by name', () => '/admin/members?sort=name'),
  listed('admin', 'members, oldest', () => '/admin/members?sort=oldest'),
  listed('admin', 'audit, actor', ({ people }) => `/admin/audit?actor=${people.merchant.username}`),
  listed('admin', 'audit, act', () => '/admin/audit?action=setting.change'),
  listed('admin', 'audit, nothing', () => '/admin/audit?actor=member7'),
  listed('admin', 'find, number', () => '/admin/find?q=order-1000'),
  listed('admin', 'wallet of a merchant', ({ people }) => `/admin/wallets/${people.merchant.id}`),
  listed(
    'admin',
    'movements between two',
    ({ people }) => `/admin/wallets/${people.merchant.id}?with=${people.newcomer.id}`,
  ),
]

/** The pages of the list. The documents read no rows, and the proof of the books reads all. */
const pages: ListedPage[] = [
  ...PAGES.filter(({ name, act }) => !name.startsWith('docs/') && act === undefined)
    .filter(({ name }) => asked !== undefined || OF_LISTS.test(name))
    .map((each) => (each.name === 'admin/points/books' ? { ...each, steps: () => [] } : each)),
  ...LOOKS_BACK,
]

/** Each page as its role; in the bench also as the others that its address alone brings there. */
const visits = pages.flatMap((page) => {
  const others =
    asked === undefined || page.steps !== undefined ? [] : ROLES.filter((role) => role !== page.as)
  return [page, ...others.map((as) => ({ ...page, as }))]
})

let world: World
let unwatched: World
let take: () => Plan[]
const closing: (() => Promise<void>)[] = []

describe.skipIf(inOneProcess(STATEMENTS))('over long lists', () => {
  beforeAll(async () => {
    const prepare = (test: TestApp) => reserveIds(test, SIZE)
    // The addresses of lists need no more of the world than such a site has.
    unwatched = asked === undefined ? ((await makeSite(prepare)) as World) : await makeWorld(prepare)
    closing.push(unwatched.close)
    const began = performance.now()
    await fill(unwatched, SIZE)
    if (asked !== undefined)
      console.log(`${asked} orders filled in ${Math.round((performance.now() - began) / 1000)} s`)
  }, FILL_MS_MAX)
  afterAll(async () => {
    for (const close of closing) await close()
  })

  it.runIf(asked !== undefined)('the books are sealed and proven', async () => {
    const { db, secrets } = unwatched.test.deps
    const seal = makeSealer({ db, secrets })
    const before = await proveBooks(db, secrets)
    const [sealing] = await timed(async () => {
      while ((await seal()) !== undefined);
    })
    const [whole, proof] = await timed(() => proveBooks(db, secrets))
    expect([proof.isSound, proof.unsealed]).toEqual([true, 0n])
    const { sealed, sealedSums } = proof
    const proven = {
      sealed: { journal_id: sealed!.journal_id, hash: Buffer.from(sealed!.hash, 'hex') },
      sums: sealedSums,
    }
    const [rest] = await timed(() => proveBooks(db, secrets, undefined, proven))
    console.log(
      `${before.unsealed} journals: sealed in ${sealing} s, proven in ${whole} s, a proof without new journals takes ${rest} s`,
    )
  })

  it.runIf(asked !== undefined)('pages are answered within their time', async () => {
    for (const page of pages.filter(({ steps }) => steps === undefined)) {
      const times: number[] = []
      for (let visit = 0; visit <= VISITS; visit += 1) {
        const began = performance.now()
        await fetchListed(page, 'en', unwatched)
        if (visit > 0) times.push(performance.now() - began)
      }
      times.sort((a, b) => a - b)
      const [p50, p95] = [0.5, 0.95].map((part) =>
        times[Math.ceil(VISITS * part) - 1]!.toFixed(0).padStart(5),
      )
      console.log(`${page.name.padEnd(40)} p50 ${p50} ms, p95 ${p95} ms`)
    }
  })

  // Afterwards, because the plans of every new connection are then sent, which takes longer than many pages.
  describe('watched', () => {
    beforeAll(async () => {
      const watched = await watchPlans(unwatched.test, asked === undefined ? AS_FOR_LONG_LISTS : {})
      closing.unshift(watched.close)
      world = { ...unwatched, test: watched.test }
      take = watched.take
    })

    it.each(visits)('$name reads few rows for a $as', async (page) => {
      take()
      const { status } = await fetchListed(page, 'en', world)
      expect(status).toBeLessThan(500)
      const bound = BOUNDS.find(({ pages }) => pages.test(page.name))?.rows ?? ROWS_MAX
      expect(excessOf(take(), bound)).toEqual([])
    })
  })
})

/** Runs an act. Returns its seconds, to a tenth, and its result. */
async function timed<T>(act: () => Promise<T>): Promise<[seconds: number, T]> {
  const began = performance.now()
  const result = await act()
  return [Math.round((performance.now() - began) / 100) / 10, result]
}

/** The statements that read more rows of a table or an index than the bound. */
function excessOf(plans: Plan[], bound: number): string[] {
  const found = plans.flatMap(({ statement, reads }) => {
    const excess = reads.filter(({ rows }) => rows > bound).map(({ rows, by }) => `${rows} by ${by}`)
    return excess.length === 0
      ? []
      : [`${excess.join(', ')}: ${statement.replaceAll(/\s+/g, ' ').slice(0, 300)}`]
  })
  return [...new Set(found)]
}
