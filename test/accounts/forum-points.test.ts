/**
 * The points bridge: the grants for a changing score, over days, with concurrent imports and failures.
 * spec/accounts 5.7.
 */
import { sql } from 'kysely'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { countScore, grantPending, importNextScore } from '../../src/accounts/forum/points.ts'
import { readNextPage } from '../../src/accounts/forum-sync/passes.ts'
import { checkNextMember, syncWithForum } from '../../src/accounts/forum-sync/sweep.ts'
import { openSettings } from '../../src/core/settings.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { startForumWorld } from '../harness/forum-world.ts'
import { rowOf, setRows } from '../harness/rows.ts'

const DAY_MS = 86_400_000

const world = await startForumWorld()
const { forum, test } = world
afterAll(() => world.close())
afterEach(() => expectSoundBooks(test.db))

async function set(name: string, value: string) {
  await test.db
    .insertInto('site_settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
  // A process uses cached settings for two seconds, and the tests do not wait.
  test.deps.settings = openSettings(test.db)
}

await set('forum_points_bridge', 'on')
/** Keeps the lists back, so that scores come from single reads. */
const holdLists = () =>
  setRows(test, 'forum_sources', {}, { retry_at: new Date('2999-01-01'), finished_at: null, failure: null })
await holdLists()

type Member = { id: number; score?: number }

/** Signs a new member in while no scores are read, so the worker reads the first one. */
async function join(score?: number): Promise<Member & { user_id: bigint }> {
  const member = forum.join(score === undefined ? {} : { score })
  await set('forum_points_bridge', 'off')
  await world.signIn(member)
  await set('forum_points_bridge', 'on')
  return Object.assign(member, { user_id: (await world.userOf(member)).id })
}

/** Imports every due score, at any hour of the current day. */
async function importAll() {
  for (let minute = 0; minute < 10; minute += 1) {
    for (let count = 0; count < 100 && (await importNextScore(test.deps)); count += 1);
    test.clock.advance(60_001)
  }
}
const nextDay = () => test.clock.advance(DAY_MS)
const balance = (member: { user_id: bigint }) => balanceOf(test.db, member.user_id)
/** Imports this score the next day. Returns the member's balance then. */
async function imported(member: Awaited<ReturnType<typeof join>>, score: number): Promise<bigint> {
  member.score = score
  nextDay()
  await importAll()
  return balance(member)
}
const grants = async ({ user_id }: { user_id: bigint }) =>
  (
    await test.db
      .selectFrom('entries')
      .innerJoin('ledger_accounts as account', 'account.id', 'entries.account_id')
      .innerJoin('journal', 'journal.id', 'entries.journal_id')
      .where('account.user_id', '=', user_id)
      .orderBy('entries.id')
      .select(['entries.amount', 'journal.reference'])
      .execute()
  ).map((row) => [row.amount, row.reference])
const scoreOf = ({ user_id }: { user_id: bigint }) =>
  test.db.selectFrom('forum_scores').where('user_id', '=', user_id).selectAll().executeTakeFirst()
const today = () => test.clock.now().toISOString().slice(0, 10)

describe('counting', () => {
  it('grants the highest score ever seen less its start, by any way', () => {
    let seed = 7
    const random = (n: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % n
    }
    for (let round = 0; round < 200; round += 1) {
      const start = BigInt(random(1_000))
      let state = { score: start, debt: 0n }
      let [total, highest] = [0n, start]
      for (let day = 0; day < 30; day += 1) {
        const { granted, ...after } = countScore(state, state.score + BigInt(random(200) - 100))
        state = after
        total += granted
        if (state.score > highest) highest = state.score
        expect(total).toBe(highest - start)
        expect(state.debt).toBe(highest - state.score)
      }
    }
  })
})

describe('an import', () => {
  it('begins where the score stands, and grants differences once a day', async () => {
    const member = await join(500)
    await importAll()
    expect(await grants(member)).toEqual([])
    expect(await scoreOf(member)).toMatchObject({ score: 500n, debt: 0n, imported_on: today() })
    member.score = 620
    await importAll()
    expect(await grants(member)).toEqual([])

    nextDay()
    const first = today()
    await importAll()
    member.score = 700
    await importAll()
    expect(await grants(member)).toEqual([[120n, `forum:${member.id}:${first}`]])
    nextDay()
    await importAll()
    expect(await grants(member)).toEqual([
      [120n, `forum:${member.id}:${first}`],
      [80n, `forum:${member.id}:${today()}`],
    ])
    expect(await balance(member)).toBe(200n)
  })

  it('never takes points back: later gains pay off a falling score', async () => {
    const member = await join(100)
    const balances: bigint[] = []
    for (const score of [100, 150, 90, 140, 150, 155, 0, 155, 156]) {
      member.score = score
      await importAll()
      balances.push(await balance(member))
      nextDay()
    }
    expect(balances).toEqual([0n, 50n, 50n, 50n, 50n, 55n, 55n, 55n, 56n])
    expect((await grants(member)).every(([amount]) => (amount as bigint) > 0n)).toBe(true)
  })

  it('grants the past too when a setting says so', async () => {
    await set('forum_points_for_past_score', 'on')
    const [rich, negative] = [await join(300), await join(-20)]
    await importAll()
    await set('forum_points_for_past_score', 'off')
    expect(await balance(rich)).toBe(300n)
    expect(await scoreOf(negative)).toMatchObject({ score: -20n, debt: 20n })
    expect(await imported(negative, 5)).toBe(5n)
  })

  it('does nothing while the bridge is off, then catches up', async () => {
    const member = await join(10)
    await importAll()
    await set('forum_points_bridge', 'off')
    member.score = 35
    nextDay()
    const calls = forum.calls.length
    await importAll()
    expect(forum.calls.length).toBe(calls)
    await set('forum_points_bridge', 'on')
    await importAll()
    expect(await balance(member)).toBe(25n)
  })

  it('counts for nobody else when a name has changed hands', async () => {
    const [old, heir] = [await join(10), await join(10_000)]
    await importAll()
    const found = forum.community.members
    const name = found.get(old.id)!.username
    found.get(old.id)!.username = 'renamed-lately'
    found.get(heir.id)!.username = name
    expect(await imported(old, 17)).toBe(0n)
    for (let count = 0; count < 100 && (await checkNextMember(test.deps)); count += 1);
    test.clock.advance(3_600_000)
    await importAll()
    expect(await balance(old)).toBe(7n)
    expect(await balance(heir)).toBe(0n)
  })

  it('waits for members who are barred, and for those without a score', async () => {
    const [barred, unscored] = [await join(1), await join()]
    await importAll()
    await test.db.updateTable('users').set({ is_banned: true }).where('id', '=', barred.user_id).execute()
    barred.score = 51
    unscored.score = 50
    nextDay()
    await importAll()
    expect(await balance(barred)).toBe(0n)
    expect(await scoreOf(unscored)).toMatchObject({ score: 50n })
    await test.db.updateTable('users').set({ is_banned: false }).where('id', '=', barred.user_id).execute()
    await importAll()
    expect(await balance(barred)).toBe(50n)
  })

  it('of a silent forum is made up for when it answers', async () => {
    const member = await join(1)
    await importAll()
    member.score = 3
    nextDay()
    forum.fault = 'down'
    await importAll()
    forum.fault = undefined
    expect(await balance(member)).toBe(0n)
    test.clock.advance(60_000)
    await importAll()
    expect(await balance(member)).toBe(2n)
  })

  it('by many processes at once grants each day once, within the budget', async () => {
    const members = []
    for (let count = 0; count < 12; count += 1) members.push(await join(10))
    test.clock.advance(60_001)
    await importAll()
    for (let day = 1; day <= 4; day += 1) {
      for (const member of members) member.score = 10 + day * 10
      nextDay()
      const calls = forum.calls.length
      await Promise.all(Array.from({ length: 8 }, () => syncWithForum(test.deps, () => false)))
      expect(forum.calls.length - calls).toBeLessThanOrEqual(30)
      await importAll()
    }
    for (const member of members) {
      expect(await balance(member)).toBe(40n)
      expect(await grants(member)).toHaveLength(4)
    }
  })
})

describe('a first sign-in', () => {
  const asked = (before: number) => forum.calls.slice(before).filter((path) => path.startsWith('/u/'))
  const setPast = (value: 'on' | 'off') => set('forum_points_for_past_score', value)
  /** Signs a new member in. Returns the member and the scores that were asked for. */
  async function arrive(score: number) {
    const member = forum.join({ score })
    const before = forum.calls.length
    const client = await world.signIn(member)
    return { member, client, asked: asked(before), user_id: (await world.userOf(member)).id }
  }
  afterEach(() => setPast('off'))

  it('grants the score before the first page, by one request, and the next sign-in asks no more', async () => {
    await world.resetBudget()
    await setPast('on')
    const { member, client, user_id, asked: paths } = await arrive(1_234)
    expect(paths).toEqual([`/u/member${member.id}.json`])
    expect(await balance({ user_id })).toBe(1_234n)
    expect((await client.get('/account')).body).toContain('1,234')
    const before = forum.calls.length
    await world.signIn(member)
    expect(asked(before)).toEqual([])
    await importAll()
    expect(await grants({ user_id })).toHaveLength(1)
  })

  it('grants once, and at once, also while the worker is asking for the same score', async () => {
    await importAll()
    await world.resetBudget()
    await setPast('on')
    const member = await join(4_321)
    const isClaimed = { score_due_at: new Date(test.clock.now().getTime() + 3_600_000) }
    await setRows(test, 'forum_members', { user_id: member.user_id }, isClaimed)
    const client = await world.signIn(member)
    expect((await client.get('/account')).body).toContain('4,321')
    await setRows(test, 'forum_members', { user_id: member.user_id }, { score_due_at: test.clock.now() })
    await importAll()
    expect((await grants(member)).map(([amount]) => amount)).toEqual([4_321n])
  })

  it('asks for no score while the bridge is off, or for another leaderboard', async () => {
    await world.resetBudget()
    await set('forum_points_bridge', 'off')
    expect((await arrive(10)).asked).toEqual([])
    await set('forum_points_bridge', 'on')
    await set('forum_leaderboard_id', '7')
    expect((await arrive(10)).asked).toEqual([])
    await set('forum_leaderboard_id', '')
  })

  it('keeps requests for the facts of others, and leaves the other scores to the worker', async () => {
    await importAll()
    await world.resetBudget()
    await setPast('on')
    await set('forum_requests_per_minute', '10')
    const arrived = []
    for (let count = 0; count < 6; count += 1) arrived.push(await arrive(70))
    expect(arrived.map(({ asked: paths }) => paths.length)).toEqual([1, 1, 1, 1, 0, 0])
    for (const { member } of arrived) expect((await world.memberOf(member)).checked_at).not.toBeNull()
    test.clock.advance(60_001)
    await importAll()
    for (const each of arrived) expect(await balance(each)).toBe(70n)
    await set('forum_requests_per_minute', '50')
  })

  it('succeeds while the forum shows no score, which the worker reads later', async () => {
    await importAll()
    await world.resetBudget()
    await setPast('on')
    const { publicView } = forum.community
    forum.community.publicView = () => ({ padding: 'p'.repeat(1_048_576) }) as never
    const { client, user_id } = await arrive(80)
    forum.community.publicView = publicView
    expect(await world.isIn(client)).toBe(true)
    expect(await balance({ user_id })).toBe(0n)
    nextDay()
    await importAll()
    expect(await balance({ user_id })).toBe(80n)
  })

  it('succeeds when the ledger refuses the grant, which the worker posts', async () => {
    await world.resetBudget()
    await setPast('on')
    await sql`alter table journal add constraint journal_test check (reference not like 'forum:%') not valid`.execute(
      test.db,
    )
    const { client, user_id } = await arrive(90)
    expect(await world.isIn(client)).toBe(true)
    expect(await balance({ user_id })).toBe(0n)
    await sql`alter table journal drop constraint journal_test`.execute(test.db)
    await grantPending(test.deps)
    expect(await balance({ user_id })).toBe(90n)
  })

  it('comes before due lists in the round of the worker', async () => {
    await importAll()
    await setPast('on')
    const newcomer = await join(60)
    await setRows(test, 'forum_sources', {}, { retry_at: null, started_at: null, next_page: 0 })
    await world.resetBudget()
    const before = forum.calls.length
    await syncWithForum(test.deps, () => false)
    expect(forum.calls[before]).toBe(`/u/member${newcomer.id}.json`)
    expect(await balance(newcomer)).toBe(60n)
    await holdLists()
  })
})

describe('an answer without a score', () => {
  const dueOf = async ({ user_id }: { user_id: bigint }) =>
    rowOf(test, 'forum_members', { user_id }, ['score_due_at', 'score_tries'])
  const tomorrow = () =>
    new Date(`${new Date(test.clock.now().getTime() + DAY_MS).toISOString().slice(0, 10)}T00:00:00Z`)

  it('of 0 begins no counting, so a past score is not granted', async () => {
    const member = await join(0)
    await importAll()
    expect(await scoreOf(member)).toBeUndefined()
    expect(await imported(member, 5_000)).toBe(0n)
    expect(await imported(member, 5_010)).toBe(10n)
  })

  it('of 0 changes nothing that was counted: a fall to 0 and back grants nothing', async () => {
    const member = await join(5_000)
    await importAll()
    for (const score of [0, 5_000, 0, 0, 4_000, 0, 5_000]) {
      expect(await imported(member, score)).toBe(0n)
    }
    expect(await imported(member, 5_007)).toBe(7n)
  })

  it('of a suspended member whom we do not know to be suspended begins no counting', async () => {
    const member = await join(5_000)
    forum.community.members.get(member.id)!.suspended_till = '2050-01-01T00:00:00.000Z'
    await importAll()
    expect(await scoreOf(member)).toBeUndefined()
    delete forum.community.members.get(member.id)!.suspended_till
    nextDay()
    await importAll()
    expect(await balance(member)).toBe(0n)
    expect(await scoreOf(member)).toMatchObject({ score: 5_000n })
  })

  it.each([['12'], [1.5], [2 ** 53], [null], [{}]])(
    'but with %j is asked for again the next day',
    async (score) => {
      const member = await join(100)
      await importAll()
      nextDay()
      Object.assign(forum.community.members.get(member.id)!, { score })
      await importAll()
      expect(await scoreOf(member)).toMatchObject({ score: 100n })
      expect((await dueOf(member)).score_due_at).toEqual(tomorrow())
    },
  )

  it('that comes later (202) is asked for eight times more in 15 minutes each, and pauses nothing', async () => {
    await importAll()
    const member = await join(100)
    forum.fault = 'not_ready'
    for (let tries = 1; tries <= 8; tries += 1) {
      expect(await importNextScore(test.deps)).toBe(true)
      expect(await dueOf(member)).toEqual({
        score_due_at: new Date(test.clock.now().getTime() + 900_000),
        score_tries: tries,
      })
      expect(await importNextScore(test.deps)).toBe(false)
      test.clock.advance(900_000)
    }
    expect(await importNextScore(test.deps)).toBe(true)
    expect(await dueOf(member)).toEqual({ score_due_at: tomorrow(), score_tries: 0 })
    const { paused_until } = await rowOf(test, 'forum_api', {}, ['paused_until'])
    expect(paused_until === null || paused_until < test.clock.now()).toBe(true)
    forum.fault = undefined
    nextDay()
    await importAll()
    expect(await scoreOf(member)).toMatchObject({ score: 100n })
  })

  it('that cannot be read holds up no other member', async () => {
    await importAll()
    nextDay()
    const odd = await join(5)
    test.clock.advance(1)
    const fine = await join(6)
    const { publicView } = forum.community
    forum.community.publicView = (member) =>
      member.id === odd.id
        ? ({ padding: 'p'.repeat(1_048_576) } as never)
        : { ...publicView(member), bio_raw: 'Since \uFFFD' }
    await importAll()
    forum.community.publicView = publicView
    expect(await scoreOf(odd)).toBeUndefined()
    expect((await dueOf(odd)).score_due_at).toEqual(tomorrow())
    expect(await scoreOf(fine)).toMatchObject({ score: 6n })
  })
})

describe('the leaderboard', () => {
  afterEach(holdLists)
  const scores = () => rowOf(test, 'forum_sources', { name: 'scores' })
  /** Reads the leaderboard from its first page, and posts its grants. */
  async function readLeaderboard(): Promise<string[]> {
    await setRows(
      test,
      'forum_sources',
      { name: 'scores' },
      { retry_at: null, started_at: null, next_page: 0 },
    )
    await world.resetBudget()
    const before = forum.calls.length
    while (await readNextPage(test.deps));
    await grantPending(test.deps)
    return forum.calls.slice(before)
  }

  it('grants by its pages once a day, except to suspended members', async () => {
    const [member, barred] = [await join(100), await join(100)]
    await importAll()
    member.score = 140
    barred.score = 150
    nextDay()
    await setRows(test, 'users', { id: barred.user_id }, { is_banned: true })
    expect(await readLeaderboard()).toEqual(['/leaderboard.json', '/leaderboard.json'])
    expect(await grants(member)).toEqual([[40n, `forum:${member.id}:${today()}`]])
    expect(await grants(barred)).toEqual([])
    member.score = 190
    await readLeaderboard()
    expect(await balance(member)).toBe(40n)
    nextDay()
    await readLeaderboard()
    expect(await balance(member)).toBe(90n)
  })

  it('leaves to single reads only who came after its last pass', async () => {
    const [listed] = [await join(10)]
    await importAll()
    nextDay()
    await readLeaderboard()
    test.clock.advance(1)
    const newcomer = await join(30)
    nextDay()
    const before = forum.calls.length
    await importAll()
    const asked = forum.calls.slice(before).filter((path) => path.startsWith('/u/'))
    expect(asked).toEqual([`/u/member${newcomer.id}.json`])
    // After two days without a whole pass, each member is asked for again.
    nextDay()
    listed.score = 25
    nextDay()
    await importAll()
    expect(await balance(listed)).toBe(15n)
  })

  it('that is not ready is asked for again, eight times and then the next day', async () => {
    forum.fault = 'not_ready'
    const waits: number[] = []
    await setRows(test, 'forum_sources', { name: 'scores' }, { retry_at: null, started_at: null, tries: 0 })
    for (let tries = 0; tries < 9; tries += 1) {
      await world.resetBudget()
      expect(await readNextPage(test.deps)).toBe(true)
      const { retry_at, failure } = await scores()
      expect(failure).toBe('not_ready')
      waits.push((retry_at!.getTime() - test.clock.now().getTime()) / 60_000)
      test.clock.advance(retry_at!.getTime() - test.clock.now().getTime())
    }
    forum.fault = undefined
    expect(waits).toEqual([...Array.from({ length: 8 }, () => 15), 1_440])
  })

  it('does not hide an account that a sign-in was making when its pass began', async () => {
    const newcomer = await join(30)
    nextDay()
    await readLeaderboard()
    const { started_at } = await scores()
    await setRows(test, 'forum_scores', { user_id: newcomer.user_id }, { imported_on: '2020-01-01' })
    await setRows(
      test,
      'forum_members',
      { user_id: newcomer.user_id },
      { created_at: new Date(started_at!.getTime() - 5_000), score_due_at: started_at! },
    )
    const before = forum.calls.length
    await importAll()
    expect(forum.calls.slice(before)).toContain(`/u/member${newcomer.id}.json`)
  })
})

describe('the setting forum_leaderboard_id', () => {
  it('names the leaderboard, and then no score of another one is read', async () => {
    const member = await join(40)
    await set('forum_leaderboard_id', '7')
    const before = forum.calls.length
    expect(await importNextScore(test.deps)).toBe(false)
    await setRows(test, 'forum_sources', { name: 'scores' }, { retry_at: null, started_at: null, tries: 0 })
    while (await readNextPage(test.deps));
    expect(new Set(forum.calls.slice(before))).toEqual(new Set(['/leaderboard/7.json']))
    expect(await scoreOf(member)).toMatchObject({ score: 40n })
    await set('forum_leaderboard_id', '')
    await holdLists()
  })
})

describe('a process that dies', () => {
  it('before the ledger has heard leaves a decision carried out once', async () => {
    const member = await join(1)
    await importAll()
    member.score = 10
    nextDay()
    // The state between the decision and the grant.
    await setRows(
      test,
      'forum_scores',
      { user_id: member.user_id },
      { score: 10n, imported_on: today(), pending_amount: 9n },
    )
    await Promise.all(Array.from({ length: 5 }, () => grantPending(test.deps)))
    expect(await grants(member)).toEqual([[9n, `forum:${member.id}:${today()}`]])
    expect(await scoreOf(member)).toMatchObject({ pending_amount: null })
  })

  it('after the ledger has heard grants nothing twice', async () => {
    const member = await join(1)
    await importAll()
    member.score = 10
    nextDay()
    await importAll()
    await setRows(test, 'forum_scores', { user_id: member.user_id }, { pending_amount: 9n })
    await syncWithForum(test.deps, () => false)
    expect(await balance(member)).toBe(9n)
    expect(await scoreOf(member)).toMatchObject({ pending_amount: null })
  })

  it('with a member leaves that member to the others after an hour', async () => {
    const member = await join(1)
    await importAll()
    member.score = 5
    nextDay()
    const held = new Date(test.clock.now().getTime() + 3_600_000)
    await setRows(test, 'forum_members', { user_id: member.user_id }, { score_due_at: held })
    await importAll()
    expect(await balance(member)).toBe(0n)
    test.clock.advance(3_600_000)
    await importAll()
    expect(await balance(member)).toBe(4n)
  })

  it('or a grant that the ledger refuses holds up nobody else', async () => {
    await importAll()
    const [full, fine] = [await join(1), await join(1)]
    await importAll()
    const most = 9_007_199_254_740_991n
    for (const [member, pending_amount] of [
      [full, most],
      [fine, 5n],
    ] as const)
      await setRows(
        test,
        'forum_scores',
        { user_id: member.user_id },
        { pending_amount, imported_on: '2020-01-01' },
      )
    // The issuance account has already granted points, so it cannot grant the maximum.
    await expect(grantPending(test.deps)).rejects.toThrow('grants of the points bridge failed')
    expect(await balance(fine)).toBe(5n)
    expect(await balance(full)).toBe(0n)
  })
})
