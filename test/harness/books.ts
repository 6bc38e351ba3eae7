/** Asserts the invariants of the ledger at the end of every test that moves points, and seals all journals. */

import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Core } from '../../src/core/core.ts'
import type { Db } from '../../src/database/connection.ts'
import { proveBooks } from '../../src/ledger/books.ts'
import { makeSealer } from '../../src/ledger/seal.ts'

export async function expectSoundBooks(db: Db): Promise<void> {
  const broken = (await proveBooks(db)).invariants.filter((invariant) => invariant.broken !== 0n)
  expect(broken).toEqual([])
}

/** Seals every journal, and waits for transactions of other tests on this server. */
export async function sealAll({ db, secrets }: Pick<Core, 'db' | 'secrets'>): Promise<void> {
  const seal = makeSealer({ db, secrets })
  for (;;) {
    await seal()
    if ((await proveBooks(db)).unsealed === 0n) return
    await sleep(20)
  }
}
