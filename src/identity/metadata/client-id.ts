// This room: clients known by a metadata document at their own address, instead of a registration.
// Verbs: openMetadataClients, readDocument, storeMetadataClient.
// Tables: oauth_apps.
// Clauses: spec/registry 5.1–5.2.
/**
 * Client IDs that are the address of a document with the client's metadata (draft-ietf-oauth-client-id-metadata-document-02, 3),
 * and which of them the site admits.
 */
import { isIP } from 'node:net'
import type { SettingValues } from '../../core/setting-values.ts'
import type { Settings } from '../../core/settings.ts'
import type { Config } from '../../platform/config.ts'

export const CLIENT_ID_LENGTH_MAX = 300
/** Ports below this one belong to the services of a machine. Only https is not refused among them. */
const FREE_PORT_MIN = 1_024

type Admitting = Pick<SettingValues, 'client_id_metadata_documents' | 'client_id_metadata_hosts'>

/** Whether a client_id is meant as the address of a document. Generated ones never begin like this. */
export function isAddress(client_id: string): boolean {
  return client_id.startsWith('https:')
}

/**
 * Says what is wrong with the address, or returns undefined. It is compared as text, so there is only one way to write it: the way
 * of browsers, which also leaves no dot segments.
 */
export function addressFault(
  client_id: string,
  { PUBLIC_URL, PAYMENT_PUBLIC_URL }: Pick<Config, 'PUBLIC_URL' | 'PAYMENT_PUBLIC_URL'>,
): string | undefined {
  if (client_id.length > CLIENT_ID_LENGTH_MAX) return `is longer than ${CLIENT_ID_LENGTH_MAX} characters`
  if (/[?#]/.test(client_id)) return 'has a query or a fragment'
  const url = URL.parse(client_id)
  if (url === null || url.protocol !== 'https:') return 'is no https address'
  if (url.username !== '' || url.password !== '') return 'has a user name'
  if (url.href !== client_id) return `must be written as browsers write it: ${url.href}`
  if (url.port !== '' && Number(url.port) < FREE_PORT_MIN) return 'has a port below 1024 that is not 443'
  const { hostname } = url
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return 'has an IP address instead of a name'
  if (!/[^.]\.[^.]+$/.test(hostname)) return 'has a host without a dot'
  const own = [PUBLIC_URL, PAYMENT_PUBLIC_URL].map((address) => new URL(address).hostname)
  return own.includes(hostname) ? 'is an address of this site' : undefined
}

/** Returns the host that pages show for a client, with its port if it has one. */
export function hostOf(client_id: string): string {
  return new URL(client_id).host
}

/** Whether the site admits clients by their documents at all. */
export function admitsDocuments({ client_id_metadata_documents: admitted }: Admitting): boolean {
  return admitted !== 'off'
}

/** Whether the site admits the client of this address. */
export function admits(
  { client_id_metadata_documents: admitted, client_id_metadata_hosts: hosts }: Admitting,
  client_id: string,
): boolean {
  if (admitted === 'any') return true
  return admitted === 'listed' && hosts.split('\n').some((line) => line.trim() === hostOf(client_id))
}

/**
 * Whether the site still admits a client, which each use of its codes and tokens asks. So they end when the setting is switched off
 * or the host leaves the list. Registered applications have no document.
 */
export async function isStillAdmitted(
  { settings }: { settings: Pick<Settings, 'read'> },
  document_url: string | null,
): Promise<boolean> {
  return document_url === null || admits(await settings.read(), document_url)
}
