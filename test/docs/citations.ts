/** Reads the clauses of the specification and of the decisions, and the citations of them. */

/** The pages of docs/spec in reading order. */
export const SPEC_PAGES = [
  'sign-in',
  'registry',
  'accounts',
  'payment-api',
  'gateway',
  'mandates',
  'pages',
  'points',
  'limits',
  'links',
  'payouts',
  'access-keys',
  'tips',
] as const

/** A clause by its name, such as `spec/points 2.3` or `decisions 3.2`. */
export type Clause = string

/** The texts of a file's citations: clauses that exist, and what is wrong with the others. */
export type Citations = { clauses: Clause[]; faults: string[] }

/** Returns the clauses of a page of docs/spec, in their order. */
export function clausesOfPage(page: string, text: string): Clause[] {
  return [...text.matchAll(/^### (\d+\.\d+) \S/gm)].map(([, number]) => `spec/${page} ${number}`)
}

/** Returns the clauses of docs/decisions.md. */
export function clausesOfDecisions(text: string): Clause[] {
  return [...text.matchAll(/^- \*\*(\d+\.\d+) /gm)].map(([, number]) => `decisions ${number}`)
}

/** `1.2`, `1.2 and 2.1`, `1.2, 1.5 and 2.1`, `3.1–3.4` and `3.1 to 3.4`. */
const NUMBERS = String.raw`\d+\.\d+(?:(?:, and |, or |, | and | or | to |–)\d+\.\d+)*`
const CITED = new RegExp(
  String.raw`(?<![\w.-])(?:docs/)?(spec/[a-z][a-z-]*|(?<=docs/)decisions\.md|decisions)(?![\w.-]*\.md|/)(?: (${NUMBERS}))?`,
  'g',
)
/** Documents that are not in the repository, and forms of citations that no longer hold. */
const FOREIGN =
  /(?<![\w/'"`-])(?:interface|gateway|identity(?:-2)?|payment-wire|discourse|forum|links|design|mandates|pages|decisions)(?:\.md(?!\))| §)[^.\n]{0,20}/g
/** What begins a line of a comment. A citation may continue in the next line. */
const NEXT_LINE = /\s*\n\s*(?:\*(?!\/)|\/\/|--)?\s*/g

/** Returns the citations in the text of a file. */
export function citationsIn(text: string, known: ReadonlySet<Clause>): Citations {
  const flat = text.replace(NEXT_LINE, ' ')
  const faults = [...flat.matchAll(FOREIGN)].map(([found]) => `${found.trim()}: cite spec/PAGE N.M instead`)
  const clauses: Clause[] = []
  for (const [whole, named, numbers] of flat.matchAll(CITED)) {
    const name = named!.replace('.md', '')
    // The word alone is no citation.
    if (name === 'decisions' && numbers === undefined) continue
    if (numbers === undefined) faults.push(`${whole.trim()}: name a clause, N.M`)
    for (const [range, from, to] of (numbers ?? '').matchAll(/(\d+)\.\d+(?: to |–)(\d+)\.\d+/g))
      if (from !== to) faults.push(`${name} ${range}: a range stays in one section`)
    for (const clause of numbers === undefined ? [] : expand(name, numbers, known))
      if (known.has(clause)) clauses.push(clause)
      else faults.push(`${clause}: no such clause`)
  }
  return { clauses, faults }
}

/** Returns each clause of `1.2, 1.5 and 2.1`. A range has every known clause of its section from the first to the last. */
function expand(name: string, numbers: string, known: ReadonlySet<Clause>): Clause[] {
  return [...numbers.matchAll(/(\d+\.\d+)(?:(?: to |–)(\d+\.\d+))?/g)].flatMap(([, first, last]) => {
    const ends = [first!, ...(last === undefined ? [] : [last])].map((number) => `${name} ${number}`)
    if (last === undefined) return ends
    const [from, to] = ends.map(orderOf)
    const between = [...known].filter(
      (clause) => clause.startsWith(`${name} `) && orderOf(clause) > from! && orderOf(clause) < to!,
    )
    return [...ends, ...between]
  })
}

function orderOf(clause: Clause): number {
  const [section, number] = clause.slice(clause.lastIndexOf(' ') + 1).split('.')
  return Number(section) * 1_000 + Number(number)
}
