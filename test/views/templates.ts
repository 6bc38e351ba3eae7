/**
 * Makes a function of each template, so that tsc checks it against PageData and PartData. The function has the template's code at
 * the same line and column, and blanks in place of its HTML.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

/** A tag: its kind, and its code, which may contain `%>` in a string or a comment. */
const TAG =
  /<%([=~]?)((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?!%>)[\s\S])*)%>/g

export type Templates = {
  /** The folder of the templates. */
  views: string
  /** The folder whose web/views.ts types them. */
  src: string
  /** The folder of their functions, `*.js`. It is emptied. */
  made: string
}

/** Writes the functions of the templates. Their code begins in the second line. */
export function writeFunctions({ views, src, made }: Templates): void {
  rmSync(made, { recursive: true, force: true })
  for (const file of globSync('**/*.eta', { cwd: views })) {
    const view = file.replace(/\.eta$/, '').replaceAll(sep, '/')
    const written = join(made, `${view}.js`)
    mkdirSync(dirname(written), { recursive: true })
    const web = relative(dirname(written), join(src, 'web/views.ts')).replaceAll(sep, '/')
    writeFileSync(written, functionOf(view, readFileSync(join(views, file), 'utf8'), `import('${web}')`))
  }
}

function functionOf(view: string, template: string, web: string): string {
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
