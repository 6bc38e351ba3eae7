/**
 * Marks the parts of code, which the style sheet colours: comments as <em>, strings as <i>, names that get a value as <var>,
 * keywords as <b>. Elements without a class keep a page of many samples below its limit.
 */
import { escapeHtml } from '../../web/html.ts'

/** Sources of expressions, by the element that marks what they match. */
type Parts = { em?: string; i?: string; var?: string; b?: string }

/** One expression with a group per element. The first that matches at a position wins. */
function grammar(parts: Parts): RegExp {
  const groups = Object.entries(parts).map(([name, source]) => `(?<${name}>${source})`)
  return new RegExp(groups.join('|'), 'gm')
}

const words = (list: string) => String.raw`\b(?:${list.replaceAll(/\s+/g, '|')})\b`
const QUOTED = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`
const HASH = String.raw`(?<!\S)#.*`

/** JavaScript, PHP, Go and Java at once: a keyword of one is rarely a name in another. */
const CURLY = grammar({
  em: String.raw`(?<!:)//.*|/\*[^]*?\*/`,
  i: `"""[^]*?"""|${QUOTED}|\`[^\`]*\``,
  var: String.raw`\$\w+|\b\w+(?=: )`,
  b: `<\\?php|${words(`as async await break case catch class const continue default defer echo else exit export false fn for
    foreach from func function if import in let map new nil null of package public range return static switch throw throws true
    try use var void while`)}`,
})

const GRAMMARS: Record<string, RegExp> = {
  sh: grammar({
    em: HASH,
    i: String.raw`"(?:[^"\\]|\\[^])*"|'[^']*'`,
    var: String.raw`^\w+(?==)|(?<=\bexport )\w+|\$\w+`,
    // A word where a command stands.
    b: String.raw`(?<=^|\| |\$\(|&& )[a-z]\w*(?= )`,
  }),
  python: grammar({
    em: HASH,
    i: `[fb]?(?:"""[^]*?"""|${QUOTED})`,
    var: String.raw`^\w+(?= = )|\b\w+(?==[^=\s])`,
    b: words(`and as class def elif else except False for from global if import in is lambda None not or pass raise
      return self True try while with`),
  }),
  json: grammar({ var: String.raw`"(?:[^"\\]|\\.)*"(?=:)`, i: QUOTED, b: words('true false null') }),
  ini: grammar({ em: HASH, var: String.raw`^[\w.-]+(?=\s*=)` }),
  js: CURLY,
  php: CURLY,
  go: CURLY,
  java: CURLY,
}

/**
 * Writes code as HTML with its parts marked. Code of an unknown language has no marks.
 * @param write writes a piece of the code as HTML.
 */
export function highlighted(code: string, language: string, write: (text: string) => string): string {
  const tokens = GRAMMARS[language]
  if (tokens === undefined) return write(code)
  let html = ''
  let end = 0
  for (const { 0: token, index, groups } of code.matchAll(tokens)) {
    const [name] = Object.entries(groups!).find(([, found]) => found !== undefined)!
    html += `${write(code.slice(end, index))}<${name}>${write(token)}</${name}>`
    end = index + token.length
  }
  return html + write(code.slice(end))
}

/** Writes an example as HTML: JSON, or an address, which has no parts to mark. */
export function exampleInColours(example: string): string {
  return highlighted(example, /^[{[]/.test(example) ? 'json' : 'text', escapeHtml)
}
