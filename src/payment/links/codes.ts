/** The codes of a link: their import, and how unsold ones are taken back. spec/links 3.2 and 3.3. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { type Actor, audit, lockPermitted } from '../rights/rights.ts'
import { lockLink } from './acts.ts'
import { codeContext } from './delivery.ts'
import { getLink, type MadeLink } from './find.ts'

const CODE_LENGTH_MAX = 500
export const LINES_MAX = 10_000
export const BYTES_MAX = 2 * 1024 * 1024
/** Unsold codes of a link. */
const UNSOLD_MAX = { live: 50_000, test: 100 } as const
/** Lines with known codes that the answer names. */
const NAMED_MAX = 20

export type ImportFault =
  | { fault: 'too_large' | 'too_many_lines' | 'not_text' | 'no_codes' }
  | { fault: 'line_too_long' | 'line_controls' | 'line_invisible'; line: number }
  | { fault: 'too_many_unsold'; max: number }

type CodeLine = { line: number; code: string }

/**
 * Reads a list of codes, one a line. White space at the ends of a line is dropped, and empty lines are skipped. One line that is
 * no code refuses the whole list.
 */
export function readCodes(file: Buffer | string): { codes: CodeLine[]; empty: number } | ImportFault {
  if (Buffer.byteLength(file) > BYTES_MAX) return { fault: 'too_large' }
  const text = decode(file)
  if (text === undefined) return { fault: 'not_text' }
  const lines = text.split(/\r\n|\n|\r/)
  // The end of the last line begins no other line.
  if (lines.at(-1) === '') lines.pop()
  if (lines.length > LINES_MAX) return { fault: 'too_many_lines' }
  const codes: CodeLine[] = []
  for (const [index, each] of lines.entries()) {
    const [line, code] = [index + 1, each.trim()]
    if (code === '') continue
    if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(code)) return { fault: 'line_controls', line }
    // Its buyer could neither see nor type it.
    if (!/[\p{L}\p{N}\p{P}\p{S}]/u.test(code)) return { fault: 'line_invisible', line }
    if ([...code].length > CODE_LENGTH_MAX) return { fault: 'line_too_long', line }
    codes.push({ line, code })
  }
  if (codes.length === 0) return { fault: 'no_codes' }
  return { codes, empty: lines.length - codes.length }
}

/** Decodes UTF-8 without its byte order mark. */
function decode(file: Buffer | string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(file))
  } catch {
    return undefined
  }
}

export type Imported = {
  added: number
  /** Codes that the list repeats, or that the link has or has sold; and the first of their lines. */
  known: number
  known_lines: number[]
  empty: number
}

/**
 * Adds the codes of a list to a link. It adds each code once, so the same list again adds none, and puts a code back that was
 * taken back. Throws what lockPermitted throws, and not_found.
 */
export async function addCodes(
  deps: Core,
  payment_id: string,
  { slug, file }: { slug: string; file: Buffer | string },
  actor: Actor,
): Promise<Imported | ImportFault> {
  const read = readCodes(file)
  if ('fault' in read) return read
  return deps.db.transaction().execute(async (tx) => {
    // The application's lock keeps other imports away. Payments go on.
    const app = await lockPermitted(tx, payment_id, actor, 'settings.edit')
    const { id } = await getLink(tx, slug, app)
    return insertCodes(tx, deps, { id, slug, app }, read, actor)
  })
}

