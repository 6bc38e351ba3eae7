/** docs/performance.md shows the figures of bench/figures.ts. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { chartOf, withTable } from '../../bench/charts.ts'
import { ROOT } from '../harness/server-process.ts'

it.each([
  ['performance', 'en'],
  ['performance.zh-CN', 'zh'],
] as const)('docs/%s has the table and the chart that `npm run bench:charts` writes', (name, language) => {
  const document = readFileSync(join(ROOT, `docs/${name}.md`), 'utf8')
  expect(withTable(document, language)).toBe(document)
  expect(document).toContain(`${name}.svg`)
  expect(readFileSync(join(ROOT, `docs/${name}.svg`), 'utf8')).toBe(chartOf(language))
})
