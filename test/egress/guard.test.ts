/**
 * The addresses to which requests may go: every notation of an address that is not public, names that lead to
 * one, and ports.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EgressError, type EgressGuard, makeEgressGuard } from '../../src/egress/guard.ts'
import { type DnsServer, startDnsServer } from '../harness/dns-server.ts'

let dns: DnsServer
let guard: EgressGuard
beforeAll(async () => {
  dns = await startDnsServer()
  guard = makeEgressGuard([], dns.resolver)
})
afterAll(() => dns.close())

/** The addresses that a call of the URL would use, or the reason of the refusal. */
async function verdict(text: string, by: EgressGuard = guard): Promise<string> {
  const url = URL.parse(text)
  if (url === null) return 'no URL'
  return by(url).then(
    (addresses) => addresses.map(({ address }) => address).join(' '),
    ({ reason, detail }: EgressError) => [reason, detail].filter(Boolean).join(' '),
  )
}

/** Addresses by range, with the ends of the range. */
const PRIVATE_V4: [range: string, ...addresses: string[]][] = [
  ['this network', '0.0.0.0', '0.255.255.255'],
  ['private', '10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
  ['carrier-grade NAT, with a metadata service', '100.64.0.0', '100.127.255.255', '100.100.100.200'],
  ['loopback', '127.0.0.1', '127.255.255.255'],
  ['link-local, with a metadata service', '169.254.0.0', '169.254.169.254', '169.254.255.255'],
  ['protocol assignments, documentation, benchmarks', '192.0.0.1', '192.0.0.192', '192.0.2.1', '198.18.0.1'],
  ['more of them', '198.19.255.255', '198.51.100.7', '203.0.113.255', '192.88.99.1'],
  ['multicast, reserved, broadcast', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ['metadata at a public address', '168.63.129.16'],
]
const PUBLIC_V4 = ['1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255']
const MORE_PUBLIC_V4 = [
  '128.0.0.0',
  '169.253.0.1',
  '172.15.0.1',
  '172.32.0.1',
  '192.167.0.1',
  '223.255.255.255',
]

const PRIVATE_V6: [range: string, ...addresses: string[]][] = [
  ['unspecified and loopback', '::', '::1'],
  ['IPv4, mapped', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:1.1.1.1', '::ffff:0:127.0.0.1'],
  ['IPv4, compatible', '::127.0.0.1', '::1.1.1.1'],
  ['IPv4 in 6to4', '2002:7f00:1::1', '2002:a00:1::', '2002:101:101::1'],
  ['IPv4 behind NAT64', '64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::10.0.0.1'],
  ['IPv4 in Teredo', '2001:0:4136:e378:8000:63bf:80ff:fffe', '2001::1'],
  ['unique local, with a metadata service', 'fc00::1', 'fd00:ec2::254', 'fdff:ffff::'],
  ['link-local and site-local', 'fe80::1', 'febf::1', 'fec0::1'],
  ['multicast', 'ff02::1', 'ff0e::1'],
  [
    'documentation, discard, outside of what is assigned',
    '2001:db8::1',
    '3fff::1',
    '100::1',
    '4000::1',
    '1fff::1',
  ],
]
const PUBLIC_V6 = ['2606:4700:4700::1111', '2400:3200::1', '2a00:1450::1', '2001:4860:4860::8888']

describe('addresses', () => {
  it.each([...PRIVATE_V4, ...PRIVATE_V6])(
    'that are not public are refused: %s',
    async (_range, ...addresses) => {
      for (const address of addresses) {
        const host = address.includes(':') ? `[${address}]` : address
        expect([address, await verdict(`http://${host}/`)]).toEqual([address, 'blocked'])
      }
    },
  )

  it('that are public are called as they are', async () => {
    for (const address of [...PUBLIC_V4, ...MORE_PUBLIC_V4])
      expect(await verdict(`http://${address}/notify`)).toBe(address)
    for (const address of PUBLIC_V6) expect(await verdict(`https://[${address}]/notify`)).toBe(address)
  })

  it.each([
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7F.1/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://127.1/',
    'http://127.0.1/',
    'http://0/',
    'http://127.0.0.1./',
    'http://１２７.０.０.１/',
    'http://127。0。0。1/',
    'http://①②⑦.0.0.1/',
    'http://%31%32%37.0.0.1/',
    'http:\\\\127.0.0.1\\',
    'http:/127.0.0.1/',
    'http:127.0.0.1',
    'http://[::ffff:7f00:1]/',
    'http://[0:0:0:0:0:ffff:7f00:0001]/',
    'http://2852039166/latest/meta-data/',
    'http://169.254.43518/',
    'http://localhost/',
    'http://LOCALHOST:8080/',
    'http://localhost./',
    'http://any.localhost/',
    'http://any.localhost../',
  ])('of this machine and neighbours are recognised in every spelling: %s', async (text) => {
    expect(await verdict(text)).toBe('blocked')
  })

  it.each([
    ['http://[::1%25lo]/', 'no URL'],
    ['http://256.0.0.1/', 'no URL'],
    ['http:///notify', 'bad_address'],
    ['http://./', 'bad_address host'],
  ])('that are none lead nowhere: %s', async (text, why) => {
    expect(await verdict(text)).toMatch(new RegExp(`^(${why}|dns)`))
  })
})

describe('names', () => {
  it('are called at their public addresses only, IPv4 first', async () => {
    dns.names.set('shop.test', ['2606:4700::1', '10.0.0.1', '1.1.1.1', '::1', 'fd00::1'])
    expect(await verdict('https://shop.test/notify')).toBe('1.1.1.1 2606:4700::1')
    expect(await verdict('https://SHOP.test./notify')).toBe('1.1.1.1 2606:4700::1')
    dns.names.set('six.test', ['2606:4700::1'])
    expect(await verdict('https://six.test/')).toBe('2606:4700::1')
    dns.names.set('four.test', ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4', '1.1.1.5'])
    expect((await verdict('https://four.test/')).split(' ')).toHaveLength(4)
  })

  it('that lead to no public address are refused, whichever kind it is', async () => {
    for (const [, ...addresses] of [...PRIVATE_V4, ...PRIVATE_V6]) {
      dns.names.set('inside.test', addresses)
      expect([addresses, await verdict('http://inside.test/')]).toEqual([addresses, 'blocked'])
    }
  })

  it('that do not exist, have no address, or stay silent, differ', async () => {
    expect(await verdict('http://nothing.test/')).toBe('dns ENOTFOUND')
    dns.names.set('empty.test', [])
    expect(await verdict('http://empty.test/')).toBe('dns ENODATA')
    dns.silent.add('silent.test')
    expect(await verdict('http://silent.test/')).toBe('dns ETIMEOUT')
    expect(await verdict('http://a..test/')).toMatch(/^dns /)
  })

  it('localhost is never asked about', async () => {
    dns.names.set('localhost', ['1.1.1.1'])
    expect(await verdict('http://localhost/')).toBe('blocked')
    expect(dns.questions).not.toContain('A localhost')
  })
})

describe('what else an address may say', () => {
  it.each([
    ['http://1.1.1.1:80/', '1.1.1.1'],
    ['http://1.1.1.1:443/', '1.1.1.1'],
    ['https://1.1.1.1:80/', '1.1.1.1'],
    ['http://1.1.1.1:1024/', '1.1.1.1'],
    ['http://1.1.1.1:65535/', '1.1.1.1'],
    ['http://1.1.1.1:1023/', 'bad_address port'],
    ['http://1.1.1.1:22/', 'bad_address port'],
    ['http://1.1.1.1:0/', 'bad_address port'],
    ['https://1.1.1.1:25/', 'bad_address port'],
    ['http://1.1.1.1:65536/', 'no URL'],
    ['ftp://1.1.1.1/', 'bad_address scheme'],
    ['file:///etc/passwd', 'bad_address host'],
    ['gopher://1.1.1.1:1024/', 'bad_address scheme'],
    ['http://user@1.1.1.1/', 'bad_address user'],
    ['http://user:word@1.1.1.1/', 'bad_address user'],
    ['http://1.1.1.1@127.0.0.1/', 'bad_address user'],
    ['http://127.0.0.1#@1.1.1.1/', 'blocked'],
    ['http://127.0.0.1?@1.1.1.1/', 'blocked'],
    ['http://127.0.0.1\\@1.1.1.1/', 'blocked'],
  ])('%s: %s', async (text, expected) => {
    expect(await verdict(text)).toBe(expected)
  })
})

describe('NOTIFY_ALLOW_CIDRS', () => {
  it('opens the ranges it names and nothing beside them, and no port', async () => {
    const open = makeEgressGuard(['127.0.0.0/8', '::1', 'fd12::/16'], dns.resolver)
    expect(await verdict('http://127.0.0.1:4000/', open)).toBe('127.0.0.1')
    expect(await verdict('http://[::1]:4000/', open)).toBe('::1')
    expect(await verdict('http://localhost:4000/', open)).toBe('127.0.0.1 ::1')
    expect(await verdict('http://[fd12::7]/', open)).toBe('fd12::7')
    for (const host of ['10.0.0.1', '[fd13::7]', '[::2]', '169.254.169.254', '0.0.0.0', '[::]'])
      expect([host, await verdict(`http://${host}/`, open)]).toEqual([host, 'blocked'])
    expect(await verdict('http://127.0.0.1:22/', open)).toBe('bad_address port')
  })
})
