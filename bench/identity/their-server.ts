/** Runs node-oidc-provider as a process, with PORT, DATABASE_URL and JWKS from the environment. */
import { makeProvider } from './theirs.ts'

const port = Number(process.env.PORT)
const { provider } = makeProvider({
  issuer: `http://127.0.0.1:${port}`,
  databaseUrl: process.env.DATABASE_URL!,
  jwks: JSON.parse(process.env.JWKS!),
})
provider.listen(port, '127.0.0.1', () => process.stdout.write('ready\n'))
// A regular exit writes the profile.
process.on('SIGTERM', () => process.exit(0))
