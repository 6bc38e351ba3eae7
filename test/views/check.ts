/**
 * Checks types: node test/views/check.ts. It checks the sources and all templates. It finds the faults of
 * templates in which some were planted, so that a check that has become blind fails. It finds texts that nothing reads.
 */
import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { plant, unlikePlanted } from './planted.ts'
import { type Templates, writeFunctions } from './templates.ts'
import { copyWithoutTexts, faultsOfTexts } from './texts.ts'

export type Fault = { file: string; line: number; column: number; message: string }

const ROOT = join(import.meta.dirname, '../..')
const [VIEWS, SRC] = [join(ROOT, 'views'), join(ROOT, 'src')]
const SCRATCH = join(ROOT, 'node_modules/.cache/check')
/** A program of the sources, the templates, and the planted ones. */
const WHOLE = join(SCRATCH, 'whole')
const PLANTED = join(WHOLE, 'planted')
/** A program of a copy of the sources without texts. Both would declare the same properties of Fastify's requests. */
const HOLLOW = join(SCRATCH, 'hollow')
const COPY = join(HOLLOW, 'src')

const templates = {
  ours: { views: VIEWS, src: SRC, made: join(WHOLE, 'ours') },
  planted: { views: PLANTED, src: SRC, made: join(WHOLE, 'planted-views') },
  hollow: { views: VIEWS, src: COPY, made: join(HOLLOW, 'views') },
} satisfies Record<string, Templates>

const { include, exclude } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as {
  include: string[]
  exclude: string[]
}

/** The faults that tsc finds in the files of a folder and in these, by their absolute paths. */
async function compile(folder: string, sources: string[]): Promise<Fault[]> {
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    // The names of unread texts are at the ends of long messages.
    compilerOptions: { noErrorTruncation: true },
    include: ['**/*.js', '**/*.ts', ...sources],
    // What is made here lies below node_modules, which the configuration leaves out.
    exclude: exclude.filter((path) => !path.endsWith('node_modules')).map((path) => join(ROOT, path)),
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  // A second checker would repeat a third of the work, and the two programs already share the cores.
  const tsc = spawn(join(ROOT, 'node_modules/.bin/tsc'), ['--pretty', 'false', '--checkers', '1'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said = await text(tsc.stdout)
  const faults = [...said.matchAll(/^(\S+?)\((\d+),(\d+)\): error (TS\d+: .*(?:\n\s+.*)*)/gm)]
  if (said !== '' && faults.length === 0) throw new Error(said)
  return faults.map(([, file = '', line, column, message = '']) => ({
    file: join(folder, file),
    line: Number(line),
    column: Number(column),
    message,
  }))
}

const within = (folder: string, faults: Fault[]) => faults.filter(({ file }) => file.startsWith(`${folder}/`))

/** The faults of templates, with their places there. */
function inTemplates({ views, made }: Templates, faults: Fault[]): Fault[] {
  return within(made, faults).map(({ file, line, ...fault }) => ({
    ...fault,
    file: join(views, relative(made, file).replace(/js$/, 'eta')),
    line: Math.max(line - 1, 1),
  }))
}

const fromRoot = (faults: Fault[]) =>
  faults.map((fault) => ({ ...fault, file: relative(ROOT, fault.file.replace(COPY, SRC)) }))

rmSync(SCRATCH, { recursive: true, force: true })
await copyWithoutTexts(COPY)
plant(PLANTED)
for (const each of Object.values(templates)) writeFunctions(each)
const sources = include.map((folder) => join(ROOT, folder))
const [whole, hollow] = await Promise.all([compile(WHOLE, sources), compile(HOLLOW, [])])
const ours = [
  ...whole.filter(({ file }) => !file.startsWith(`${WHOLE}/`)),
  ...inTemplates(templates.ours, whole),
]
const said = [
  ...fromRoot(ours).map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`),
  ...unlikePlanted([...within(PLANTED, whole), ...inTemplates(templates.planted, whole)]),
  ...(await faultsOfTexts(fromRoot([...within(COPY, hollow), ...inTemplates(templates.hollow, hollow)]))),
]
for (const line of said) console.log(line)
if (said.length > 0) process.exitCode = 1
