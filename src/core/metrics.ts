/**
 * Metrics for Prometheus: GET /metrics at METRICS_HOST and METRICS_PORT, an address of its own that the internet need not
 * reach. Without METRICS_PORT nothing is counted, and the library is not loaded. docs/operations has a dashboard and
 * alerts over these names.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Counter, Gauge, Histogram } from '@prometheus-io/client'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { type Db, poolUse } from '../database/connection.ts'
import { hashesWaiting } from '../platform/argon2.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'

/** Bounds in seconds, around the promised times of pages and of the signed API. */
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
/** An attempt ends after 10 seconds at the latest. */
const ATTEMPT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export type Metrics = {
  /** Counted by route pattern and not by address, because addresses carry ids and keys and their number is unbounded. */
  requests: Histogram<'method' | 'route' | 'status'>
  requestsInHand: Gauge
  overloads: Counter
  payments: Counter<'outcome'>
  transfers: Counter<'outcome'>
  charges: Counter<'outcome'>
  payoutLines: Counter<'outcome'>
  accessTokens: Counter<'outcome'>
  notifications: Histogram<'outcome'>
  logouts: Counter<'outcome'>
  signInFailures: Counter<'reason'>
  forumRequests: Counter<'lane' | 'outcome'>
  forumFailures: Counter<'failure'>
  forumDifferences: Counter<'source'>
  forumEvents: Counter<'type' | 'outcome'>
  forumUnknownFields: Counter<'field'>
  forumWallet: Counter<'outcome'>
  tips: Counter<'outcome'>
  /** Returns all metrics as text, after reading those of the database. Simultaneous scrapes share one reading. */
  scrape(): Promise<{ type: string; text: string }>
}

type MetricsDeps = { config: Config; db: Db; clock: Clock }

/** Opens the metrics. Returns undefined unless METRICS_PORT is set. */
export async function openMetrics(deps: MetricsDeps): Promise<Metrics | undefined> {
  if (deps.config.METRICS_PORT === undefined) return undefined
  const { default: prometheus } = await import('@prometheus-io/client')
  const registry = new prometheus.Registry()
  // Memory, CPU, garbage collection and the delay of the event loop.
  prometheus.collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const counter: MakeCounter = (name, help, labelNames) =>
    new prometheus.Counter({ name, help, labelNames, registers })
  const gauge: MakeGauge = (name, help, labelNames = []) =>
    new prometheus.Gauge({ name, help, labelNames, registers })
  const look = makeLook(deps, gauge)
  let reading: Promise<string> | undefined

  return {
    requests: new prometheus.Histogram({
      name: 'tessera_http_request_duration_seconds',
      help: 'Time to answer, by route pattern and class of status.',
      labelNames: ['method', 'route', 'status'],
      buckets: REQUEST_SECONDS,
      registers,
    }),
    requestsInHand: gauge('tessera_http_requests_in_hand', 'Requests that this process is working on.'),
    overloads: counter<string>(
      'tessera_overload_refusals_total',
      'Requests refused because there were too many.',
      [],
    ),
    payments: counter('tessera_payments_total', 'Payments that members confirmed, by outcome.', ['outcome']),
    transfers: counter('tessera_transfers_total', 'Transfers that applications asked for, by outcome.', [
      'outcome',
    ]),
    charges: counter(
      'tessera_charges_total',
      'Charges under mandates that applications asked for, by outcome.',
      ['outcome'],
    ),
    accessTokens: counter('tessera_access_tokens_total', 'Tokens that access keys asked for, by outcome.', [
      'outcome',
    ]),
    payoutLines: counter(
      'tessera_payout_lines_total',
      'Lines of payouts that the worker judged, by outcome.',
      ['outcome'],
    ),
    notifications: new prometheus.Histogram({
      name: 'tessera_notification_attempt_duration_seconds',
      help: 'Attempts to notify merchants, by outcome.',
      labelNames: ['outcome'],
      buckets: ATTEMPT_SECONDS,
      registers,
    }),
    logouts: counter('tessera_logout_attempts_total', 'Attempts to send logout tokens, by outcome.', [
      'outcome',
    ]),
    signInFailures: counter(
      'tessera_sign_in_failures_total',
      'Wrong passwords and codes, and tries that had to wait.',
      ['reason'],
    ),
    forumFailures: counter('tessera_forum_failures_total', 'Questions that the forum did not answer.', [
      'failure',
    ]),
    ...forumCounters(counter),
    async scrape() {
      reading ??= look()
        .then(() => registry.metrics())
        .finally(() => {
          reading = undefined
        })
      return { type: registry.contentType, text: await reading }
    },
  }
}

type MakeCounter = <Label extends string>(name: string, help: string, labelNames: Label[]) => Counter<Label>

type MakeGauge = (name: string, help: string, labelNames?: string[]) => Gauge<string>

