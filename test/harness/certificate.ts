/** Certificates of the tests' own TLS servers, which nobody trusts until a test says so. */
import { generateKeyPairSync } from 'node:crypto'
import forge from 'node-forge'

/** As TLS servers take them. */
export type KeyAndCertificate = { key: string; cert: string }

/** For an address, signed by itself. */
export function certificateOf(ip: string): KeyAndCertificate {
  const keys = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const made = forge.pki.createCertificate()
  made.publicKey = forge.pki.publicKeyFromPem(keys.publicKey)
  made.serialNumber = '01'
  made.validity.notBefore = new Date(Date.now() - 86_400_000)
  made.validity.notAfter = new Date(Date.now() + 86_400_000)
  const subject = [{ name: 'commonName', value: ip }]
  made.setSubject(subject)
  made.setIssuer(subject)
  made.setExtensions([
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames: [{ type: 7, ip }] },
  ])
  made.sign(forge.pki.privateKeyFromPem(keys.privateKey), forge.md.sha256.create())
  return { key: keys.privateKey, cert: forge.pki.certificateToPem(made) }
}
