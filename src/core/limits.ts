/**
 * Rate limits. Postgres counts acts for all processes together, in fixed windows, so up to twice the limit may pass around
 * the end of a window. A limit is a setting, and 0 turns it off, or it is fixed. spec/limits 2.1 and 2.2.
 */
import { sql } from 'kysely'
import { columnsOf } from '../database/batcher.ts'
import type { Db } from '../database/connection.ts'
import type { Clock } from '../platform/clock.ts'
import { AppError } from '../platform/errors.ts'
import type { Settings } from './settings.ts'

/** How long a process keeps its own counts before it adds them to the common count. */
const SHARE_MS = 1_000

const LIMITS = {
  token_failures: { setting: 'limit_token_failures', seconds: 60 },
  device_requests: { setting: 'limit_device_requests', seconds: 60 },
  metadata_fetches: { setting: 'limit_metadata_fetches', seconds: 3_600 },
  /** Of one host. No member and no operator may send more of our requests to a stranger. */
  metadata_host: { maximum: 10, seconds: 60 },
  access_tokens: { setting: 'limit_access_tokens', seconds: 60 },
  api_requests: { setting: 'limit_api_requests', seconds: 60 },
  pages: { setting: 'limit_pages', seconds: 60 },
  /** Of one session. A menu of the forum asks when it opens. */
  forum_wallet: { maximum: 60, seconds: 60 },
  refused_requests: { setting: 'limit_refused_requests', seconds: 60 },
  address_tries: { setting: 'limit_address_tries', seconds: 3_600 },
  invitations: { setting: 'limit_invitations', seconds: 3_600 },
  key_pairs: { setting: 'limit_key_pairs', seconds: 3_600 },
  exports: { setting: 'limit_exports', seconds: 3_600 },
  order_files: { setting: 'limit_order_files', seconds: 3_600 },
  payouts: { setting: 'limit_payouts', seconds: 3_600 },
  links_created: { setting: 'limit_links_created', seconds: 3_600 },
  link_orders: { setting: 'limit_link_orders', seconds: 3_600 },
  link_reports: { setting: 'limit_link_reports', seconds: 3_600 },
  tips: { setting: 'limit_tips', seconds: 3_600 },
  /** Of one member, for the page of a tip. Known titles are not asked for. */
  topic_titles: { maximum: 20, seconds: 3_600 },
  test_orders: { setting: 'limit_test_orders', seconds: 3_600 },
  apps_created: { setting: 'limit_apps_created', seconds: 3_600 },
  registrations: { setting: 'limit_registrations', seconds: 3_600 },
  /** Each is a picture to decode, and to keep for a day. */
  app_logos: { maximum: 20, seconds: 3_600 },
} as const
export type LimitName = keyof typeof LIMITS

export type Limits = {
  /**
   * Counts in Postgres at once, for failures and rare acts. Throws too_many_attempts above the limit. From then on
   * `refuseFull` throws without a statement, until the window ends.
   */
  hit(name: LimitName, key: string): Promise<void>
  /**
   * Throws too_many_attempts when `hit` of this process has exceeded the limit. It runs no statement, so each other process
   * lets one more failure through, and the requests in flight.
   */
  refuseFull(name: LimitName, key: string): void
  /**
   * Counts in this process and adds to the common count every second, for frequent requests. Throws too_many_attempts above
   * the limit. A process learns the common count when it adds to it, so each exceeds the limit by one second's requests.
   */
  take(name: LimitName, key: string): Promise<void>
  /** Adds the counts that this process keeps to the common count, without waiting for the next second. */
  share(): Promise<void>
}

/** Opens the limits of a process. */
export function openLimits({ db, settings, clock }: { db: Db; settings: Settings; clock: Clock }): Limits {
  /** Keys above their limit, with the end of their window. */
  const full = new Map<string, number>()
  const counts = openCounts(db, clock, (now) => {
    for (const [id, ends_at] of full) if (ends_at <= now) full.delete(id)
  })
  const endOf = (name: LimitName) => {
    const window_ms = LIMITS[name].seconds * 1000
    return (Math.floor(clock().getTime() / window_ms) + 1) * window_ms
  }
  const maximumOf = async (name: LimitName) => {
    const limit = LIMITS[name]
    return 'setting' in limit ? (await settings.read())[limit.setting] : limit.maximum
  }
  const tooMany = (ends_at: number) =>
    new AppError('too_many_attempts', 'Too many requests. Wait a moment and try again.', {
      retry_after_seconds: Math.max(1, Math.ceil((ends_at - clock().getTime()) / 1000)),
    })

  return {
    async hit(name, key) {
      const maximum = await maximumOf(name)
      if (maximum === 0) return
      const ends_at = endOf(name)
      const [total] = await add(db, [{ name, key, ends_at, count: 1 }])
      if (total! <= maximum) return
      full.set(`${name} ${key}`, ends_at)
      counts.shareSoon()
      throw tooMany(ends_at)
    },
    refuseFull(name, key) {
      const ends_at = full.get(`${name} ${key}`)
      if (ends_at !== undefined && ends_at > clock().getTime()) throw tooMany(ends_at)
    },
    async take(name, key) {
      const maximum = await maximumOf(name)
      if (maximum === 0) return
      const ends_at = endOf(name)
      const entry = counts.entryOf(name, key, ends_at)
      if (entry.shared + entry.unshared >= maximum) throw tooMany(ends_at)
      entry.unshared += 1
      counts.shareSoon()
    },
    share: counts.share,
  }
}

