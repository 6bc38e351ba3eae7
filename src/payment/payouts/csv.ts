// This room: payouts, many transfers of one application under one reference, made by the worker.
// Verbs: readPayoutRequest, createPayout, judgePayout, runPayouts, tellOfPayouts, createDraft, payDraft, changePayout, payoutPages.
// Tables: payouts, payout_lines.
// Clauses: spec/payouts 1.1–1.4, 2.1–2.6, 3.1–3.3.
/**
 * Reads the lines of a payout from a CSV file: a header with `username` and `amount`, and optionally `user_id`, `memo` and `line_id`,
 * in any order; separated by commas, semicolons or tabs. Pure. spec/payouts 3.1.
 */
import { ALL_LINES_MAX, LINES_MAX, Line } from './request.ts'

export const CSV_BYTES_MAX = 256 * 1024
/** Faulty lines that a refusal names. */
const FAULTS_MAX = 20
const COLUMNS = ['username', 'amount', 'user_id', 'memo', 'line_id'] as const
type Column = (typeof COLUMNS)[number]
/** What is wrong with a line: the value of a column, or a quotation mark. `first` is the line that has the same line_id. */
export type LineFault = { line: number; column: Column | '"'; value: string; first?: number }

/** A line of a file. Without a user_id, the name alone says who is meant. */
export type FileLine = {
  line_id: string
  username: string
  user_id: bigint | undefined
  amount: bigint
  memo: string
}

export type FileFault =
  | { fault: 'too_large' | 'not_text' | 'no_header' | 'no_lines' | 'too_many' | 'too_many_for_all' }
  | { fault: 'lines'; lines: LineFault[] }

/** Reads a file. The line_id of a line without one is its number in the file, whose header is line 1. */
export function readPayoutFile(file: Buffer, mode: 'each' | 'all'): FileLine[] | FileFault {
  if (file.length > CSV_BYTES_MAX) return { fault: 'too_large' }
  const text = decode(file)
  if (text === undefined) return { fault: 'not_text' }
  const [header, ...records] = recordsOf(text)
  const names = header?.cells.map((cell) => cell.trim().toLowerCase()) ?? []
  if (!names.includes('username') || !names.includes('amount')) return { fault: 'no_header' }
  const places = Object.fromEntries(COLUMNS.map((column) => [column, names.indexOf(column)])) as Record<
    Column,
    number
  >
  if (records.length === 0) return { fault: 'no_lines' }
  if (records.length > LINES_MAX) return { fault: 'too_many' }
  if (mode === 'all' && records.length > ALL_LINES_MAX) return { fault: 'too_many_for_all' }

  const lines: FileLine[] = []
  const faults: LineFault[] = []
  const lineOf = new Map<string, number>()
  for (const { line, cells, isBroken } of records) {
    const cell = (column: Column) => cells[places[column]]?.trim() ?? ''
    const read = readLine(cell, String(line))
    const first = 'column' in read ? undefined : lineOf.get(read.line_id)
    if (isBroken) faults.push({ line, column: '"', value: '' })
    else if ('column' in read) faults.push({ line, column: read.column, value: cell(read.column) })
    else if (first !== undefined) faults.push({ line, column: 'line_id', value: read.line_id, first })
    else {
      lineOf.set(read.line_id, line)
      lines.push(read)
    }
  }
  return faults.length > 0 ? { fault: 'lines', lines: faults.slice(0, FAULTS_MAX) } : lines
}

function readLine(cell: (column: Column) => string, number: string): FileLine | { column: Column } {
  const { shape } = Line
  const line_id = shape.line_id.safeParse(cell('line_id') || number)
  const username = shape.to_username.safeParse(cell('username').replace(/^@/, ''))
  const user_id = shape.to_user_id.optional().safeParse(cell('user_id') || undefined)
  const amount = shape.amount.safeParse(cell('amount'))
  const memo = shape.memo.safeParse(cell('memo'))
  if (!username.success) return { column: 'username' }
  if (!amount.success) return { column: 'amount' }
  if (!user_id.success) return { column: 'user_id' }
  if (!memo.success) return { column: 'memo' }
  if (!line_id.success) return { column: 'line_id' }
  return {
    ...{ line_id: line_id.data, username: username.data, user_id: user_id.data },
    ...{ amount: amount.data, memo: memo.data },
  }
}

/** Decodes UTF-8 without its byte order mark. */
function decode(file: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file)
  } catch {
    return undefined
  }
}

type CsvRecord = { line: number; cells: string[]; isBroken: boolean }

/**
 * The records that are not empty, with the numbers of their lines from 1. A quoted cell may hold separators and line breaks. A record
 * is broken when its quotation mark closes nowhere, or text follows the closing one.
 */
function recordsOf(text: string): CsvRecord[] {
  const [first = ''] = text.trimStart().split(/\r\n|\n|\r/, 1)
  const separator = [';', '\t'].find((sign) => first.includes(sign)) ?? ','
  const records: CsvRecord[] = []
  let line = 1
  let record: CsvRecord = { line, cells: [], isBroken: false }
  let cell = ''
  let state: 'plain' | 'quoted' | 'closed' = 'plain'

  const endCell = () => {
    record.cells.push(cell)
    cell = ''
    state = 'plain'
  }
  const endRecord = () => {
    endCell()
    if (record.isBroken || record.cells.some((each) => each.trim() !== '')) records.push(record)
    record = { line, cells: [], isBroken: false }
  }
  for (const [sign] of text.matchAll(/\r\n|[\s\S]/g)) {
    const isBreak = /[\r\n]/.test(sign)
    if (isBreak) line += 1
    if (state === 'quoted') {
      if (sign === '"') state = 'closed'
      else cell += sign
    } else if (isBreak) endRecord()
    else if (sign === separator) endCell()
    // Two quotation marks within a quoted cell are one.
    else if (state === 'closed' && sign === '"') {
      cell += sign
      state = 'quoted'
    } else if (state === 'closed') record.isBroken ||= sign.trim() !== ''
    else if (sign === '"' && cell.trim() === '') {
      cell = ''
      state = 'quoted'
    } else cell += sign
  }
  record.isBroken ||= state === ('quoted' as typeof state)
  endRecord()
  return records
}
