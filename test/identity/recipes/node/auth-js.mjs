// @ts-nocheck: the rest of the project does not have the types of this package.
/** A site with Auth.js below /auth, whose session shows the account. */
import { Auth } from '@auth/core'
import { fromRecipe, serve } from './site.mjs'

const provider = await fromRecipe('provider')
const config = {
  providers: [provider],
  secret: 'of the site',
  trustHost: true,
  basePath: '/auth',
  logger: { error: ({ message }) => console.log(message) },
  callbacks: {
    jwt: ({ token, account }) => (account ? { ...token, account } : token),
    session: ({ session, token }) => ({ ...session, account: token.account }),
  },
}

serve((request) => Auth(request, config))
