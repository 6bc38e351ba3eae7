/** CSV files, read as spreadsheets with other separators read them: no cell is a formula. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvLine } from '../../src/web/csv.ts'
import { times } from '../harness/thoroughness.ts'

/** The cells as a spreadsheet reads them: a quote at the start of a cell quotes, and is a character elsewhere. */
function cellsOf(text: string, separator: string): string[] {
  const cells: string[] = []
  let at = 0
  while (at < text.length) {
    let cell = ''
    if (text[at] === '"') {
      for (at += 1; at < text.length; at += 1) {
        if (text[at] !== '"') cell += text[at]
        else if (text[at + 1] === '"') cell += text[at++]
        else break
      }
      at += 1
    }
    while (at < text.length && ![separator, '\r', '\n'].includes(text[at]!)) cell += text[at++]
    cells.push(cell)
    at += 1
  }
  return cells
}

const isFormula = (cell: string) => /^\s*[=+\-@＋－＝＠]/.test(cell)

describe('a CSV line', () => {
  it('has no formula in a cell, at whatever separator', () => {
    const piece = fc.constantFrom(
      ...[',', ';', '\t', '|', '"', "'", '\r', '\n', ' ', '=', '+', '-', '@', '＝', '＋', 'Tea', '1', '茶'],
    )
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), (values) => {
        for (const separator of [',', ';', '\t', '|'])
          expect(cellsOf(csvLine(values), separator).filter(isFormula), separator).toEqual([])
      }),
      { numRuns: times(5_000, 250) },
    )
  })

  it('guards every place where a formula could begin, and changes nothing else', () => {
    expect(csvLine(['Tea;=1+1', 'a|@x', 'b\t+1', 'c\r\n-2', 'd; "=3', 'e,=4'])).toBe(
      `Tea;'=1+1,a|'@x,b\t'+1,"c\r\n'-2","d;' ""=3","e,=4"\r\n`,
    )
    expect(csvLine(['Tea; green | 1-2\tcup', 7n, null])).toBe('Tea; green | 1-2\tcup,7,\r\n')
  })
})
