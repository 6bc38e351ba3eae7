/**
 * This site as a relying party of WebAuthn. Its ID is the host of PUBLIC_URL, to which browsers bind each passkey. An IP
 * address is no such ID, so a site at one has no passkeys.
 */
import { isIP } from 'node:net'
import type { Config } from '../../platform/config.ts'

type Addresses = Pick<Config, 'PUBLIC_URL' | 'PAYMENT_PUBLIC_URL'>

/** Returns the ID of the relying party, or undefined where PUBLIC_URL names an IP address. */
export function relyingPartyId({ PUBLIC_URL }: Addresses): string | undefined {
  return hostnameOf(PUBLIC_URL)
}

/** The origins whose pages may use our passkeys. */
export function passkeyOrigins({ PUBLIC_URL, PAYMENT_PUBLIC_URL }: Addresses): string[] {
  return [...new Set([PUBLIC_URL, PAYMENT_PUBLIC_URL])]
}

/**
 * Returns the payment origin where its host is neither the relying party ID nor below it. Browsers then allow our passkeys
 * there only by `/.well-known/webauthn` (WebAuthn Level 3, section 5.11).
 */
export function relatedOrigin(config: Addresses): string | undefined {
  const id = relyingPartyId(config)
  const host = hostnameOf(config.PAYMENT_PUBLIC_URL)
  if (id === undefined || host === undefined || host === id || host.endsWith(`.${id}`)) return undefined
  return config.PAYMENT_PUBLIC_URL
}

/** What a page at one of our addresses may do with passkeys. */
export type PasskeysHere = {
  rp_id: string
  /** The browser must report that it knows related origins. */
  isRelated: boolean
  /** Passkeys are made at PUBLIC_URL only. */
  mayRegister: boolean
}

/** Returns what the page at this host may do with passkeys. Undefined where browsers would refuse all of it. */
export function passkeysAt(host: string, config: Addresses): PasskeysHere | undefined {
  const rp_id = relyingPartyId(config)
  if (rp_id === undefined) return undefined
  const isPaymentHost = host === new URL(config.PAYMENT_PUBLIC_URL).host
  const mayRegister = host === new URL(config.PUBLIC_URL).host || !isPaymentHost
  if (mayRegister) return { rp_id, isRelated: false, mayRegister }
  if (hostnameOf(config.PAYMENT_PUBLIC_URL) === undefined) return undefined
  return { rp_id, isRelated: relatedOrigin(config) !== undefined, mayRegister }
}

/** Returns the host name of a URL, unless it is an IP address. */
function hostnameOf(url: string): string | undefined {
  const { hostname } = new URL(url)
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname : undefined
}
