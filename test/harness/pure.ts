/** Finds the test files that use no database. They run in a project of their own, for which no Postgres starts. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What the global setup provides is read by `inject`, and by nothing else. */
const READS_SETUP = /^import \{[^}]*\binject\b[^}]*\} from 'vitest'/m
const IMPORTS = /^(?:import|export) (?!type )[^'"]*?from '(\.[^']+)'|^import '(\.[^']+)'/gm

/** Returns those of the files that reach no module of the tests which reads what the global setup provides. */
export function pureFiles(files: string[]): string[] {
  const known = new Map<string, boolean>()
  const isPure = (file: string): boolean => {
    const found = known.get(file)
    if (found !== undefined) return found
    // Modules may import each other in a circle.
    known.set(file, true)
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    const imported = [...text.matchAll(IMPORTS)].map(([, from, alone]) =>
      join(dirname(file), (from ?? alone)!),
    )
    const result = !READS_SETUP.test(text) && imported.filter((path) => !path.includes('/src/')).every(isPure)
    known.set(file, result)
    return result
  }
  return files.filter(isPure)
}
