/** Mounts the accounts area: sign-in, the forum bridge, and the member's own pages. */
import type { FastifyInstance } from 'fastify'
import type { Core } from '../core/core.ts'
import { forumSignInRoutes } from './forum/sign-in.page.ts'
import { forumWebhook } from './forum/webhook.ts'
import { forumWallet } from './forum-wallet.ts'
import { passkeyPages } from './passkeys/passkeys.page.ts'
import { relatedOriginsRoute } from './passkeys/well-known.ts'
import { profilePages } from './profile.page.ts'
import { emailAddressPages } from './security/email-address.page.ts'
import { passwordPages } from './security/password.page.ts'
import { recoveryRoutes } from './security/recovery.page.ts'
import { secondFactorPages } from './security/second-factor.page.ts'
import { browserScope, requireUser } from './session/session.ts'
import { sessionPages } from './session/sessions.page.ts'
import { keepAccessPages } from './sign-in/keep-access.page.ts'
import { signInRoutes } from './sign-in/sign-in.page.ts'
import { statementPage } from './statement.page.ts'
import { walletPage } from './wallet.page.ts'

/** Mounts the pages and the forum's webhook at the root of the site. */
export async function accountsPlugin(app: FastifyInstance, deps: Core): Promise<void> {
  await app.register(signInRoutes, deps)
  await app.register(forumSignInRoutes, deps)
  await app.register(forumWebhook, deps)
  await app.register(forumWallet, deps)
  await app.register(relatedOriginsRoute, deps)
  await app.register(memberPages, deps)
}

async function memberPages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  passwordPages(app, deps)
  await app.register(secondFactorPages, deps)
  await app.register(passkeyPages, deps)
  await app.register(emailAddressPages, deps)
  await app.register(recoveryRoutes, deps)
  await app.register(keepAccessPages, deps)

  await app.register(async (own) => {
    own.addHook('preHandler', requireUser)
    sessionPages(own, deps)
    profilePages(own, deps)
    walletPage(own, deps)
    statementPage(own, deps)
  })
}
