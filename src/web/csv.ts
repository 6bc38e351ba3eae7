/** CSV files for spreadsheets: UTF-8 with a byte order mark, and no cell that a spreadsheet runs as a formula. */

export const CSV_TYPE = 'text/csv; charset=utf-8'
export const BYTE_ORDER_MARK = '\uFEFF'

/** Starts of text that spreadsheets read as a formula, including full-width forms and after white space. */
const FORMULA = /^\s*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20]|^[\t\r\n]/
/**
 * Such starts after separators of other spreadsheets, which depend on language and settings. To such a spreadsheet a quote
 * in the middle of a line quotes nothing, so a line break within a cell also starts a cell.
 */
const INNER_FORMULA = /(\r\n|[;|\t\r\n])(?=["\s]*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20])/g

/**
 * Writes one line with its line break. Null is an empty cell. An apostrophe goes before each start of a formula, also where
 * only another separator would start a cell.
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
