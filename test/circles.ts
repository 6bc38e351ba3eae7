/** Circles of imports. One wrong import may close many circles; each is told once, by its shortest circle. */

/** The imports of each file. */
type Imports = ReadonlyMap<string, readonly string[]>

/**
 * Returns one circle for each import that must go until no circle is left. A circle begins with the file of that import,
 * which it names first, and ends before the same file.
 */
export function circlesOf(imports: Imports): string[][] {
  const circle = shortestCircle(inCircles(imports))
  if (circle === undefined) return []
  const turned = circle.map((_, at) => [...circle.slice(at), ...circle.slice(0, at)])
  const left = turned.map((each) => without(imports, each[0]!, each[1] ?? each[0]!))
  const sizes = left.map((each) => inCircles(each).size)
  const best = sizes.indexOf(Math.min(...sizes))
  return [turned[best]!, ...circlesOf(left[best]!)]
}

/** Says the circle and its remedy. */
export function describeCircle([first, ...others]: string[]): string {
  const path = [...others, first].join(', which imports ')
  return `${first} imports ${path}. End it at the first import: move what both files need into a file below them, or pass it as an argument.`
}

function without(imports: Imports, file: string, imported: string): Imports {
  return new Map(imports).set(
    file,
    imports.get(file)!.filter((each) => each !== imported),
  )
}

/** Removes, until none is left, files that import no other file here or that no other file here imports. */
function inCircles(imports: Imports): Imports {
  const imported = new Set([...imports.values()].flat())
  const kept = new Map(
    [...imports]
      .filter(([file]) => imported.has(file))
      .map(([file, to]) => [file, to.filter((each) => imports.has(each))] as const)
      .filter(([, to]) => to.length > 0),
  )
  return kept.size === imports.size ? kept : inCircles(kept)
}

function shortestCircle(imports: Imports): string[] | undefined {
  return [...imports.keys()]
    .flatMap((file) => circleThrough(file, imports) ?? [])
    .reduce<string[] | undefined>(
      (best, each) => (best && best.length <= each.length ? best : each),
      undefined,
    )
}

/** Searches breadth-first from a file back to itself. */
function circleThrough(start: string, imports: Imports): [string[]] | undefined {
  const paths = [[start]]
  const seen = new Set<string>()
  for (const path of paths)
    for (const next of imports.get(path.at(-1)!)!) {
      if (next === start) return [path]
      if (seen.has(next)) continue
      seen.add(next)
      paths.push([...path, next])
    }
  return undefined
}
