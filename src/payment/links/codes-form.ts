/** The two fields that take codes: `codes`, one a line, and `file`. Forms use one of them. spec/links 3.2. */
import { FormRefused } from '../../web/forms/forms.ts'
import { joinSentences } from '../../web/spacing.ts'
import type { OwnedRequest } from '../rights/owned.ts'
import { type Imported, type ImportFault, readCodes } from './codes.ts'

type Field = 'codes' | 'file'

/** What a form sends: the field that was used, and its list. Undefined for an empty form. Throws FormRefused for both fields. */
export function codesIn({ body, locale }: OwnedRequest): { field: Field; list: Buffer | string } | undefined {
  const { codes = '', file } = (body ?? {}) as { codes?: unknown; file?: unknown }
  const pasted = typeof codes === 'string' ? codes : ''
  // A form without a chosen file sends an empty one.
  const hasFile = Buffer.isBuffer(file) && file.length > 0
  if (hasFile && pasted.trim() !== '') throw new FormRefused({ file: locale.t.teamLinks.pasteOrFile })
  if (hasFile) return { field: 'file', list: file }
  return pasted.trim() === '' ? undefined : { field: 'codes', list: pasted }
}

/** Reads the codes of a form. Undefined for an empty one. Throws FormRefused for a faulty list. */
export function readCodesOf(request: OwnedRequest) {
  const sent = codesIn(request)
  if (sent === undefined) return undefined
  const read = readCodes(sent.list)
  if ('fault' in read) throw new FormRefused({ [sent.field]: sayImportFault(request, read) })
  return { field: sent.field, read }
}

/** Says why no code of a list was added. */
export function sayImportFault({ locale }: OwnedRequest, fault: ImportFault): string {
  const { importFaults } = locale.t.teamLinks
  if (fault.fault === 'too_many_unsold') return importFaults.too_many_unsold(locale.points(fault.max))
  return 'line' in fault ? importFaults[fault.fault](fault.line) : importFaults[fault.fault]
}

/** Says what an import added, and which lines it knew. */
export function sayImported(
  { locale }: OwnedRequest,
  { added, known, known_lines, empty }: Imported,
): string {
  const { teamLinks: l } = locale.t
  const lines = known_lines.join(locale.t.common.comma)
  return joinSentences([l.imported(added, known, empty), ...(known > 0 ? [l.knownLines(lines, known)] : [])])
}
