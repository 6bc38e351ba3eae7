/**
 * The rules of redirect URIs against random input. A failure prints its seed and its smallest case.
 * spec/registry 1.2.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NewAppForm } from '../../src/identity/apps/apps.ts'
import { isRegistered, redirectHost, redirectUriFault } from '../../src/identity/apps/redirect-uris.ts'
import { withParameters } from '../../src/web/oauth/parameters.ts'
import { times } from '../harness/thoroughness.ts'

const RUNS = { numRuns: times(2_000, 100) }

/** Fragments of addresses, so that most rules apply to the texts. */
const fragments = fc.constantFrom(
  ...'https:// http:// HTTPS:// javascript: data: org.example.app: com.a-b+c: // / \\ @ # ? & = % %2e %00 %40 %5c : ; , * . .. [::1] 127.0.0.1 localhost 0x7f.1'.split(
    ' ',
  ),
  ...'2130706433 app.example evil.example APP.EXAMPLE xn--bcher-kva bücher ß 。 :443 :80 :65536 a b code=1 user:pass@'.split(
    ' ',
  ),
  ' ',
  '\t',
  '\r\n',
  '\u0000',
  '\u202e',
)
const nearly = fc.array(fragments, { maxLength: 8 }).map((parts) => parts.join(''))
const anything = fc.oneof(
  nearly,
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.string({ unit: 'binary' }),
)
const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/)
const good = fc
  .tuple(
    fc.array(label, { minLength: 1, maxLength: 3 }),
    fc.option(fc.integer({ min: 1, max: 65_535 })),
    fc.array(fc.stringMatching(/^[\w.~-]{0,8}$/), { maxLength: 3 }),
    fc.option(fc.stringMatching(/^[a-z]{1,4}=[\w.~-]{0,6}(&[a-z]{1,4}=[\w.~-]{0,6})?$/)),
  )
  .map(([labels, port, path, query]) => {
    const authority = `${labels.join('.')}.example${port === null ? '' : `:${port}`}`
    return `https://${authority}${path.map((part) => `/${part}`).join('')}${query === null ? '' : `?${query}`}`
  })

