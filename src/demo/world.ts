/**
 * Creates the members of the demo, their points, and the shops' applications. A later start finds them, and completes
 * what an interrupted start left.
 */

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { forumScoreReason } from '../accounts/forum/score-reason.ts'
import { createUser } from '../accounts/people/users.ts'
import { hashPassword, verifyPassword } from '../accounts/security/password.ts'
import type { Db } from '../database/connection.ts'
import { postPoints } from '../ledger/points.ts'
import { keepProof } from '../ledger/proofs.ts'
import { balanceOf } from '../ledger/wallet.ts'
import type { Parts } from '../parts.ts'
import type { Config } from '../platform/config.ts'
import { randomText } from '../platform/secrets.ts'
import {
  type DemoApps,
  ensureGatewayApp,
  ensureLinked,
  ensureOauthApp,
  ensureShopApp,
  type SavedApps,
} from './apps.ts'
import { MEMBERS, NEWCOMERS, PORTRAITS } from './cast.ts'
import { PRINTED_POINTS } from './history.ts'
import { introduce, isUntouched } from './introduction.ts'
import { ensureWindows, findLinkUrl } from './links.ts'
import { ensureMandates, turnOn } from './mandates.ts'
import { daysBefore, ensureMembers, hashUnknownPassword } from './members.ts'
import { ensurePayout } from './payouts.ts'
import { ensureSampleMembers, ensureSamples, hasSamples } from './samples.ts'
import { AUTHORS, ensureAuthor, ensureTips } from './tips.ts'

const PASSWORD_LENGTH = 6
/** Letters and digits that look different from each other. */
const READABLE = 'abcdefghjkmnpqrstuvwxyz23456789'

/** The merchant's points are what his shops have taken. */
export const PEOPLE = [
  { username: 'alice', part: 'a buyer', points: PRINTED_POINTS.alice, trust_level: 2, joined: 521 },
  { username: 'bob', part: 'the merchant', points: undefined, trust_level: 2, joined: 683 },
  { username: 'carol', part: 'a basic member', points: PRINTED_POINTS.carol, trust_level: 1, joined: 142 },
  { username: 'dora', part: 'short of points', points: 50n, trust_level: 0, joined: 11 },
  { username: 'admin', part: 'the administrator', points: 0n, trust_level: 4, is_admin: true, joined: 730 },
] as const

type DemoPerson = {
  id: number
  username: string
  password: string
  points: number
  trust_level: number
  admin: boolean
}

/** The demo as `--json` prints it. */
export type Demo = DemoApps & {
  base_url: string
  shop_url: string
  gateway_shop_url: string
  /** Only with `--forum`. */
  forum_url?: string
  /** The payment link in a post of the forum, unless it was ended. */
  link_url?: string
  people: DemoPerson[]
}

/** Creates what is missing, and returns the whole demo. */
export async function seedDemo(deps: Parts, { withForum = false } = {}): Promise<Demo> {
  const { config } = deps
  const saved = await readSaved(config)
  // The passwords are saved first, so a start cut short leaves no account with a lost password.
  for (const { username } of PEOPLE) {
    saved.passwords[username] ??= `${username}-${randomText(PASSWORD_LENGTH, READABLE)}`
  }
  await writeSaved(config, saved)

  await ensureSampleMembers(deps)
  const ids = await ensurePeople(deps, saved.passwords, withForum)
  const idOf = (username: string) => ids.get(username)!
  const [owner_id, reviewer_id] = [idOf('bob'), idOf('admin')]
  const shop_url = exampleUrl(config, config.SHOP_PORT)
  const gateway_shop_url = exampleUrl(config, config.GATEWAY_SHOP_PORT)
  const store = { saved, save: () => writeSaved(config, saved) }
  const logoOf = (name: string) => `${shop_url}/logos/${name}.svg`
  const shop = { owner_id, reviewer_id, shop_url, logo_url: logoOf('sticker-shop') }
  const gatewayShop = { ...shop, shop_url: gateway_shop_url, logo_url: logoOf('mug-shop') }
  const apps = {
    oauth_app: await ensureOauthApp(deps, store, shop),
    payment_app: await ensureShopApp(deps, shop),
    gateway_app: await ensureGatewayApp(deps, store, gatewayShop),
  }
  await ensureLinked(deps, apps, shop)
  await ensureMandates(deps, apps, { owner_id, reviewer_id })
  const people_ids = { alice: idOf('alice'), bob: owner_id, carol: idOf('carol'), dora: idOf('dora') }
  const isFirst = await introduce(deps, {
    people: people_ids,
    reviewer_id,
    apps,
    gateway_shop_url,
    shop_url,
    logoOf,
  })
  await ensureWindows(deps)
  await ensurePayout(deps, apps.payment_app, owner_id)
  await showPortraits(deps.db, shop_url)
  await confirmAddresses(deps.db)
  // The history ends with the points that the demo prints. A later start leaves what people have spent since.
  if (!(await hasSamples(deps.db)))
    for (const { username, points } of PEOPLE)
      if (points !== undefined) await settlePoints(deps, idOf(username), username, points)
  if (isFirst) await keepProof(deps)
  deps.findSamples = await ensureSamples(deps, store, reviewer_id)
  // Points for the score in the forum.
  if (withForum) {
    await turnOn(deps.db, ['forum_points_bridge', 'forum_points_for_past_score', 'forum_wallet'])
    await ensureTips(deps, { admin_id: reviewer_id, base_url: config.PUBLIC_URL })
  }
  const link_url = await findLinkUrl(deps, apps.payment_app)
  const people = await Promise.all(
    PEOPLE.map(({ username }) => describePerson(deps.db, idOf(username), saved.passwords[username]!)),
  )
  return {
    base_url: config.PUBLIC_URL,
    shop_url,
    gateway_shop_url,
    ...(withForum && { forum_url: forumUrl(config), ...(link_url !== undefined && { link_url }) }),
    people,
    ...apps,
  }
}

