/** The rules of docs/operations/alerts.yml that name values of labels. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ForumFailure } from '../../src/accounts/forum/api.ts'

describe('the alert for a silent forum', () => {
  it('counts failures of the forum and no backlog', async () => {
    const text = await readFile(join(import.meta.dirname, '../../docs/operations/alerts.yml'), 'utf8')
    const [, counted = ''] = /tessera_forum_failures_total\{failure=~"([^"]+)"\}/.exec(text) ?? []
    const isCounted: Record<ForumFailure, boolean> = {
      unreachable: true,
      timeout: true,
      server_error: true,
      not_permitted: true,
      redirect: true,
      limited: false,
      not_ready: false,
      too_large: false,
      unreadable: false,
      wrong_member: false,
      paused: false,
      over_budget: false,
    }
    const failures = Object.entries(isCounted).flatMap(([failure, counts]) => (counts ? [failure] : []))
    expect(counted.split('|')).toEqual(failures)
  })
})
