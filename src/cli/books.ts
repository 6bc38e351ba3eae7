/** `tessera books verify` (`npm run books`) proves that no point was lost and no entry was changed. */

import { books } from '../admin/points/books.texts.ts'
import { openSettings } from '../core/settings.ts'
import { openDatabase } from '../database/connection.ts'
import { requireMigrated } from '../database/migrate.ts'
import { withDatabaseUrl } from '../database/url.ts'
import { type Invariant, type Proof, proveBooks } from '../ledger/books.ts'
import { type ChainEnd, holdsSeal } from '../ledger/chain.ts'
import { findAppSecret } from '../operations/first-start.ts'
import type { Config } from '../platform/config.ts'
import { makeSecrets } from '../platform/secrets.ts'
import { counted } from '../web/plurals.ts'
import { type SiteWords, siteWords, withWords } from '../web/site-words.ts'
import { type Command, type Progress, type Result, type Run, UsageError } from './command.ts'

export const bookCommands: Command[] = [
  {
    name: 'books verify',
    takes: [],
    options: { sealed: { type: 'string' } },
    summary:
      'Proves every invariant of the ledger. --sealed <journal>:<hash> checks that the seal of an earlier proof still holds.',
    run: verify,
  },
]

async function verify({ config, options, progress }: Run): Promise<Result> {
  const known = typeof options.sealed === 'string' ? readSeal(options.sealed) : undefined
  const { proof, words, isKept } = await prove(config, known, progress)
  const isSound = proof.isSound && isKept !== false
  const lines = [
    ...proof.invariants.flatMap((each) => linesOf(each, words)),
    ...sealLines(proof, known, isKept),
  ]
  lines.push(isSound ? 'The books pass.' : 'The books do NOT pass.')
  const data = { ...proof, is_sealed_kept: isKept ?? null, isSound }
  return { lines, data, isFaulty: !isSound }
}

async function prove(
  config: Config,
  known: ChainEnd | undefined,
  progress: Progress,
): Promise<{ proof: Proof; words: SiteWords; isKept?: boolean }> {
  // The command never creates an APP_SECRET: an auditor's machine runs without one.
  const appSecret = await findAppSecret(config)
  const secrets = appSecret === undefined ? undefined : makeSecrets(appSecret, config.APP_SECRET_OTHER)
  return withDatabaseUrl(config, async (url) => {
    const db = openDatabase(url, { max: 2, onBroken: () => {} })
    try {
      await requireMigrated(db)
      const proof = await proveBooks(db, secrets, progress, undefined, { isChainBeside: true })
      const words = siteWords(await openSettings(db).read(), 'en')
      return { proof, words, ...(known && { isKept: await holdsSeal(db, known) }) }
    } finally {
      await db.destroy()
    }
  })
}

function readSeal(text: string): ChainEnd {
  const [, journal_id, hash] = /^(\d{1,18}):([0-9a-f]{64})$/.exec(text) ?? []
  if (journal_id === undefined) throw new UsageError('--sealed must be like 1234:9f86d081… as it was printed')
  return { journal_id: BigInt(journal_id), hash: Buffer.from(hash!, 'hex') }
}

function linesOf({ name, checked, broken, rows }: Invariant, words: SiteWords): string[] {
  const rule = withWords(books.invariants[name].en, words)
  if (checked === null) return [`open    ${rule}: not checked, because APP_SECRET is missing`]
  const head = `${broken === 0n ? 'ok    ' : 'BROKEN'}  ${rule}: ${checked} checked, ${broken} broken`
  const shown = rows.map(
    (row) =>
      `          ${Object.entries(row)
        .map((each) => wordsOf(each, words))
        .join(', ')}`,
  )
  const more = broken - BigInt(rows.length)
  return [head, ...shown, ...(more > 0n ? [`          and ${more} more`] : [])]
}

function wordsOf([name, value]: [string, string | null], words: SiteWords): string {
  if (name !== 'fault') return `${name} ${value ?? '–'}`
  return withWords(books.faults[value!]?.en ?? value!, words)
}

function sealLines(
  { sealed, unsealed }: Proof,
  known: ChainEnd | undefined,
  isKept: boolean | undefined,
): string[] {
  const lines =
    known === undefined
      ? []
      : [`${isKept ? 'ok    ' : 'BROKEN'}  The chain holds the seal given for journal ${known.journal_id}`]
  if (sealed !== undefined) lines.push(`Sealed up to ${sealed.journal_id}:${sealed.hash}`)
  if (unsealed > 0n)
    lines.push(`${unsealed} ${counted(unsealed, 'journal waits', 'journals wait')} for a seal.`)
  return lines
}
