/** Ranges of IP addresses in CIDR notation. */
import { BlockList, isIP } from 'node:net'

/** Builds a list that addresses can be looked up in. */
export function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    const family = isIP(network) === 4 ? 'ipv4' : 'ipv6'
    list.addSubnet(network, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family)
  }
  return list
}