type Counted = { name: LimitName; key: string; ends_at: number; unshared: number; shared: number }

/**
 * Keeps the counts of a process, and adds them to the common counts.
 * @param onShare receives the time of each addition.
 */
function openCounts(db: Db, clock: Clock, onShare: (now: number) => void) {
  const counted = new Map<string, Counted>()
  let timer: NodeJS.Timeout | undefined
  let sharing = Promise.resolve()

  const addAll = async () => {
    const now = clock().getTime()
    onShare(now)
    for (const [id, each] of counted) if (each.ends_at <= now) counted.delete(id)
    await addUnshared(
      db,
      [...counted.values()].filter((each) => each.unshared > 0),
    )
  }
  return {
    /** Returns the count of a window, which starts at 0. */
    entryOf(name: LimitName, key: string, ends_at: number): Counted {
      const id = `${name} ${key}`
      const known = counted.get(id)
      if (known?.ends_at === ends_at) return known
      const entry = { name, key, ends_at, unshared: 0, shared: 0 }
      counted.set(id, entry)
      return entry
    },
    shareSoon() {
      timer ??= setTimeout(() => {
        timer = undefined
        sharing = addAll()
      }, SHARE_MS).unref()
    },
    async share() {
      clearTimeout(timer)
      timer = undefined
      await sharing
      await addAll()
    },
  }
}

/** Adds the new counts, and updates the known common counts. */
async function addUnshared(db: Db, news: Counted[]): Promise<void> {
  const shared = news.map((each) => ({ each, count: each.unshared }))
  // These counts stay counted while the statement runs, because the common count does not contain them yet.
  for (const { each, count } of shared) {
    each.unshared -= count
    each.shared += count
  }
  try {
    const totals = await add(
      db,
      shared.map(({ each, count }) => ({ ...each, count })),
    )
    for (const [i, total] of totals.entries()) shared[i]!.each.shared = Number(total)
  } catch {
    // The counts are added a second later. A limit must not fail a request.
    for (const { each, count } of shared) {
      each.shared -= count
      each.unshared += count
    }
  }
}

type Addition = { name: LimitName; key: string; ends_at: number; count: number }

/** Adds counts in one statement and returns the totals in the given order. Rows are sorted, so statements cannot deadlock. */
async function add(db: Db, additions: Addition[]): Promise<number[]> {
  if (additions.length === 0) return []
  const added = additions.map(({ ends_at, ...addition }) => ({ ...addition, ends_at: new Date(ends_at) }))
  const { rows } = await sql<{ scope: string; key: string; count: bigint }>`
    insert into limit_counters as counter (scope, key, ends_at, count)
    select * from unnest(
      ${columnsOf(added, { name: 'text', key: 'text', ends_at: 'timestamptz', count: 'bigint' })}
    ) as added (scope, key, ends_at, count)
    order by scope, key, ends_at
    on conflict (scope, key, ends_at) do update set count = counter.count + excluded.count
    returning scope, key, count
  `.execute(db)
  const totals = new Map(rows.map(({ scope, key, count }) => [`${scope} ${key}`, Number(count)]))
  return additions.map(({ name, key }) => totals.get(`${name} ${key}`)!)
}

/** Returns the network that limits count for an address. For IPv6 it is the /64, which is what one subscriber gets. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!address.includes(':')) return address
  const [head = '', tail] = address.replace(/%.*$/, '').split('::')
  const groups = head.split(':').filter(Boolean)
  const rest = (tail ?? '').split(':').filter(Boolean)
  const zeros = new Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0')
  const all = tail === undefined ? groups : [...groups, ...zeros, ...rest]
  const network = all.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}