/** The address of an example. It has the host name of the service, so one typed address works for all. */
function exampleUrl({ PUBLIC_URL }: Config, port: number): string {
  return `http://${new URL(PUBLIC_URL).hostname}:${port}`
}

/** The address of the example forum. */
export function forumUrl(config: Config): string {
  return exampleUrl(config, config.FORUM_PORT)
}

/** The content of `demo.json`. */
type Saved = SavedApps & { passwords: Record<string, string> }

const savedFile = (config: Config) => join(config.DATA_DIR, 'demo.json')

async function readSaved(config: Config): Promise<Saved> {
  try {
    return JSON.parse(await readFile(savedFile(config), 'utf8')) as Saved
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { passwords: {} }
    throw error
  }
}

/** Replaces the whole file, so an interrupted start leaves the old one or the new one. */
async function writeSaved(config: Config, saved: Saved): Promise<void> {
  const file = savedFile(config)
  await mkdir(config.DATA_DIR, { recursive: true })
  await writeFile(`${file}.new`, `${JSON.stringify(saved, null, 2)}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
}

/** Finds or creates the people, and at a first start all members, in the order in which they joined. Returns the ids of the people. */
async function ensurePeople(
  deps: Parts,
  passwords: Record<string, string>,
  withForum: boolean,
): Promise<Map<string, bigint>> {
  const others = (await isUntouched(deps.db)) ? [...MEMBERS, ...NEWCOMERS, ...(withForum ? AUTHORS : [])] : []
  const unknown_hash = others.length > 0 ? await hashUnknownPassword() : undefined
  const ids = new Map<string, bigint>()
  for (const person of [...PEOPLE, ...others].sort((a, b) => b.joined - a.joined))
    if ('part' in person)
      ids.set(person.username, await ensureAccount(deps, person, passwords[person.username]!))
    else if ('forum_id' in person) await ensureAuthor(deps, person)
    else await ensureMembers(deps, [person], unknown_hash)
  return ids
}

async function ensureAccount(
  { db, clock }: Parts,
  { username, joined, points: _points, part: _part, ...values }: (typeof PEOPLE)[number],
  password: string,
): Promise<bigint> {
  const found = await db
    .selectFrom('users')
    .where(sql`lower(username)`, '=', username)
    .select(['id', 'password_hash'])
    .executeTakeFirst()
  let id = found?.id
  if (id === undefined) {
    const email = `${username}@example.org`
    const created_at = daysBefore(clock(), joined)
    id = await createUser(db, {
      ...values,
      username,
      email,
      created_at,
      password_hash: await hashPassword(password),
    })
  } else if (!(await verifyPassword(password, found?.password_hash))) {
    // An earlier start without --demo made the account, or its password was changed. The printed password must work.
    const password_hash = await hashPassword(password)
    await db
      .updateTable('users')
      .set({ password_hash, must_change_password: false })
      .where('id', '=', id)
      .execute()
  }
  return id
}

/** Confirms the addresses of the people. Before that, the history would send them mails. */
async function confirmAddresses(db: Db): Promise<void> {
  const usernames = PEOPLE.map(({ username }) => username)
  await db
    .updateTable('users')
    .set({ email_verified: true })
    .where('username', 'in', usernames)
    .where('email', '=', sql<string>`username || '@example.org'`)
    .execute()
}

/** Gives the members their pictures, at the address that the shop has now. */
async function showPortraits(db: Db, shop_url: string): Promise<void> {
  for (const [username, portrait] of Object.entries(PORTRAITS))
    await db
      .updateTable('users')
      .set({ avatar_url: `${shop_url}/portraits/${portrait}.svg` })
      .where('username', '=', username)
      .execute()
}

/** Brings a wallet that a history cut short left too low to its points, once. A second posting with the reference does nothing. */
async function settlePoints(
  { db, clock }: Parts,
  user_id: bigint,
  username: string,
  points: bigint,
): Promise<void> {
  const amount = points - (await balanceOf(db, user_id))
  if (amount <= 0n) return
  const now = clock()
  const reason = forumScoreReason(now.toISOString().slice(0, 10))
  const lines = [{ user_id, amount, reference: `demo:${username}` }]
  await postPoints(db, { lines, reason, actor_id: null, now })
}

async function describePerson(db: Db, id: bigint, password: string): Promise<DemoPerson> {
  const { username, trust_level, is_admin } = await db
    .selectFrom('users')
    .where('id', '=', id)
    .select(['username', 'trust_level', 'is_admin'])
    .executeTakeFirstOrThrow()
  const points = Number(await balanceOf(db, id))
  return { id: Number(id), username, password, points, trust_level, admin: is_admin }
}
