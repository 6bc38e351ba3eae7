/**
 * A pass reads one list of the forum from its first page to its last. Any number of processes claim one list at a time, read one page and
 * go on from there, so a process that dies loses a page at most. Presence acts with its page; absence is judged at the end.
 *
 * A list that lost many members at once is not believed: the pass runs again. If it misses as many again, they are read few at a time.
 * spec/accounts 5.8.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import { objectOf } from '../forum/facts.ts'
import { earningForum } from '../forum/points.ts'
import { type Answer, askForum, type ForumFailure, isOfAll } from '../forum/requests.ts'
import { actOnPresence, hint, holders } from './compare.ts'
import { saveListedGroups } from './groups.ts'
import { decideScores } from './leaderboard.ts'
import { type Fact, factOf, questionOf, readGroups, readPage } from './lists.ts'

/** Longer than any answer takes. After this time other processes go on with the list of a process that died. */
const CLAIM_SECONDS = 60
/** A pass waits for so many times its last duration, so a list takes a third of the time at most. */
const DURATIONS_APART = 3
const HOUR_MS = 3_600_000
/** A pass that began so long ago begins again. */
const PASS_MS_MAX = 24 * HOUR_MS
/** A list that the forum refuses is asked for again after this time. */
const REFUSED_MS = HOUR_MS
const UNREADABLE_MS = 900_000
/** How often a list that the forum still computes is asked for again, before the next day. */
const NOT_READY_TRIES_MAX = 8
const NOT_READY_MS = 900_000
/** A list has shrunk that misses more members than this, and more than this share of them. */
const ABSENT_MAX = 50
const ABSENT_PERCENT_MAX = 5
/** Of the members of a list that shrank, so many are read a minute. */
const HINTS_A_MINUTE = 5
/** Lists that must be this young, so that single reads may be rare. */
const NEEDED = ['suspended', 'staff', 'trust_level_1']
const NEEDED_HOURS_MAX = 3

type Source = {
  name: string
  group_id: bigint | null
  group_name: string | null
  pass: number
  next_page: number
  started_at: Date
  absent: number
  tries: number
  failure: string | null
}

/** Reads the next page of the list that is due. Returns whether a page was read, so whether more may be due. */
export async function readNextPage(deps: Core): Promise<boolean> {
  if (deps.config.DISCOURSE_API_KEY === undefined) return false
  const source = await claimSource(deps)
  if (source === undefined) return false
  const fact = factOf(source)
  // Taken first, because a hint that arrives during the request may be newer than the answer.
  const asked_at = deps.clock()
  const { forum_leaderboard_id: leaderboard_id } = await deps.settings.read()
  const { group_name, next_page } = source
  const answer = await askForum(deps, questionOf(fact, { group_name, leaderboard_id }, next_page))
  const failure = failureOf(fact, answer)
  if (failure !== undefined) {
    await putBack(deps, source, fact, failure)
    return !isOfAll(failure)
  }
  const { body } = answer as { body: unknown }
  const differences = await deps.db
    .transaction()
    .execute((tx) => savePage(deps, tx, source, fact, body, asked_at))
  if (differences === 'unreadable') await putBack(deps, source, fact, 'unreadable')
  else deps.metrics?.forumDifferences.inc({ source: labelOf(fact, source.name) }, differences)
  return true
}

/** All custom groups share one label, so that a forum's groups do not become series. */
export function labelOf(fact: Fact, name: string): string {
  return fact.kind === 'group' ? 'group' : name
}

/** Claims the list that is due with the shortest interval, and begins a pass of it unless one runs. */
async function claimSource({ db, clock, config, settings }: Core): Promise<Source | undefined> {
  const now = clock()
  const hasScores = earningForum(config, await settings.read()) !== undefined
  const isOver = sql<boolean>`next_page > 0 and started_at <= ${new Date(now.getTime() - PASS_MS_MAX)}::timestamptz`
  const { rows } = await sql<Source>`
    with due as (
      select name, next_page = 0 or ${isOver} as begins
      from forum_sources
      where (claimed_until is null or claimed_until <= ${now}) and (retry_at is null or retry_at <= ${now})
        and (
          next_page > 0 or started_at is null
          or started_at + greatest(every_minutes * interval '1 minute', last_seconds * ${DURATIONS_APART} * interval '1 second')
            <= ${now}
        )
        and (group_name is not null or name in ('suspended', 'staff', 'silenced', 'groups', 'scores'))
        and (name <> 'scores' or ${hasScores})
      order by every_minutes, next_page > 0 desc, started_at nulls first, name
      limit 1 for update skip locked
    )
    update forum_sources as source set
      claimed_until = ${new Date(now.getTime() + CLAIM_SECONDS * 1000)}::timestamptz,
      pass = source.pass + begins::integer,
      next_page = case when begins then 1 else source.next_page end,
      started_at = case when begins then ${now}::timestamptz else source.started_at end,
      pages = case when begins then 0 else source.pages end,
      rows = case when begins then 0 else source.rows end,
      accounts = case when begins then 0 else source.accounts end,
      differences = case when begins then 0 else source.differences end
    from due where source.name = due.name
    returning source.name, group_id, group_name, pass, source.next_page, started_at, absent, tries, failure`.execute(
    db,
  )
  return rows[0]
}

