/** The main program. An older Node stops here and says which one is needed. */
import './needed-node.js'

await import('./server.ts')