/** Makes the reading of the forum's lists and hints. All custom groups share one label. */
function makeForumLook({ config, db, clock }: MetricsDeps, gauge: MakeGauge) {
  const by = ['source']
  const shown = {
    age: gauge('tessera_forum_source_age_seconds', 'Time since the last whole pass of a list.', by),
    pass: gauge('tessera_forum_source_pass_seconds', 'How long the last pass of a list took.', by),
    refused: gauge('tessera_forum_source_refused', 'Whether the forum refuses a list to the API key.', by),
  }
  const hints = gauge('tessera_forum_hints', 'Members known to have changed, who wait for a read.', [
    'urgent',
  ])
  const reset = () => {
    for (const each of [...Object.values(shown), hints]) each.reset()
  }
  const read = async () => {
    if (config.DISCOURSE_API_KEY === undefined) return
    const { rows } = await sql<{ source: string; age: number; pass: number | null; refused: number }>`
      select case when group_id is null then name else 'group' end as source,
        max(extract(epoch from ${clock()}::timestamptz - coalesce(finished_at, created_at)))::float8 as age,
        max(last_seconds)::float8 as pass,
        max((failure = 'refused' or failure = 'not_found' and name <> 'scores')::integer)::float8 as refused
      from forum_sources where name <> 'scores' or started_at is not null group by 1`.execute(db)
    const waiting = await sql<{ urgent: boolean; count: number }>`
      select hint_is_urgent as urgent, count(*)::float8 as count
      from forum_members where hinted_at is not null group by 1`.execute(db)
    reset()
    for (const { source, age, pass, refused } of rows) {
      shown.age.set({ source }, Math.max(0, age))
      if (pass !== null) shown.pass.set({ source }, pass)
      shown.refused.set({ source }, refused ?? 0)
    }
    for (const urgent of [true, false])
      hints.set({ urgent: String(urgent) }, waiting.rows.find((row) => row.urgent === urgent)?.count ?? 0)
  }
  return { read, reset }
}

function forumCounters(counter: MakeCounter) {
  return {
    forumRequests: counter(
      'tessera_forum_requests_total',
      'Requests to the forum, by who asked and outcome.',
      ['lane', 'outcome'],
    ),
    forumDifferences: counter(
      'tessera_forum_differences_total',
      'Members whom a list of the forum states otherwise than stored.',
      ['source'],
    ),
    forumEvents: counter('tessera_forum_events_total', 'Webhooks of the forum, by type and outcome.', [
      'type',
      'outcome',
    ]),
    forumWallet: counter(
      'tessera_forum_wallet_total',
      'Wallets that the forum’s pages asked for, by outcome.',
      ['outcome'],
    ),
    tips: counter('tessera_tips_total', 'Tips that members confirmed, by outcome.', ['outcome']),
    forumUnknownFields: counter(
      'tessera_forum_unknown_fields_total',
      'Fields in no right form in what the forum stated of a member.',
      ['field'],
    ),
  }
}

/** Makes the reading of figures of the whole installation, which all processes report alike, and of this process's queues. */
function makeLook({ config, db, clock }: MetricsDeps, gauge: MakeGauge): () => Promise<void> {
  const forum = makeForumLook({ config, db, clock }, gauge)
  const isUp = gauge('tessera_database_up', 'Whether the database answered this scrape.')
  const pool = {
    max: gauge('tessera_database_pool_max', 'Connections that this process may hold.'),
    open: gauge('tessera_database_pool_open', 'Connections that it holds.'),
    idle: gauge('tessera_database_pool_idle', 'Connections that do nothing.'),
    waiting: gauge('tessera_database_pool_waiting', 'Callers that wait for a connection.'),
  }
  const hashes = gauge('tessera_password_hashes_waiting', 'Hashes of passwords that wait for a thread.')
  const facts = {
    notifications_due: gauge('tessera_notifications_due', 'Notifications whose time has come.'),
    oldest_due_seconds: gauge('tessera_notification_oldest_due_seconds', 'For how long the oldest is due.'),
    broken_rows: gauge(
      'tessera_ledger_broken_rows',
      'Rows that break an invariant of the ledger, by the newest proof: must be 0.',
    ),
    proven_at: gauge('tessera_ledger_proven_timestamp_seconds', 'When the newest proof was finished.'),
    unsealed_seconds: gauge('tessera_ledger_unsealed_seconds', 'Age of the oldest journal without its seal.'),
    active_mandates: gauge('tessera_mandates_active', 'Mandates that members have accepted and not paused.'),
    oldest_notice_seconds: gauge(
      'tessera_charge_notice_oldest_due_seconds',
      'For how long the oldest notice of a charge to a member is due.',
    ),
    oldest_payout_seconds: gauge(
      'tessera_payout_oldest_running_seconds',
      'For how long the oldest running payout has been running.',
    ),
    backed_up_at: gauge(
      'tessera_backup_finished_timestamp_seconds',
      'When the last backup was finished, or 0.',
    ),
    sent_at: gauge(
      'tessera_backup_sent_timestamp_seconds',
      'When the newest backup in the bucket was finished, or 0. Absent without a bucket.',
    ),
    restored_at: gauge(
      'tessera_backup_proven_timestamp_seconds',
      'When a restored backup last proved its books, or 0. Absent without a bucket, until the first time.',
    ),
  }
  pool.max.set(config.DATABASE_POOL_MAX)
  return async () => {
    hashes.set(hashesWaiting())
    const use = poolUse(db)
    for (const name of ['open', 'idle', 'waiting'] as const) pool[name].set(use[name])
    try {
      const found = await readFacts(db, clock())
      for (const [name, shown] of Object.entries(facts)) {
        const figure = found[name as keyof typeof facts]
        if (figure === null) shown.remove()
        else shown.set(figure)
      }
      await forum.read()
      isUp.set(1)
    } catch {
      // The scrape goes on, because the other figures are needed most without a database.
      isUp.set(0)
      for (const figure of Object.values(facts)) figure.remove()
      forum.reset()
    }
  }
}