/** Adds the codes of a read list to a link. The caller has locked its application. */
export async function insertCodes(
  tx: Tx,
  { secrets }: Pick<Core, 'secrets'>,
  { app, ...link }: MadeLink,
  read: { codes: CodeLine[]; empty: number },
  actor: Actor,
): Promise<Imported | ImportFault> {
  const listed = new Map<string, CodeLine>()
  for (const each of read.codes) if (!listed.has(each.code)) listed.set(each.code, each)
  const { here, withdrawn_ids } = await knownCodes(tx, secrets, link.id, [...listed.keys()])
  const fresh = [...listed.values()].filter(({ code }) => !here.has(code))
  const added = fresh.length + withdrawn_ids.length
  const max = UNSOLD_MAX[app.book]
  if ((await countUnsold(tx, link.id)) + added > max) return { fault: 'too_many_unsold', max }
  if (withdrawn_ids.length > 0)
    await tx.updateTable('link_codes').set({ withdrawn_at: null }).where('id', 'in', withdrawn_ids).execute()
  const values = fresh.map(({ code }) => secrets.encrypt(codeContext(link.id), code))
  const prints = fresh.map(({ code }) => fingerprint(secrets, link.id, code))
  await sql`
      insert into link_codes (link_id, value_encrypted, fingerprint)
      select ${link.id}, * from unnest(${values}::bytea[], ${prints}::bytea[])`.execute(tx)
  await audit(tx, 'link.add_codes', app.payment_id, { slug: link.slug, added }, actor)
  const isFirst = new Set([...listed.values()].map(({ line }) => line))
  const known_lines = read.codes.flatMap(({ line, code }) =>
    isFirst.has(line) && here.get(code) !== 'unsold_or_sold' ? [] : [line],
  )
  const known = known_lines.length
  return { added, known, known_lines: known_lines.slice(0, NAMED_MAX), empty: read.empty }
}

/** Which of these codes the link has. A withdrawn one is to be put back. */
async function knownCodes(
  tx: Tx,
  secrets: Secrets,
  link_id: bigint,
  codes: string[],
): Promise<{ here: Map<string, 'withdrawn' | 'unsold_or_sold'>; withdrawn_ids: bigint[] }> {
  const named = new Map<string, string>()
  for (const code of codes)
    for (const tag of secrets.tags('link_codes', `${link_id}\0${code}`)) named.set(tag, code)
  const prints = [...named.keys()].map((tag) => Buffer.from(tag, 'base64url'))
  const { rows } = await sql<{ id: bigint; fingerprint: Buffer; is_withdrawn: boolean }>`
    select id, fingerprint, withdrawn_at is not null as is_withdrawn from link_codes
    where link_id = ${link_id} and fingerprint = any(${prints}::bytea[])`.execute(tx)
  return {
    here: new Map(
      rows.map(({ fingerprint, is_withdrawn }) => [
        named.get(fingerprint.toString('base64url'))!,
        is_withdrawn ? 'withdrawn' : 'unsold_or_sold',
      ]),
    ),
    withdrawn_ids: rows.filter(({ is_withdrawn }) => is_withdrawn).map(({ id }) => id),
  }
}

/** What a code of a link is recognised by. Only this service can compute it. */
export function fingerprint(secrets: Secrets, link_id: bigint, code: string): Buffer {
  return Buffer.from(secrets.tag('link_codes', `${link_id}\0${code}`), 'base64url')
}

/** Counts the codes that are for sale. */
export async function countUnsold(tx: Tx, link_id: bigint): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from link_codes
    where link_id = ${link_id} and order_id is null and withdrawn_at is null`.execute(tx)
  return rows[0]!.count
}

/**
 * Takes unsold codes off sale, all or the next ones to be sold, and returns them. After this, no sale commits with one of them.
 * Throws what lockPermitted throws, and not_found.
 */
export async function takeBackCodes(
  deps: Core,
  payment_id: string,
  { slug, count }: { slug: string; count: number | undefined },
  actor: Actor,
): Promise<string[]> {
  return deps.db.transaction().execute(async (tx) => {
    const { link } = await lockLink(tx, payment_id, slug, actor)
    const { rows } = await sql<{ value_encrypted: Buffer }>`
      with taken as (
        update link_codes set withdrawn_at = ${deps.clock()}::timestamptz
        where id in (
          select id from link_codes where link_id = ${link.id} and order_id is null and withdrawn_at is null
          order by id limit ${count ?? null}::integer
        )
        returning id, value_encrypted
      )
      select value_encrypted from taken order by id`.execute(tx)
    await audit(tx, 'link.take_back_codes', payment_id, { slug, count: rows.length }, actor)
    return rows.map(({ value_encrypted }) => deps.secrets.decrypt(codeContext(link.id), value_encrypted))
  })
}
