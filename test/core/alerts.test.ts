/** The rules of docs/operations/alerts.yml: the failures that they name, and their cases for promtool. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ForumFailure } from '../../src/accounts/forum/requests.ts'

const OPERATIONS = join(import.meta.dirname, '../../docs/operations')
const PROMTOOL = '/usr/bin/promtool'
const isWithoutPromtool = !existsSync(PROMTOOL) && process.env.CI !== 'true'

const read = (file: string) => readFile(join(OPERATIONS, file), 'utf8')

it('every alert has a case in which it fires, and one in which it rests', async () => {
  const names = [...(await read('alerts.yml')).matchAll(/- alert: (\w+)/g)].map(([, name]) => name!)
  const cases = [
    ...(await read('alerts.test.yml')).matchAll(/alertname="(\w+)", .*exp_samples: (\[\]|\[\{.*\}\])/g),
  ]
  const outcomes = (name: string) =>
    new Set(cases.filter(([, each]) => each === name).map(([, , samples]) => samples !== '[]'))
  expect(names.filter((name) => outcomes(name).size < 2)).toEqual([])
})

it.skipIf(isWithoutPromtool)('every alert fires and rests as its cases say', () => {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, ['test', 'rules', 'alerts.test.yml'], {
    cwd: OPERATIONS,
    encoding: 'utf8',
  })
  expect(status, stdout + stderr).toBe(0)
})

describe('the alert for a silent forum', () => {
  it('counts failures of the forum and no backlog', async () => {
    const text = await read('alerts.yml')
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
      refused: false,
      paused: false,
      over_budget: false,
    }
    const failures = Object.entries(isCounted).flatMap(([failure, counts]) => (counts ? [failure] : []))
    expect(counted.split('|')).toEqual(failures)
  })
})