describe('an address that may be registered', () => {
  it('means one place to every reader: its text, and a browser', () => {
    fc.assert(
      fc.property(anything, (uri) => {
        if (redirectUriFault(uri) !== undefined) return
        const url = new URL(uri)
        expect(uri).toMatch(/^[\x21-\x7e]{1,2000}$/)
        expect(uri).not.toMatch(/[\\"<>#*]/)
        expect(url.href.startsWith('javascript:') || url.protocol === 'data:').toBe(false)
        if (/^[^:]*\./.test(url.protocol)) {
          expect(uri.startsWith(url.protocol)).toBe(true)
          expect([url.search, url.hash, url.username, url.origin]).toEqual(['', '', '', 'null'])
          expect(`${redirectHost(uri)}:`).toBe(url.protocol)
          return
        }
        expect([url.username, url.password, url.hash]).toEqual(['', '', ''])
        const isLocal = ['localhost', '[::1]'].includes(url.hostname) || url.hostname.startsWith('127.')
        expect(url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)).toBe(true)
        const [, authority = ''] = /^https?:\/\/([^/?]*)/i.exec(uri) ?? []
        expect(authority.toLowerCase().replace(url.protocol === 'https:' ? /:443$/ : /:80$/, '')).toBe(
          url.host,
        )
      }),
      RUNS,
    )
  })

  it('includes every plain https address', () => {
    fc.assert(
      fc.property(good, (uri) => {
        expect(redirectUriFault(uri)).toBeUndefined()
      }),
      RUNS,
    )
  })

  it('comes back as registered, its own query first, the answer after', () => {
    const answer = fc.record({ code: fc.string(), state: fc.string({ unit: 'grapheme' }) })
    fc.assert(
      fc.property(good, answer, (uri, parameters) => {
        const sent = withParameters(uri, parameters)
        expect(sent.startsWith(uri)).toBe(true)
        expect(sent).toMatch(/^[\x21-\x7e]+$/)
        const [registered, back] = [new URL(uri), new URL(sent)]
        expect([back.origin, back.pathname]).toEqual([registered.origin, registered.pathname])
        const pairs = [...back.searchParams]
        expect(pairs.slice(0, -2)).toEqual([...registered.searchParams])
        const { code, state } = parameters
        const wellFormed = (text: string) => text.toWellFormed()
        expect(pairs.slice(-2)).toEqual([
          ['code', wellFormed(code)],
          ['state', wellFormed(state)],
        ])
      }),
      RUNS,
    )
  })
})

describe('matching', () => {
  const kinds = fc.constantFrom('none', 'client_secret_basic', 'client_secret_post')
  const loopback = fc
    .tuple(
      fc.constantFrom('127.0.0.1', '[::1]', 'localhost'),
      fc.constantFrom('', ':1', ':8080', ':65535'),
      fc.constantFrom('', '/', '/callback', '/callback?a=1'),
    )
    .map(([host, port, rest]) => `http://${host}${port}${rest}`)
  const portless = (uri: string) => uri.replace(/^(http:\/\/(?:\[::1\]|[^:/?]+)):\d+/, '$1')

  it('is equality of texts, and of a public application’s loopback address without its port', () => {
    const uris = fc.array(fc.oneof(good, loopback), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(uris, fc.oneof(good, loopback, anything), kinds, (redirect_uris, uri, method) => {
        const app = { redirect_uris, token_endpoint_auth_method: method }
        const isLoopback = method === 'none' && redirectUriFault(uri) === undefined && uri.startsWith('http:')
        const isMatch = (each: string) =>
          each === uri || (isLoopback && portless(each) === portless(uri) && each.startsWith('http:'))
        expect(isRegistered(app, uri)).toBe(redirect_uris.some(isMatch))
        for (const each of redirect_uris) expect(isRegistered(app, each)).toBe(true)
      }),
      RUNS,
    )
  })

  it.each([
    'http://127.0.0.1:0/callback',
    'http://127.0.0.1:65536/callback',
    'http://127.0.0.1:080/callback',
    'http://127.0.0.1:/callback',
    'http://127.0.0.1:80:81/callback',
    'http://127.0.0.1:8080@evil.example/callback',
    'http://127.0.0.1:8080/callback/',
    'http://127.0.0.1:8080/callback?x',
    'http://localhost:8080/callback',
    'https://127.0.0.1:8080/callback',
    'HTTP://127.0.0.1:8080/callback',
    'http://127.0.0.1.evil.example:8080/callback',
    'http://127.0.0.2:8080/callback',
  ])('never takes %s for http://127.0.0.1/callback', (uri) => {
    const app = { redirect_uris: ['http://127.0.0.1/callback'], token_endpoint_auth_method: 'none' }
    expect(isRegistered(app, 'http://127.0.0.1:8080/callback')).toBe(true)
    expect(isRegistered(app, uri)).toBe(false)
  })

  it('takes no other spelling of the same place', () => {
    const spellings = fc.constantFrom<(uri: string) => string>(
      (uri) => `${uri}/`,
      (uri) => `${uri}?`,
      (uri) => `${uri}#`,
      (uri) => `${uri}%20`,
      (uri) => uri.replace('https', 'HTTPS'),
      (uri) => uri.replace('.example', '.EXAMPLE'),
      (uri) => uri.replace('.example', '.example.'),
      (uri) => uri.replace('.example', '.example:443'),
      (uri) => uri.replace('https://', 'https://@'),
      (uri) => uri.replace('.example', '%2eexample'),
      (uri) => encodeURI(decodeURIComponent(uri)).replaceAll('.', '%2E'),
      (uri) => ` ${uri}`,
    )
    fc.assert(
      fc.property(good, spellings, kinds, (uri, respell, token_endpoint_auth_method) => {
        const other = respell(uri)
        const app = { redirect_uris: [uri], token_endpoint_auth_method }
        expect(isRegistered(app, other)).toBe(other === uri)
      }),
      RUNS,
    )
  })
})

describe('registration', () => {
  it('takes a list without faults only, and names each fault’s place', () => {
    const list = fc.array(fc.oneof({ weight: 3, arbitrary: good }, anything), { maxLength: 24 })
    const kind = fc.constantFrom('none', 'client_secret_basic')
    fc.assert(
      fc.property(list, kind, (redirect_uris, token_endpoint_auth_method) => {
        const app = { token_endpoint_auth_method }
        const form = NewAppForm.safeParse({ name: 'x', redirect_uris, ...app })
        const faulty = redirect_uris.flatMap((uri, i) => (redirectUriFault(uri) === undefined ? [] : [i]))
        const isCounted = redirect_uris.length >= 1 && redirect_uris.length <= 20
        expect(form.success).toBe(isCounted && faulty.length === 0)
        if (form.success) expect(form.data.redirect_uris).toEqual([...new Set(redirect_uris)])
        else if (isCounted) expect(form.error.issues.map(({ path }) => path[1]).sort()).toEqual(faulty.sort())
      }),
      RUNS,
    )
  })
})
