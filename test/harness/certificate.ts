/** Self-signed certificates for the TLS servers of the tests. */
import { generateKeyPairSync } from 'node:crypto'
import { isIP } from 'node:net'
import forge from 'node-forge'

/** The format of TLS servers. */
export type KeyAndCertificate = { key: string; cert: string }

/** A self-signed certificate for an IP address, or for names of hosts. */
export function certificateOf(...hosts: [string, ...string[]]): KeyAndCertificate {
  return selfSigned([{ name: 'commonName', value: hosts[0] }], extensionsFor(hosts))
}

/** A certificate for a host that has ended a day ago. */
export const endedCertificateOf = (host: string) =>
  selfSigned([{ name: 'commonName', value: host }], extensionsFor([host]), -1)

const extensionsFor = (hosts: string[]) => [
  { name: 'basicConstraints', cA: true },
  {
    name: 'subjectAltName',
    altNames: hosts.map((host) => (isIP(host) ? { type: 7, ip: host } : { type: 2, value: host })),
  },
]

/** The certificate of an authenticator (WebAuthn Level 3, 8.2.1). */
export const authenticatorCertificate = () =>
  selfSigned(
    [
      { name: 'countryName', value: 'AQ' },
      { name: 'organizationName', value: 'Example Keys' },
      { name: 'organizationalUnitName', value: 'Authenticator Attestation' },
      { name: 'commonName', value: 'Example Key 1' },
    ],
    [{ name: 'basicConstraints', cA: false }],
  )

function selfSigned(
  subject: forge.pki.CertificateField[],
  extensions: object[],
  days = 1,
): KeyAndCertificate {
  const keys = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const made = forge.pki.createCertificate()
  made.publicKey = forge.pki.publicKeyFromPem(keys.publicKey)
  made.serialNumber = '01'
  made.validity.notBefore = new Date(Date.now() - 10 * 86_400_000)
  made.validity.notAfter = new Date(Date.now() + days * 86_400_000)
  made.setSubject(subject)
  made.setIssuer(subject)
  made.setExtensions(extensions)
  made.sign(forge.pki.privateKeyFromPem(keys.privateKey), forge.md.sha256.create())
  return { key: keys.privateKey, cert: forge.pki.certificateToPem(made) }
}
