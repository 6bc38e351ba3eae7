/** What tests expect of pages. */
import { expect } from 'vitest'
import { textOf } from './markup.ts'

/** Expects that a page answers with this status, and that a reader sees these words. */
export function expectPage(page: { status: number; body: string }, status: number, words: string): void {
  expect([page.status, textOf(page)]).toEqual([status, expect.stringContaining(words)])
}
