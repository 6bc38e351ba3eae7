#!/usr/bin/env node
/** The program `tessera`. An older Node stops here and says which one is needed. */
import '../needed-node.js'

const { tessera } = await import('./main.ts')
process.exitCode = await tessera(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
})