type Facts = Record<
  | 'notifications_due'
  | 'oldest_due_seconds'
  | 'broken_rows'
  | 'proven_at'
  | 'unsealed_seconds'
  | 'active_mandates'
  | 'oldest_notice_seconds'
  | 'oldest_payout_seconds'
  | 'backed_up_at'
  | 'sent_at'
  | 'restored_at',
  number | null
>

/** Reads a few rows by their indexes and never scans the ledger. */
async function readFacts(db: Db, now: Date): Promise<Facts> {
  const seconds_since = (moment: string) =>
    sql`coalesce(extract(epoch from ${now}::timestamptz - ${sql.raw(moment)}), 0)::float8`
  const { rows } = await sql<Facts>`
    with due as (
      select count(*) as count, min(next_attempt_at) as oldest
      from notifications where status = 'due' and next_attempt_at <= ${now}
    ), newest as (
      select proof, finished_at from books_proofs order by id desc limit 1
    ), unsealed as (
      select created_at from journal where id > (select sealed_to from journal_sealing) order by id limit 1
    )
    select due.count::float8 as notifications_due,
      ${seconds_since('due.oldest')} as oldest_due_seconds,
      coalesce((
        select sum((each->>'broken')::bigint) from newest, json_array_elements(proof->'invariants') as each
      ), 0)::float8 as broken_rows,
      coalesce((select extract(epoch from finished_at) from newest), 0)::float8 as proven_at,
      ${seconds_since('(select created_at from unsealed)')} as unsealed_seconds,
      (select count(*) from mandates where status = 'active')::float8 as active_mandates,
      greatest(0, ${seconds_since('(select min(due_at) from charge_notices)')}) as oldest_notice_seconds,
      greatest(0, ${seconds_since("(select min(updated_at) from payouts where status = 'running')")}) as oldest_payout_seconds,
      coalesce(extract(epoch from finished_at), 0)::float8 as backed_up_at,
      case when has_bucket then coalesce(extract(epoch from sent_at), 0) end::float8 as sent_at,
      coalesce(extract(epoch from proven_at), case when has_bucket then 0 end)::float8 as restored_at
    from due left join last_backup on true`.execute(db)
  return rows[0]!
}

/** Measures the time of every request of the application. */
export function measureRequests(app: FastifyInstance, { requests }: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none'
    const status = `${Math.floor(reply.statusCode / 100)}xx`
    requests.observe({ method: request.method, route, status }, reply.elapsedTime / 1000)
    done()
  })
}

/** Counts an act by its outcome, or as `failed` when it throws. */
export async function countOutcome<T>(
  counter: Counter<'outcome'> | undefined,
  act: Promise<T>,
  outcomeOf: (result: T) => string,
): Promise<T> {
  try {
    const result = await act
    counter?.inc({ outcome: outcomeOf(result) })
    return result
  } catch (error) {
    counter?.inc({ outcome: 'failed' })
    throw error
  }
}

/** Serves the metrics at their own address, and nothing else there. Returns the function that stops it. */
export async function serveMetrics(
  { METRICS_HOST, METRICS_PORT }: Config,
  metrics: Metrics,
): Promise<() => Promise<void>> {
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') return response.writeHead(404).end()
    try {
      const { type, text } = await metrics.scrape()
      response.writeHead(200, { 'content-type': type }).end(text)
    } catch {
      response.writeHead(500).end()
    }
  }).listen(METRICS_PORT, METRICS_HOST)
  await once(server, 'listening')
  return async () => {
    server.close().closeAllConnections()
    await once(server, 'close')
  }
}
