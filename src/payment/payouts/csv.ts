// This room: payouts, many transfers of one application under one reference, made by the worker.
// Verbs: readPayoutRequest, createPayout, judgePayout, runPayouts, tellOfPayouts, createDraft, payDraft, changePayout, payoutPages.
// Tables: payouts, payout_lines.
// Clauses: spec/payouts 1.1–1.4, 2.1–2.6, 3.1–3.3.
/**
 * Reads the lines of a payout from a CSV file or a paste: username, amount and memo by position, or a header with `username` and
 * `amount`, and optionally `user_id`, `memo` and `line_id`, in any order; separated by commas or semicolons, of Chinese text too, or by
 * tabs. Pure. spec/payouts 3.1.
 */
import { ALL_LINES_MAX, LINES_MAX, Line } from './request.ts'

export const CSV_BYTES_MAX = 256 * 1024
const COLUMNS = ['username', 'amount', 'user_id', 'memo', 'line_id'] as const
/** The columns of a file without a header, in their order. */
const BY_POSITION: readonly string[] = ['username', 'amount', 'memo']
/** What a first line calls its second column when it is meant as a header. */
const HEADS_AMOUNT = /^(points?|credits?|sums?|values?|totals?|quantity|积分|金额|数量|点数)$/i
type Column = (typeof COLUMNS)[number]
/**
 * What is wrong with a line: the value of a column, a quotation mark, names of columns that are unknown or there twice, a member who
 * does not exist, a comma within an amount, or a value without a column. `first` is the line that has the same line_id.
 */
export type LineFault = {
  line: number
  column: Column | '"' | 'header' | 'twice' | 'member' | 'thousands' | 'cells'
  value: string
  first?: number
}
/** The recipient that a line names. */
export type NamedMember = { line: number; username: string; user_id: bigint | undefined }

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
  // All faults that the text alone shows, and the readable recipients of all lines.
  | { fault: 'lines'; lines: LineFault[]; members: NamedMember[] }

/** Reads a file. The line_id of a line without one is its number in the file, whose first line is line 1. */
export function readPayoutFile(file: Buffer, mode: 'each' | 'all'): FileLine[] | FileFault {
  if (file.length > CSV_BYTES_MAX) return { fault: 'too_large' }
  const text = decode(file)
  if (text === undefined) return { fault: 'not_text' }
  const all = recordsOf(text)
  const header = headerOf(all[0])
  const names = header ?? BY_POSITION
  if (!names.includes('username') || !names.includes('amount')) return { fault: 'no_header' }
  const records = header === undefined ? all.map(withWholeMemo) : all.slice(1)
  if (records.length === 0) return { fault: 'no_lines' }
  if (records.length > LINES_MAX) return { fault: 'too_many' }
  if (mode === 'all' && records.length > ALL_LINES_MAX) return { fault: 'too_many_for_all' }
  const twice = COLUMNS.filter((column) => names.indexOf(column) !== names.lastIndexOf(column))
  if (twice.length > 0) {
    const lines = twice.map((column) => ({ line: all[0]!.line, column: 'twice' as const, value: column }))
    return { fault: 'lines', lines, members: [] }
  }
  return readLines(records, names)
}

/** The columns that a first line names, in lower case. Undefined for a line of a payout: it names neither, or has an amount second. */
function headerOf(first: CsvRecord | undefined): string[] | undefined {
  const names = first?.cells.map((cell) => cell.trim().toLowerCase()) ?? []
  const isHeader = names.includes('username') || names.includes('amount')
  return isHeader && !Line.shape.amount.safeParse(names[1]).success ? names : undefined
}

/** A memo without quotation marks may hold the separator. Spreadsheets end a line with empty cells. */
function withWholeMemo(record: CsvRecord): CsvRecord {
  const [username = '', amount = '', ...memo] = record.cells
  while (memo.length > 0 && memo.at(-1)!.trim() === '') memo.pop()
  return { ...record, cells: [username, amount, memo.join(record.separator)] }
}

/**
 * The amount of a line whose digits a comma cuts into groups of three, such as 1,000: it would be read as 1 point with a memo. In
 * quotation marks or after a space, three digits are a memo.
 */
function thousandsIn({ raw, separator }: CsvRecord, names: readonly string[]): string | undefined {
  const at = names.indexOf('amount')
  const isCut = /^\s*\d{1,3}$/.test(raw[at] ?? '') && /^\d{3}\s*$/.test(raw[at + 1] ?? '')
  if (!/[,，]/.test(separator) || !isCut || ['user_id', 'line_id'].includes(names[at + 1]!)) return undefined
  const groups = raw.slice(at + 1)
  const end = groups.findIndex((group) => !/^\d{3}\s*$/.test(group))
  return [raw[at]!, ...groups.slice(0, end < 0 ? undefined : end)].map((part) => part.trim()).join(separator)
}

