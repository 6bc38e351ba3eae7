#!/usr/bin/env node
/** The program `tessera`. An older Node stops here and says which one is needed. */
import '../needed-node.js'

const { main } = await import('./main.ts')
await main()