/** Why an answer has no page. */
function failureOf(fact: Fact, answer: Answer): ForumFailure | 'not_found' | undefined {
  if (answer === 'not_found') return answer
  if ('failure' in answer) return answer.failure
  const body = objectOf(answer.body)
  // Discourse answers so too while it computes a leaderboard.
  if (fact.kind === 'scores' && Array.isArray(body?.users) && body.users.length === 0 && body.reason)
    return 'not_ready'
  return undefined
}

/** Ends the claim after an answer without a page. What concerns all requests leaves the list due. */
async function putBack(
  { db, clock }: Core,
  source: Source,
  fact: Fact,
  failure: ForumFailure | 'not_found',
): Promise<void> {
  const now = clock()
  const later = (ms: number) => new Date(now.getTime() + ms)
  const dayLater = later(24 * HOUR_MS)
  const isRefused = failure === 'refused' || failure === 'not_found'
  const waits = () => {
    if (isRefused) return { next_page: 0, retry_at: fact.kind === 'scores' ? dayLater : later(REFUSED_MS) }
    if (failure !== 'not_ready') return { retry_at: later(UNREADABLE_MS) }
    if (source.tries >= NOT_READY_TRIES_MAX) return { next_page: 0, tries: 0, retry_at: dayLater }
    return { tries: source.tries + 1, retry_at: later(NOT_READY_MS) }
  }
  await db
    .updateTable('forum_sources')
    .set({ claimed_until: null, ...(!isOfAll(failure) && { failure, ...waits() }) })
    .where('name', '=', source.name)
    .where('pass', '=', source.pass)
    .execute()
}

/** Saves a page with all that it does in one transaction. Returns how many members differed. */
async function savePage(
  deps: Core,
  tx: Tx,
  source: Source,
  fact: Fact,
  body: unknown,
  asked_at: Date,
): Promise<number | 'unreadable'> {
  const { name, pass, next_page } = source
  // Another process may have gone on with it, after this one stood still.
  const own = await tx
    .selectFrom('forum_sources')
    .where('name', '=', name)
    .where('pass', '=', pass)
    .where('next_page', '=', next_page)
    .select('name')
    .forUpdate()
    .executeTakeFirst()
  if (own === undefined) return 0
  const saved = await actOn(deps, tx, fact, next_page, body, asked_at)
  if (saved === undefined) return 'unreadable'
  const { rows, user_ids, differences, isLast } = saved
  if (user_ids.length > 0)
    await tx
      .insertInto('forum_source_pages')
      .values({ source: name, page: next_page, pass, user_ids })
      .onConflict((conflict) => conflict.columns(['source', 'page']).doUpdateSet({ pass, user_ids }))
      .execute()
  await tx
    .updateTable('forum_sources')
    .set((eb) => ({
      next_page: next_page + 1,
      pages: eb('pages', '+', 1),
      rows: eb('rows', '+', rows),
      accounts: eb('accounts', '+', user_ids.length),
      differences: eb('differences', '+', differences),
      claimed_until: null,
      tries: 0,
    }))
    .where('name', '=', name)
    .execute()
  return isLast ? differences + (await endPass(deps, tx, source, fact)) : differences
}

type Acted = { rows: number; user_ids: bigint[]; differences: number; isLast: boolean }

async function actOn(
  deps: Core,
  tx: Tx,
  fact: Fact,
  number: number,
  body: unknown,
  asked_at: Date,
): Promise<Acted | undefined> {
  if (fact.kind === 'groups') {
    const groups = readGroups(body)
    if (groups === undefined) return undefined
    const differences = await saveListedGroups(deps, tx, groups, asked_at)
    return { rows: groups.length, user_ids: [], differences, isLast: true }
  }
  const page = readPage(fact, number, body)
  if (page === undefined) return undefined
  const compared =
    fact.kind === 'scores'
      ? await decideScores(deps, tx, page.rows, asked_at)
      : await actOnPresence(tx, fact, page.rows, asked_at)
  return { rows: page.rows.length, ...compared, isLast: page.isLast }
}

