/** The version of this program. Only package.json states it; everything that shows it reads it here. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const manifest = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')

export const VERSION = (JSON.parse(manifest) as { version: string }).version
