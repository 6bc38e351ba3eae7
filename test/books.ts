/** The ledger's invariants as an assertion, for the end of every test that moves points. */
import { expect } from 'vitest'
import type { Db } from '../src/database/connection.ts'
import { proveBooks } from '../src/ledger/books.ts'

export async function expectSoundBooks(db: Db): Promise<void> {
  const broken = (await proveBooks(db)).invariants.filter((invariant) => invariant.broken !== 0n)
  expect(broken).toEqual([])
}
