/** Forged ID tokens. */
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { SignJWT } from 'jose'
import { sql } from 'kysely'
import type { TestApp } from '../harness/harness.ts'
import { claimsOf } from './relying-party.ts'

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Makes every known forgery of a genuine token. Each of them must be worthless. */
export async function forgeries(test: TestApp, id_token: string): Promise<Record<string, string>> {
  const [head = '', body = '', signature = ''] = id_token.split('.')
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string }
  const claims = claimsOf(id_token)
  const { rows } = await sql<{ jwk: Record<string, string> }>`
    select public_jwk as jwk from signing_keys where kid = ${kid}`.execute(test.db)
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const byAnother = (header: { kid?: string }) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', ...header }).sign(privateKey)
  const hmac = (key: string) => {
    const signed = `${encode({ alg: 'HS256', typ: 'JWT', kid })}.${body}`
    return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
  }
  const flipped = Buffer.from(signature, 'base64url')
  flipped[0] = flipped[0]! ^ 1
  return {
    'with alg none': `${encode({ alg: 'none', kid })}.${body}.`,
    'with alg none and the old signature': `${encode({ alg: 'none', kid })}.${body}.${signature}`,
    'with alg HS256 under the public modulus': hmac(rows[0]!.jwk.n ?? ''),
    'with alg HS256 under the public key as JSON': hmac(JSON.stringify(rows[0]!.jwk)),
    'with alg RS384': `${encode({ alg: 'RS384', kid })}.${body}.${signature}`,
    'by another key under our name': await byAnother({ kid }),
    'by another key under its own name': await byAnother({ kid: 'x'.repeat(43) }),
    'by another key without a name': await byAnother({}),
    'with another sub': `${head}.${encode({ ...claims, sub: '999999' })}.${signature}`,
    'with another iss': `${head}.${encode({ ...claims, iss: 'https://evil.example' })}.${signature}`,
    'with a changed signature': `${head}.${body}.${flipped.toString('base64url')}`,
    'without a signature': `${head}.${body}.`,
    'in two parts': `${head}.${body}`,
    'that is no token': 'x.y.z',
  }
}