/** Ends a pass: hints the members with the fact who were on no page. Returns how many. */
async function endPass({ clock }: Core, tx: Tx, source: Source, fact: Fact): Promise<number> {
  const now = clock()
  const seconds = Math.ceil((now.getTime() - source.started_at.getTime()) / 1000)
  const judged = await judgeAbsence(tx, source, fact, now)
  const isWhole = judged.failure !== 'shrunk'
  await tx
    .updateTable('forum_sources')
    .set({
      next_page: 0,
      absent: judged.absent,
      last_seconds: seconds,
      failure: judged.failure,
      retry_at: null,
      ...(isWhole && { finished_at: now }),
    })
    .where('name', '=', source.name)
    .execute()
  // A suspension just after the beginning of this pass is known at the end of the next one.
  if (fact.kind === 'suspended' && isWhole)
    await tx
      .insertInto('forum_suspension_passes')
      .values({ started_at: source.started_at, finished_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  if (judged.failure !== 'shrinking')
    await tx.deleteFrom('forum_source_pages').where('source', '=', source.name).execute()
  return judged.hinted
}

/**
 * `shrunk`: too many are missing to be believed at once. `shrinking`: as many were missing before, so they are read few at a time.
 */
type Judged = { absent: number; hinted: number; failure: 'shrunk' | 'shrinking' | null }

async function judgeAbsence(tx: Tx, source: Source, fact: Fact, now: Date): Promise<Judged> {
  const holding = holders(fact, now)
  if (holding === undefined) return { absent: 0, hinted: 0, failure: null }
  const { rows } = await sql<{
    count: number
  }>`select count(*)::integer as count from (${holding}) as held`.execute(tx)
  const absent = await findAbsent(tx, source, fact, now)
  const isMany = absent.length > ABSENT_MAX && isOver(absent.length, rows[0]!.count)
  if (!isMany) {
    await hint(tx, absent, now)
    return { absent: absent.length, hinted: absent.length, failure: null }
  }
  const isAsBefore =
    source.failure !== null && !isOver(Math.abs(absent.length - source.absent), source.absent)
  return { absent: absent.length, hinted: 0, failure: isAsBefore ? 'shrinking' : 'shrunk' }
}

/** Whether a number is more than the bearable share of all. */
function isOver(part: number, all: number): boolean {
  return part * 100 > all * ABSENT_PERCENT_MAX
}

/** Finds our members with the fact who are on no page of the pass, and whom nobody has read since it began. */
async function findAbsent(
  tx: Tx,
  { name, pass, started_at }: Pick<Source, 'name' | 'pass' | 'started_at'>,
  fact: Fact,
  now: Date,
  max: number | null = null,
): Promise<bigint[]> {
  const { rows } = await sql<{ user_id: bigint }>`
    select user_id
    from (${holders(fact, now)}) as held join forum_members as member using (user_id)
    where member.deleted_at is null and member.hinted_at is null and coalesce(member.checked_at < ${started_at}, true)
      and user_id not in (
        select unnest(user_ids) from forum_source_pages where source = ${name} and pass = ${pass}
      )
    order by user_id limit ${max}`.execute(tx)
  return rows.map(({ user_id }) => user_id)
}

/** Hints a few members of each list that keeps missing many, once a minute. */
export async function hintMissing({ db, clock }: Core): Promise<void> {
  const now = clock()
  await db.transaction().execute(async (tx) => {
    const sources = await tx
      .selectFrom('forum_sources')
      .where('failure', '=', 'shrinking')
      .where('next_page', '=', 0)
      .where((eb) => eb.or([eb('retry_at', 'is', null), eb('retry_at', '<=', now)]))
      .select(['name', 'group_id', 'pass', 'started_at'])
      .forUpdate()
      .skipLocked()
      .execute()
    for (const { started_at, ...source } of sources) {
      const few = await findAbsent(
        tx,
        { ...source, started_at: started_at! },
        factOf(source),
        now,
        HINTS_A_MINUTE,
      )
      await hint(tx, few, now)
      await tx
        .updateTable('forum_sources')
        .set({
          retry_at: new Date(now.getTime() + 60_000),
          ...(few.length === 0 && { failure: null, retry_at: null }),
        })
        .where('name', '=', source.name)
        .execute()
      if (few.length === 0)
        await tx.deleteFrom('forum_source_pages').where('source', '=', source.name).execute()
    }
  })
}

/** Whether the lists are so fresh that single reads may be rare. */
export async function areListsFresh(db: Db, now: Date): Promise<boolean> {
  const since = new Date(now.getTime() - NEEDED_HOURS_MAX * HOUR_MS)
  const { fresh } = await db
    .selectFrom('forum_sources')
    .where('name', 'in', NEEDED)
    .where('finished_at', '>=', since)
    .select((eb) => eb.fn.countAll<bigint>().as('fresh'))
    .executeTakeFirstOrThrow()
  return fresh === BigInt(NEEDED.length)
}
