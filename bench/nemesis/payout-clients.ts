/** Programs that pay out with an access key, cancel, and resume what has halted. */
import { readTakings } from './clients.ts'
import type { Act, Facts, Outcome } from './history.ts'
import type { Keeper } from './people.ts'
import { ALONE, form, json, REPEATS, type Self, think } from './self.ts'

const LINES_MAX = 12
const AMOUNT_MAX = 50
/** More than a piece, which is a transaction of its own. */
const MANY_LINES = 60
const MANY = 0.2
const ALL = 0.3
const WRONG = 0.05
const CANCELS = 0.2
const LOOKS_MAX = 30
const ENDS = ['finished', 'refused', 'cancelled']

type Line = { line_id: string; to_user_id: string; to_username: string; amount: number }
type Payout = { seller: Keeper; reference: string; mode: string; lines: Line[] }

/** Creates a payout and follows it to its end. What has halted goes on or is cancelled. */
export async function payOut(self: Self): Promise<void> {
  const { people, random, buyer } = self
  const seller = random.pick(people.keepers)
  const count = random.chance(MANY) ? MANY_LINES : 1 + random.below(LINES_MAX)
  const payout: Payout = {
    seller,
    reference: `${buyer.username}-${self.count}`,
    mode: random.chance(ALL) ? 'all' : 'each',
    lines: Array.from({ length: count }, (_, i) => {
      const to = random.pick(people.buyers)
      return {
        line_id: `l${i}`,
        to_user_id: String(to.id),
        to_username: random.chance(WRONG) ? 'nobody' : to.username,
        amount: 1 + random.below(AMOUNT_MAX),
      }
    }),
  }
  const from = self.recorder.now()
  // From now on each line may be paid, whatever the answer.
  for (const line of payout.lines) recordLine(self, payout, line, { from, outcome: 'unknown' })
  const [created] = await Promise.all([
    create(self, payout),
    ...(random.chance(REPEATS) ? [create(self, payout)] : []),
  ])
  if (created.outcome !== 'done') return
  if (random.chance(CANCELS)) await ask(self, payout, 'cancel')
  let last = created
  for (let looks = 0; looks < LOOKS_MAX && !ENDS.includes(String(last.told.status)); looks += 1) {
    await think(self)
    last = await ask(self, payout)
    if (last.told.status === 'halted')
      last = await ask(self, payout, random.chance(ALONE) ? 'resume' : 'cancel')
    if (self.hasEnded()) break
  }
  if (random.chance(REPEATS)) await create(self, payout)
  await readLines(self, payout, from)
  if (random.chance(ALONE)) await readTakings(self, seller)
}

const subjectOf = ({ seller, reference }: Payout) => `${seller.name}/${reference}`

const factsOf = ({ seller, mode }: Payout) => ({ shop: seller.name, sender: seller.owner.username, mode })

function recordLine(
  { recorder, client }: Self,
  payout: Payout,
  { line_id, to_username, amount }: Line,
  { from, outcome, told = {} }: { from: number; outcome: Outcome; told?: Facts },
): void {
  recorder.add({
    ...{ client: client.name, kind: 'line', from, to: recorder.now(), outcome, status: 0, process: '', told },
    subject: `${payout.seller.name}/payout:${payout.reference}:${line_id}`,
    asked: { ...factsOf(payout), payout: subjectOf(payout), recipient: to_username, amount },
  })
}

/** The token of a shop's key, which is renewed when it is refused. */
const tokens = new WeakMap<Keeper, Promise<string>>()

async function tokenOf({ url }: Self, seller: Keeper): Promise<string> {
  const { client_id, client_secret } = seller.key
  const fetched = async () => {
    const init = form({ grant_type: 'client_credentials', client_id, client_secret })
    const answer = await fetch(`${url}/payment/token`, { ...init, signal: AbortSignal.timeout(10_000) })
    return String(((await answer.json()) as { access_token?: string }).access_token)
  }
  const token = tokens.get(seller) ?? fetched()
  tokens.set(seller, token)
  try {
    return await token
  } catch {
    // Refused like a token that has ended, and so asked for again.
    tokens.delete(seller)
    return 'none'
  }
}

async function request(
  self: Self,
  payout: Payout,
  path: string,
  { method, body }: { method: 'GET' | 'POST'; body?: unknown },
  read: (body: Record<string, unknown>) => Facts,
): Promise<Act> {
  const { client, hasEnded } = self
  for (;;) {
    const authorization = `Bearer ${await tokenOf(self, payout.seller)}`
    const act = await client.insist({
      kind: 'payout',
      subject: subjectOf(payout),
      asked: { ...factsOf(payout), path },
      path: `/api/payment/payouts${path}`,
      init: {
        method,
        headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      },
      read: json((body, { status }) =>
        status === 200 && body.success === true
          ? { outcome: 'done', told: read(body) }
          : { outcome: 'refused' },
      ),
    })
    if (act.status !== 401 || hasEnded()) return act
    tokens.delete(payout.seller)
    await think(self)
  }
}

const sumsOf = ({ status, paid, refused, cancelled, paid_total }: Record<string, unknown>): Facts => ({
  ...{ status: String(status), paid: Number(paid), refused: Number(refused) },
  ...{ cancelled: Number(cancelled), paid_total: Number(paid_total) },
})

function create(self: Self, payout: Payout): Promise<Act> {
  const { reference, mode, lines } = payout
  return request(self, payout, '', { method: 'POST', body: { reference, mode, lines } }, sumsOf)
}

function ask(self: Self, payout: Payout, act?: 'cancel' | 'resume'): Promise<Act> {
  const path = `/${payout.reference}${act === undefined ? '' : `/${act}`}`
  return request(self, payout, path, { method: act === undefined ? 'GET' : 'POST' }, sumsOf)
}

type ToldLine = { line_id: string; status: string; transaction_id: string | null }

/** Reads what has come of each line. A line that waits still may yet be paid. */
async function readLines(self: Self, payout: Payout, from: number): Promise<void> {
  let told: ToldLine[] = []
  const path = `/${payout.reference}/lines?limit=100`
  const act = await request(self, payout, path, { method: 'GET' }, ({ data }) => {
    told = data as ToldLine[]
    return {}
  })
  if (act.outcome !== 'done') return
  for (const { line_id, status, transaction_id } of told) {
    const line = payout.lines.find((each) => each.line_id === line_id)
    if (line === undefined || status === 'pending') continue
    const outcome = status === 'paid' ? 'done' : 'refused'
    const facts = { status, ...(transaction_id !== null && { transaction: transaction_id }) }
    recordLine(self, payout, line, { from, outcome, told: facts })
  }
}
