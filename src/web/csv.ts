/** Files for spreadsheets: UTF-8 with a byte order mark, by which they know it, and no cell that they would run. */

export const CSV_TYPE = 'text/csv; charset=utf-8'
export const BYTE_ORDER_MARK = '\uFEFF'

/** What makes a spreadsheet take a text for a formula, full-width forms included, also behind white space. */
const FORMULA = /^\s*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20]|^[\t\r\n]/
/**
 * The same behind what other spreadsheets split a line at, by their language or by choice. To those, a quote in the middle
 * of a line quotes nothing, so the end of a line within a cell ends the line.
 */
const INNER_FORMULA = /(\r\n|[;|\t\r\n])(?=["\s]*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20])/g

/**
 * One line with its end. Null is an empty cell. A text gets an apostrophe where it, or what another separator makes a cell
 * of, begins like a formula.
 */
export function csvLine(cells: readonly (string | number | bigint | Date | null)[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`
}

function cellOf(value: string | number | bigint | Date | null): string {
  if (value === null) return ''
  if (value instanceof Date) return value.toISOString()
  if (typeof value !== 'string') return String(value)
  const inner = value.replace(INNER_FORMULA, "$1'")
  const text = FORMULA.test(inner) ? `'${inner}` : inner
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
