/** The parts of a process: the core, the keys of both areas, the notifier and the sender of logout tokens. */
import type { MandateConsents } from './accounts/sign-in/mandate-consent.ts'
import { type Core, type Given, openCore } from './core/core.ts'
import type { DocsDeps } from './docs/plugin.ts'
import { type IdentityDeps, openSigningKeys } from './identity/keys/keys.ts'
import { type LogoutSender, openLogoutSender } from './identity/logout/worker.ts'
import { type MetadataClients, openMetadataClients } from './identity/metadata/clients.ts'
import { openMandateConsents } from './payment/mandates/sign-in.ts'
import { openNotifier, type PaymentDeps } from './payment/notifications/worker.ts'
import { openGatewayKeys } from './payment/signing/gateway-keys.ts'

export type Parts = IdentityDeps &
  PaymentDeps &
  DocsDeps & {
    logoutSender: LogoutSender
    metadataClients: MetadataClients
    mandateConsents: MandateConsents
    /** Receives the log instead of standard output. */
    logTo?: NodeJS.WriteStream | undefined
  }

/** Opens each part once, because the plugins, the worker, /readyz and the command line share them. */
export function openParts({ logTo, ...given }: Given & Pick<Parts, 'logTo'>): Parts {
  const core: Core = openCore(given)
  const signingKeys = openSigningKeys(core)
  const gatewayCore = { ...core, gatewayKeys: openGatewayKeys(core) }
  const logoutSender = openLogoutSender({ ...core, signingKeys })
  const metadataClients = openMetadataClients(core)
  const mandateConsents = openMandateConsents(core)
  const notifier = openNotifier(gatewayCore)
  return { ...gatewayCore, signingKeys, notifier, logoutSender, metadataClients, mandateConsents, logTo }
}
