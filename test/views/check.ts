/**
 * Checks the types of the sources and of every template: node test/views/check.ts. Each template becomes a function
 * that has its code at the same line and column, and blanks in place of its HTML; tsc checks these functions against
 * PageData and PartData.
 */
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** A tag: its kind, and its code, which may contain `%>` in a string or a comment. */
const TAG =
  /<%([=~]?)((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?!%>)[\s\S])*)%>/g

export type Fault = { file: string; line: number; column: number; message: string }

type Program = {
  /** The folder of the templates. */
  views: string
  /** The folder whose web/views.ts types the templates. */
  src?: string
  /** The sources, among them those that declare the data of the templates. */
  sources: string[]
  /** A folder for the functions of the templates. It is emptied. */
  scratch: string
  compilerOptions?: object
}

/** The faults that tsc finds. Faults of a template have their place in the template. */
export function checkTypes({
  views,
  src = join(ROOT, 'src'),
  sources,
  scratch,
  compilerOptions = {},
}: Program): Fault[] {
  const web = join(src, 'web/views.ts')
  rmSync(scratch, { recursive: true, force: true })
  for (const file of globSync('**/*.eta', { cwd: views })) {
    const view = file.replace(/\.eta$/, '').replaceAll(sep, '/')
    const made = join(scratch, `${view}.js`)
    mkdirSync(dirname(made), { recursive: true })
    const path = relative(dirname(made), web).replaceAll(sep, '/')
    writeFileSync(made, functionOf(view, readFileSync(join(views, file), 'utf8'), path))
  }
  const include = ['**/*.js', ...sources]
  const config = { extends: join(ROOT, 'tsconfig.json'), compilerOptions, include }
  writeFileSync(join(scratch, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(join(scratch, 'package.json'), '{ "type": "module" }')
  return compile(scratch).map(({ file, line, ...fault }) => {
    const within = relative(scratch, join(scratch, file))
    return within.startsWith('..')
      ? { file: relative(ROOT, join(scratch, file)), line, ...fault }
      : {
          file: relative(ROOT, join(views, file.replace(/js$/, 'eta'))),
          line: Math.max(line - 1, 1),
          ...fault,
        }
  })
}

/** The function of a template. Its code begins in the second line. @param path of web/views.ts. */
function functionOf(view: string, template: string, path: string): string {
  const web = `import('${path}')`
  const parameters = [
    `/** @type {${web}.It<'${view}'>} */ it`,
    `/** @type {${web}.Tools<${web}.It<'${view}'>>} */ { include, layout }`,
    `/** @type {(shown: ${web}.Shown) => void} */ $`,
    `/** @type {(shown: ${web}.Shown) => void} */ _`,
  ]
  return `export function view(${parameters}) { void [it, include, layout, $, _]\n${codeOf(template)}\n}\n`
}

/** The code of a template. A tag that shows something becomes a call. Only the line ends of the HTML remain. */
function codeOf(template: string): string {
  const blank = (html: string) => html.replace(/[^\n]/g, ' ')
  let code = ''
  let end = 0
  for (const { 0: tag, 1: kind, 2: inner = '', index } of template.matchAll(TAG)) {
    const opening = kind === '=' ? ';$(' : kind === '~' ? ';_(' : '  '
    const closing = kind ? ');' : /[{}(,:]\s*$/.test(inner) ? '  ' : '; '
    code += blank(template.slice(end, index)) + opening + inner + closing
    end = index + tag.length
  }
  return code + blank(template.slice(end))
}

function compile(folder: string): Fault[] {
  const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: Number.POSITIVE_INFINITY,
  })
  const faults = [...stdout.matchAll(/^(\S+?)\((\d+),(\d+)\): error (TS\d+: .*(?:\n\s+.*)*)/gm)]
  if (stdout !== '' && faults.length === 0) throw new Error(stdout)
  return faults.map(([, file = '', line, column, message = '']) => {
    return { file, line: Number(line), column: Number(column), message }
  })
}

if (import.meta.main) {
  const { include } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as { include: string[] }
  const faults = checkTypes({
    views: join(ROOT, 'views'),
    sources: include.map((folder) => join(ROOT, folder)),
    scratch: join(ROOT, 'node_modules/.cache/views'),
  })
  for (const { file, line, column, message } of faults) console.log(`${file}:${line}:${column} ${message}`)
  if (faults.length > 0) process.exitCode = 1
}
