/** Every test that SECURITY.md names exists. The run itself proves that they pass. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../harness/server-process.ts'

const NAMED = /`(test\/[\w./-]+\.test\.ts)` “([^”]+)”/g

describe('SECURITY.md', () => {
  it('names a test for every threat, and none that does not exist', async () => {
    const text = await readFile(join(ROOT, 'SECURITY.md'), 'utf8')
    const named = [...text.matchAll(NAMED)].map(([, file, title]) => ({ file: file!, title: title! }))
    const missing = await Promise.all(
      named.map(async ({ file, title }) => {
        const source = await readFile(join(ROOT, file), 'utf8').catch(() => '')
        return source.includes(`'${title}'`) || source.includes(`"${title}"`) ? [] : [`${file}: ${title}`]
      }),
    )
    expect(missing.flat()).toEqual([])
    const threats = text.split('## Threats')[1]!.match(/^\| (?!threat|---)[^|]+\|[^|]+\|[^|]+\|$/gm)!
    expect(threats.length).toBeGreaterThan(30)
    expect(threats.filter((row) => row.search(NAMED) === -1)).toEqual([])
  })
})
