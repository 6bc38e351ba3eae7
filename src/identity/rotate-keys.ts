/** `npm run keys:rotate`: begins a rotation of the signing keys now, and says when the new ones sign. */
import { loadConfig } from '../config.ts'
import { openDatabase } from '../database/connection.ts'
import { withDatabaseUrl } from '../database/url.ts'
import { provideAppSecret } from '../first-start.ts'
import { makeSecrets } from '../secrets.ts'
import { rotateSigningKeys } from './key-rotation.ts'

const config = loadConfig()
await withDatabaseUrl(config, async (url) => {
  const db = openDatabase(url, { max: 1, onBroken: () => {} })
  try {
    const secrets = makeSecrets(await provideAppSecret(config))
    const keys = await rotateSigningKeys({ db, secrets, clock: () => new Date() })
    for (const { alg, kid, signs_from } of keys)
      process.stdout.write(`${alg}  ${kid} signs from ${signs_from.toISOString()}\n`)
  } finally {
    await db.destroy()
  }
})
