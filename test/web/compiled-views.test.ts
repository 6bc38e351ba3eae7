/** A process compiles each view once, whatever it is started for, and however many applications it has. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { browser, startTestApp, type TestApp } from '../harness/harness.ts'

let apps: TestApp[]
beforeAll(async () => {
  apps = [await startTestApp(), await startTestApp()]
})
afterAll(() => Promise.all(apps.map((app) => app.close())))

it('a view is compiled once for all applications of a process', async () => {
  const [first, second] = apps.map(browser)
  const { body } = await first!.get('/sign-in')
  // The engine makes its functions with this constructor. Others of the process use it with other parameters.
  const made = vi.spyOn(globalThis, 'Function')
  const compiled = () => made.mock.calls.filter(([parameter]) => parameter === 'it').length
  try {
    expect((await first!.get('/sign-in')).status).toBe(200)
    expect((await second!.get('/sign-in')).body.length).toBe(body.length)
    expect(compiled()).toBe(0)
  } finally {
    made.mockRestore()
  }
})
