/**
 * The theme component of examples/discourse-theme as an archive that Discourse installs, with what is filled in of this service. It is a
 * tar of some ten small files (POSIX.1-1988 ustar), so no library writes it.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Config } from '../../platform/config.ts'

const FOLDER = join(import.meta.dirname, '../../../examples/discourse-theme')
const FILES = [
  'about.json',
  'settings.yml',
  'locales/en.yml',
  'locales/zh_CN.yml',
  'javascripts/discourse/lib/tessera-wallet.js',
  'javascripts/discourse/api-initializers/tessera.gjs',
]
const BLOCK_BYTES = 512

type Addresses = Pick<Config, 'PUBLIC_URL' | 'PAYMENT_PUBLIC_URL'>

/**
 * Returns tessera-theme.tar.gz with the addresses of this service, and with tip links while tips are on. Equal files make an equal
 * archive.
 */
export async function themeArchive(addresses: Addresses, hasTips: boolean): Promise<Buffer> {
  const blocks = await Promise.all(
    FILES.map(async (name) => {
      const text = await readFile(join(FOLDER, name), 'utf8')
      return entryOf(`tessera-theme/${name}`, Buffer.from(filledIn(name, text, addresses, hasTips)))
    }),
  )
  return promisify(gzip)(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]))
}

/** YAML reads a JSON string as it is. */
function filledIn(
  name: string,
  text: string,
  { PUBLIC_URL, PAYMENT_PUBLIC_URL }: Addresses,
  hasTips: boolean,
): string {
  if (name !== 'settings.yml') return text
  const tips = 'show_tips:\n  type: bool\n  default: '
  const values = {
    service_url: PUBLIC_URL,
    payment_url: PAYMENT_PUBLIC_URL === PUBLIC_URL ? '' : PAYMENT_PUBLIC_URL,
  }
  return Object.entries(values).reduce(
    (filled, [setting, value]) =>
      filled.replace(
        `${setting}:\n  type: string\n  default: ""`,
        () => `${setting}:\n  type: string\n  default: ${JSON.stringify(value)}`,
      ),
    hasTips ? text.replace(`${tips}false`, `${tips}true`) : text,
  )
}

/** A regular file that everybody may read, in whole blocks. */
function entryOf(name: string, content: Buffer): Buffer {
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  const header = Buffer.alloc(BLOCK_BYTES)
  const write = (text: string, at: number) => header.write(text, at, 'latin1')
  write(name, 0)
  write(octal(0o644, 7), 100)
  write(octal(0, 7), 108)
  write(octal(0, 7), 116)
  write(octal(content.length, 11), 124)
  write(octal(0, 11), 136)
  // The sum counts its own field as spaces.
  write(' '.repeat(8), 148)
  write('0', 156)
  write('ustar\0', 257)
  write('00', 263)
  const sum = header.reduce((total, byte) => total + byte, 0)
  write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  const padding = Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES)
  return Buffer.concat([header, content, padding])
}
