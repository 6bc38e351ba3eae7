/** Files for spreadsheets: UTF-8 with a byte order mark, by which they know it, and no cell that they would run. */

export const CSV_TYPE = 'text/csv; charset=utf-8'
export const BYTE_ORDER_MARK = '\uFEFF'

/** What makes a spreadsheet take a text for a formula, full-width forms included, also behind white space. */
const FORMULA = /^\s*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20]|^[\t\r\n]/

/** One line with its end. Null is an empty cell; a text that begins like a formula gets an apostrophe before it. */
export function csvLine(cells: readonly (string | number | bigint | Date | null)[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`
}

function cellOf(value: string | number | bigint | Date | null): string {
  if (value === null) return ''
  if (value instanceof Date) return value.toISOString()
  if (typeof value !== 'string') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
