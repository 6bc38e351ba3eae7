// This room: how pages are made: views, languages, times, lists, parameters, errors.
// Verbs: registerPages, sendPageError, makeLocale, parseParameters, openSite.
// Clauses: spec/pages 1.1–1.4, 2.1–2.3, 3.1, 3.3–3.4; spec/limits 1.1–1.2.
/**
 * The static files of the pages. They are kept in memory and addressed by content, so browsers fetch each once.
 * spec/pages 1.1 and 1.3.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../platform/errors.ts'

const ASSETS_DIR = join(import.meta.dirname, '../../views/assets')
const TYPES = {
  'tessera.css': 'text/css; charset=utf-8',
  'brand.css': 'text/css; charset=utf-8',
  'docs.css': 'text/css; charset=utf-8',
  'print.css': 'text/css; charset=utf-8',
  'enhance.js': 'text/javascript; charset=utf-8',
  'passkeys.js': 'text/javascript; charset=utf-8',
  'pay.js': 'text/javascript; charset=utf-8',
  'submit.js': 'text/javascript; charset=utf-8',
  'logo.svg': 'image/svg+xml',
  'icons.svg': 'image/svg+xml',
} as const

type AssetName = keyof typeof TYPES

const files = new Map(
  (Object.keys(TYPES) as AssetName[]).map((name) => {
    const source = readFileSync(join(ASSETS_DIR, name))
    const body = name.endsWith('.css') ? Buffer.from(withoutLayout(source.toString())) : source
    const version = createHash('sha256').update(body).digest('hex').slice(0, 8)
    return [name as string, { body, version, type: TYPES[name] }]
  }),
)

/**
 * Removes comments, white space and needless zeros, digits and quotes from a style sheet, which saves a quarter of its size. The short
 * name of `transparent` is a colour of eight digits.
 */
function withoutLayout(css: string): string {
  return css
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,>]) ?/g, '$1')
    .replaceAll(/(?<=\() | (?=\))/g, '')
    .replaceAll(': ', ':')
    .replaceAll(/\btransparent\b/g, '#0000')
    .replaceAll(/ (?=!)|(?<=@media) (?=\()/g, '')
    .replaceAll(';}', '}')
    .replaceAll(/[^{};]+(?=\{)/g, (selector) => selector.replaceAll(/ ?([~+]) ?/g, '$1'))
    .replaceAll(/(\[[\w-]+[~^$*|]?=)"([A-Za-z][\w-]*)"\]/g, '$1$2]')
    .replaceAll(/(?<![\d.#\w])0(?=\.\d)/g, '')
    .replaceAll(/#([\da-f])\1([\da-f])\2([\da-f])\3(?![\da-f])/g, '#$1$2$3')
    .trim()
}

/** Returns the address of an asset. It changes with the content. */
export function assetUrl(name: AssetName): string {
  return `/assets/${files.get(name)!.version}/${name}`
}

/** Returns the service's own logo for mails, whose programs do not show SVG. It is `logo.svg` at 84 pixels. */
export function ownLogo(): Buffer {
  return readFileSync(join(ASSETS_DIR, 'logo.png'))
}

/** Mounts GET /assets/. It answers under overload too. */
export function registerAssets(app: FastifyInstance): void {
  const config = { admission: 'always' } as const
  app.get<{ Params: { version: string; name: string } }>(
    '/assets/:version/:name',
    { config },
    async (request, reply) => {
      const file = files.get(request.params.name)
      if (file === undefined) throw new AppError('not_found', 'No such file')
      // The address of another version gets the current file, which browsers must not cache under that address.
      const isCurrent = request.params.version === file.version
      return reply
        .header('cache-control', isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache')
        .type(file.type)
        .send(file.body)
    },
  )
}