/** What makes a line ambiguous although each of its columns can be read. */
function ambiguityOf(record: CsvRecord, names: readonly string[]): LineFault | undefined {
  const { line, cells } = record
  const thousands = thousandsIn(record, names)
  if (thousands !== undefined) return { line, column: 'thousands', value: thousands }
  const beyond = cells.slice(names.length).find((cell) => cell.trim() !== '')
  return beyond === undefined ? undefined : { line, column: 'cells', value: beyond.trim() }
}

function readLines(records: CsvRecord[], names: readonly string[]): FileLine[] | FileFault {
  const lines: FileLine[] = []
  const faults: LineFault[] = []
  const members: NamedMember[] = []
  const lineOf = new Map<string, number>()
  for (const record of records) {
    const { line, cells, isBroken } = record
    if (isBroken) {
      faults.push({ line, column: '"', value: '' })
      continue
    }
    const cell = (column: Column) => cells[names.indexOf(column)]?.trim() ?? ''
    if (names === BY_POSITION && line === 1 && HEADS_AMOUNT.test(cell('amount'))) {
      faults.push({ line, column: 'header', value: '' })
      continue
    }
    const { wrong, read } = readLine(cell, String(line))
    const ambiguity = ambiguityOf(record, names)
    if (ambiguity !== undefined) faults.push(ambiguity)
    faults.push(...wrong.map((column) => ({ line, column, value: cell(column) })))
    const { line_id, username, user_id } = read
    if (username !== undefined) members.push({ line, username, user_id })
    const first = line_id === undefined ? undefined : lineOf.get(line_id)
    if (first !== undefined) faults.push({ line, column: 'line_id', value: line_id!, first })
    else if (line_id !== undefined) lineOf.set(line_id, line)
    lines.push(read as FileLine)
  }
  return faults.length > 0 ? { fault: 'lines', lines: faults, members } : lines
}

/** Reads the columns of a line, and names those whose values are wrong. Without any, the line is complete. */
function readLine(
  cell: (column: Column) => string,
  number: string,
): { wrong: Column[]; read: Partial<FileLine> } {
  const { shape } = Line
  const read = {
    username: shape.to_username.safeParse(cell('username').replace(/^@/, '')),
    amount: shape.amount.safeParse(cell('amount')),
    user_id: shape.to_user_id.optional().safeParse(cell('user_id') || undefined),
    memo: shape.memo.safeParse(cell('memo')),
    line_id: shape.line_id.safeParse(cell('line_id') || number),
  }
  return {
    wrong: COLUMNS.filter((column) => !read[column].success),
    read: {
      ...{ line_id: read.line_id.data, username: read.username.data, user_id: read.user_id.data },
      ...{ amount: read.amount.data, memo: read.memo.data },
    } as Partial<FileLine>,
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

/** A tab anywhere in the first line, or its first comma or semicolon. A memo may hold the other one. */
function separatorOf(text: string): string {
  const [first = ''] = text.trimStart().split(/\r\n|\n|\r/, 1)
  const unquoted = first.replaceAll(/"[^"]*"/g, '')
  return unquoted.includes('\t') ? '\t' : (/[,;，；]/.exec(unquoted)?.[0] ?? ',')
}

type CsvRecord = {
  line: number
  cells: string[]
  /** The cells as they are written, with their quotation marks and spaces. */
  raw: string[]
  isBroken: boolean
  separator: string
}

/**
 * The records that are not empty, with the numbers of their lines from 1. A quoted cell may hold separators and line breaks. A record
 * is broken when its quotation mark closes nowhere, or text follows the closing one.
 */
function recordsOf(text: string): CsvRecord[] {
  const separator = separatorOf(text)
  const records: CsvRecord[] = []
  let line = 1
  let record: CsvRecord = { line, cells: [], raw: [], isBroken: false, separator }
  let cell = ''
  let written = ''
  let state: 'plain' | 'quoted' | 'closed' = 'plain'

  const endCell = () => {
    record.cells.push(cell)
    record.raw.push(written)
    cell = ''
    written = ''
    state = 'plain'
  }
  const endRecord = () => {
    endCell()
    if (record.isBroken || record.cells.some((each) => each.trim() !== '')) records.push(record)
    record = { line, cells: [], raw: [], isBroken: false, separator }
  }
  for (const [sign] of text.matchAll(/\r\n|[\s\S]/g)) {
    const isBreak = /[\r\n]/.test(sign)
    if (isBreak) line += 1
    const isEnd = state !== 'quoted' && (isBreak || sign === separator)
    if (!isEnd) written += sign
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
