/**
 * Ends the process with one line when Node is too old for this program. Plain JavaScript without newer syntax, so that every
 * Node can read it; import it before anything written in TypeScript.
 */
import { readFileSync } from 'node:fs'

const needed = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).engines.node.slice(2)
const numberOf = (/** @type {string} */ version) => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return 1000 * major + minor
}

if (numberOf(process.versions.node) < numberOf(needed)) {
  process.stderr.write(`Tessera needs Node ${needed} or newer. This is Node ${process.versions.node}.\n`)
  process.exit(2)
}
